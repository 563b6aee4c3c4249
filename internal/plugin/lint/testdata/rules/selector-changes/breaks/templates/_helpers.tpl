{{- define "web.labels" -}}
app.kubernetes.io/name: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Values.replicas | quote }}
{{- end }}
