{{/*
What spec.release runs before a new version: the image, the environment, the account and the volumes of the application, with copies of its
configuration, so that pods of the version before see nothing of the new one.
*/}}

{{/*
Not empty if the volume of spec.persistence is mounted into the task, too.
*/}}
{{- define "appservice.taskMountsData" -}}
{{- $shared := and .Values.persistence.size (has "ReadWriteMany" (default list .Values.persistence.accessModes)) (not .Values.persistence.perReplica) }}
{{- if and (dig "persistence" false .Values.release) (not $shared) }}
{{- fail "release.persistence needs a volume that several pods may mount: set persistence.accessModes to ReadWriteMany, without perReplica, or leave release.persistence out" }}
{{- end }}
{{- if and $shared (dig "persistence" true .Values.release) }}shared{{ end -}}
{{- end }}

{{- define "appservice.taskPodSpec" -}}
{{- $data := include "appservice.taskMountsData" . }}
restartPolicy: Never
serviceAccountName: {{ include "appservice.serviceAccountName" . | quote }}
automountServiceAccountToken: {{ include "appservice.automountToken" . }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toJson . | nindent 2 }}
{{- end }}
securityContext:
  {{- include "appservice.podSecurityContext" . | nindent 2 }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- range $field := list "nodeSelector" "tolerations" "affinity" "hostAliases" "dnsConfig" }}
{{- with index $.Values $field }}
{{ $field }}:
  {{- toJson . | nindent 2 }}
{{- end }}
{{- end }}
containers:
  - {{- include "appservice.taskContainer" . | nindent 4 }}
{{- if or .Values.volumes .Values.config.files $data }}
volumes:
  {{- if $data }}
  - name: data
    persistentVolumeClaim:
      claimName: {{ include "appservice.name" . | quote }}
  {{- end }}
  {{- if .Values.config.files }}
  - name: config-files
    configMap:
      name: {{ printf "%s-files" (include "appservice.taskName" .) | quote }}
  {{- end }}
  {{- range .Values.volumes }}
  - {{ toJson . }}
  {{- end }}
{{- end }}
{{- end }}

{{- define "appservice.taskContainer" -}}
{{- $data := include "appservice.taskMountsData" . }}
name: release
image: {{ required "image is required: set spec.image" .Values.image | quote }}
{{- with .Values.imagePullPolicy }}
imagePullPolicy: {{ . | quote }}
{{- end }}
command:
  {{- toJson .Values.release.command | nindent 2 }}
{{- with .Values.release.args }}
args:
  {{- toJson . | nindent 2 }}
{{- end }}
terminationMessagePolicy: FallbackToLogsOnError
{{- with .Values.workingDir }}
workingDir: {{ . | quote }}
{{- end }}
securityContext:
  {{- include "appservice.containerSecurityContext" . | nindent 2 }}
{{- with .Values.release.resources }}
resources: {{ toJson . }}
{{- end }}
{{- include "appservice.environment" (list . (include "appservice.taskName" .)) }}
{{- $mounts := list }}
{{- if $data }}{{ $mounts = append $mounts (dict "name" "data" "mountPath" .Values.persistence.mountPath) }}{{ end }}
{{- if .Values.config.files }}{{ $mounts = append $mounts (dict "name" "config-files" "mountPath" .Values.config.mountPath "readOnly" true) }}{{ end }}
{{- range .Values.volumeMounts }}
{{- if or $data (ne .name "data") (not $.Values.persistence.size) }}{{ $mounts = append $mounts . }}{{ end }}
{{- end }}
{{- with $mounts }}
volumeMounts:
  {{- range . }}
  - {{ toJson . }}
  {{- end }}
{{- end }}
{{- end }}
