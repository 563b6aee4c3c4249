{{- define "common.metadata" -}}
name: {{ .context.Release.Name }}-{{ .name }}
labels:
  app.kubernetes.io/name: {{ .name }}
  app.kubernetes.io/managed-by: {{ .context.Release.Service }}
{{- end }}
