{{- define "cache.name" }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end }}
