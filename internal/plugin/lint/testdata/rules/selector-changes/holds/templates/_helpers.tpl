{{- define "web.labels" -}}
app.kubernetes.io/name: {{ .Release.Name | quote }}
app.kubernetes.io/managed-by: web
{{- end }}
