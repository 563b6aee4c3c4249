{{- define "tiny.labels" -}}
app.kubernetes.io/name: {{ include "tiny.labels" . }}
{{- end }}
