{{/*
The task that spec.release runs before a new version: the image, the environment, the account and the volumes of the application, with copies of its
configuration, so that pods of the version before see nothing of the new one.
*/}}

{{/*
The claims that are mounted into the task, too, as JSON.
*/}}
{{- define "appservice.taskClaims" -}}
{{- $shared := list }}
{{- range include "appservice.sharedClaims" . | fromJsonArray }}
{{- if has "ReadWriteMany" (default list .accessModes) }}{{ $shared = append $shared . }}{{ end }}
{{- end }}
{{- if and (dig "persistence" false .Values.release) (not $shared) }}
{{- fail "release.persistence needs a volume that several pods may mount: set persistence.accessModes, or those of an entry of claims, to ReadWriteMany, without perReplica, or leave release.persistence out" }}
{{- end }}
{{- toJson (ternary $shared list (dig "persistence" true .Values.release)) }}
{{- end }}

{{- define "appservice.taskPodSpec" -}}
{{- $claims := include "appservice.taskClaims" . | fromJsonArray }}
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
{{- /* the sandbox of the application's pods */}}
{{- range $field := list "runtimeClassName" "hostUsers" }}
{{- $value := dig "spec" $field nil (default dict $.Values.podTemplate) }}
{{- if not (kindIs "invalid" $value) }}
{{ $field }}: {{ toJson $value }}
{{- end }}
{{- end }}
{{- range $field := list "nodeSelector" "tolerations" "affinity" "hostAliases" "dnsConfig" }}
{{- with index $.Values $field }}
{{ $field }}:
  {{- toJson . | nindent 2 }}
{{- end }}
{{- end }}
containers:
  - {{- include "appservice.taskContainer" . | nindent 4 }}
{{- if or .Values.volumes .Values.config.files $claims }}
volumes:
  {{- range include "appservice.claimVolumes" $claims | fromJsonArray }}
  - {{ toJson . }}
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
{{- $claims := include "appservice.taskClaims" . | fromJsonArray }}
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
{{- $absent := dict }}
{{- range include "appservice.claims" . | fromJsonArray }}{{ $_ := set $absent .name true }}{{ end }}
{{- range $claims }}
{{- $mounts = concat $mounts (include "appservice.claimMounts" . | fromJsonArray) }}
{{- $_ := unset $absent .name }}
{{- end }}
{{- if .Values.config.files }}{{ $mounts = append $mounts (dict "name" "config-files" "mountPath" .Values.config.mountPath "readOnly" true) }}{{ end }}
{{- range .Values.volumeMounts }}
{{- if not (hasKey $absent .name) }}{{ $mounts = append $mounts . }}{{ end }}
{{- end }}
{{- with $mounts }}
volumeMounts:
  {{- range . }}
  - {{ toJson . }}
  {{- end }}
{{- end }}
{{- end }}
