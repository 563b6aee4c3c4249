{{- define "tiny.labels" -}}
app.kubernetes.io/name: {{ .Release.Name | quote }}
{{- end }}
