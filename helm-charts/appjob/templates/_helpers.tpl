{{/*
The name of the AppJob, and of what it becomes. A CronJob adds the time of each run to it.
*/}}
{{- define "appjob.name" -}}
{{- if gt (len .Release.Name) 52 }}{{ fail "metadata.name must have at most 52 characters: the name of each run begins with it" }}{{ end -}}
{{- .Release.Name -}}
{{- end }}

{{/*
The labels that find the pods.
*/}}
{{- define "appjob.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{/*
The labels of every object but pods: with the chart's version in them, each new version would run every Job again.
*/}}
{{- define "appjob.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
{{ include "appjob.selectorLabels" . }}
{{- end }}

{{/*
The name of the ConfigMap that holds the environment, and of the one that holds the files.
*/}}
{{- define "appjob.configName" -}}
{{- printf "%s-config" (include "appjob.name" .) -}}
{{- end }}
{{- define "appjob.filesName" -}}
{{- printf "%s-files" (include "appjob.name" .) -}}
{{- end }}

{{/*
The security context of the pods and of the container, from the profile and what refines it.
*/}}
{{- define "appjob.podSecurityContext" -}}
{{- $context := dict "seccompProfile" (dict "type" "RuntimeDefault") }}
{{- if eq .Values.security.profile "Restricted" }}{{- $_ := set $context "runAsNonRoot" true }}{{- end }}
{{- toJson (mergeOverwrite $context (deepCopy .Values.security.pod)) }}
{{- end }}
{{- define "appjob.containerSecurityContext" -}}
{{- $context := dict "allowPrivilegeEscalation" false }}
{{- if eq .Values.security.profile "Restricted" }}{{- $_ := set $context "capabilities" (dict "drop" (list "ALL")) }}{{- end }}
{{- toJson (mergeOverwrite $context (deepCopy .Values.security.container)) }}
{{- end }}

{{/*
The spec of a Job, of one that runs once and of those that a CronJob makes. Ended Jobs are not deleted after a time: the operator would
create them again, and they would run again.
*/}}
{{- define "appjob.jobSpec" -}}
backoffLimit: {{ int64 .Values.retries }}
{{- with int64 .Values.deadlineSeconds }}
activeDeadlineSeconds: {{ . }}
{{- end }}
template:
  metadata:
    labels:
      {{- range $key, $value := .Values.podLabels }}
      {{ $key | quote }}: {{ toJson $value }}
      {{- end }}
      {{- include "appjob.selectorLabels" . | nindent 6 }}
    {{- $checksum := dict }}
    {{- if or .Values.config.environment .Values.config.files }}
    {{- $checksum = dict "app.example.com/config-checksum" (printf "%s\n%s" (toJson .Values.config.environment) (toJson .Values.config.files) | sha256sum) }}
    {{- end }}
    {{- with merge (dict) $checksum .Values.podAnnotations }}
    annotations:
      {{- toJson . | nindent 6 }}
    {{- end }}
  spec:
    {{- include "appjob.podSpec" . | nindent 4 }}
{{- end }}

{{- define "appjob.podSpec" -}}
restartPolicy: Never
serviceAccountName: {{ .Values.serviceAccount.name | quote }}
automountServiceAccountToken: {{ .Values.serviceAccount.automountToken }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toJson . | nindent 2 }}
{{- end }}
securityContext:
  {{- include "appjob.podSecurityContext" . | nindent 2 }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toJson . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toJson . | nindent 2 }}
{{- end }}
containers:
  - {{- include "appjob.container" . | nindent 4 }}
{{- if or .Values.volumes .Values.config.files }}
volumes:
  {{- if .Values.config.files }}
  - name: config-files
    configMap:
      name: {{ include "appjob.filesName" . | quote }}
  {{- end }}
  {{- range .Values.volumes }}
  - {{ toJson . }}
  {{- end }}
{{- end }}
{{- end }}

{{- define "appjob.container" -}}
name: app
image: {{ required "image is required: set spec.image" .Values.image | quote }}
{{- with .Values.imagePullPolicy }}
imagePullPolicy: {{ . | quote }}
{{- end }}
{{- with .Values.command }}
command:
  {{- toJson . | nindent 2 }}
{{- end }}
{{- with .Values.args }}
args:
  {{- toJson . | nindent 2 }}
{{- end }}
terminationMessagePolicy: FallbackToLogsOnError
{{- with .Values.workingDir }}
workingDir: {{ . | quote }}
{{- end }}
securityContext:
  {{- include "appjob.containerSecurityContext" . | nindent 2 }}
{{- with .Values.resources }}
resources: {{ toJson . }}
{{- end }}
{{- with .Values.envs }}
env:
  {{- range . }}
  - {{ toJson . }}
  {{- end }}
{{- end }}
{{- if or .Values.envFrom .Values.config.environment }}
envFrom:
  {{- if .Values.config.environment }}
  - configMapRef:
      name: {{ include "appjob.configName" . | quote }}
  {{- end }}
  {{- range .Values.envFrom }}
  - {{ toJson . }}
  {{- end }}
{{- end }}
{{- if or .Values.volumeMounts .Values.config.files }}
volumeMounts:
  {{- if .Values.config.files }}
  - name: config-files
    mountPath: {{ .Values.config.mountPath | quote }}
    readOnly: true
  {{- end }}
  {{- range .Values.volumeMounts }}
  - {{ toJson . }}
  {{- end }}
{{- end }}
{{- end }}
