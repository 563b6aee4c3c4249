{{/*
The labels that find the pods. They can never change: a Deployment's selector is immutable.
*/}}
{{- define "NAME__.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{/*
The labels of every object but pods: with the chart's version in them, each new version would restart every pod.
*/}}
{{- define "NAME__.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
{{ include "NAME__.selectorLabels" . }}
{{- end }}
