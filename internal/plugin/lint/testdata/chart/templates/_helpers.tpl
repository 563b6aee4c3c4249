{{- define "web.labels" -}}
app.kubernetes.io/name: {{ .Release.Name | quote }}
{{- end }}
