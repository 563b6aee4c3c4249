{{/*
The ConfigMaps and the Secret that hold the configuration, and their copies for the release task. Takes a list: the root, the name of the
environment, the name of the files, the stage in which they are written.
*/}}
{{- define "appservice.configMetadata" -}}
name: {{ index . 1 | quote }}
labels:
  {{- include "appservice.labels" (index . 0) | nindent 2 }}
{{- with index . 2 }}
annotations:
  app.example.com/stage: {{ . }}
{{- end }}
{{- end }}

{{- define "appservice.configMaps" -}}
{{- $root := index . 0 }}
{{- if $root.Values.config.environment }}
apiVersion: v1
kind: ConfigMap
metadata:
  {{- include "appservice.configMetadata" (list $root (index . 1) (index . 3)) | nindent 2 }}
data:
  {{- range $name, $value := $root.Values.config.environment }}
  {{ $name | quote }}: {{ toJson $value }}
  {{- end }}
{{- end }}
{{- if $root.Values.config.files }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  {{- include "appservice.configMetadata" (list $root (index . 2) (index . 3)) | nindent 2 }}
data:
  {{- range $name, $content := $root.Values.config.files }}
  {{ $name | quote }}: {{ toJson $content }}
  {{- end }}
{{- end }}
{{- end }}

{{- define "appservice.configSecret" -}}
{{- $root := index . 0 }}
{{- if $root.Values.config.databaseUrl }}
apiVersion: v1
kind: Secret
metadata:
  {{- include "appservice.configMetadata" (list $root (index . 1) (index . 3)) | nindent 2 }}
type: Opaque
data:
  DATABASE_URL: {{ $root.Values.config.databaseUrl | b64enc | quote }}
{{- end }}
{{- end }}
