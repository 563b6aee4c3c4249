{{- define "tiny.labels" -}}
app.kubernetes.io/name: {{ .Release.Name }}
{{- end }}
