{{- define "suffix" }}{{ .Values.suffix | default "main" }}{{ end }}
