{{/*
The name of the AppService, and of what it becomes.
*/}}
{{- define "appservice.name" -}}
{{- .Release.Name | trunc 53 | trimSuffix "-" -}}
{{- end }}

{{/*
The labels that find the pods. They can never change: a Deployment's selector is immutable.
*/}}
{{- define "appservice.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{/*
The labels of every object; pods have the selector labels only, or each new chart version would restart them.
*/}}
{{- define "appservice.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
{{ include "appservice.selectorLabels" . }}
{{- end }}

{{/*
The name of the ConfigMap and of the Secret that hold the configuration.
*/}}
{{- define "appservice.configName" -}}
{{- printf "%s-config" (include "appservice.name" .) -}}
{{- end }}

{{/*
The environment that the configuration adds to the main container. What spec.envs sets itself goes first.
*/}}
{{- define "appservice.configEnv" -}}
{{- $taken := dict }}
{{- range .Values.envs }}{{- $_ := set $taken .name true }}{{- end }}
{{- with .Values.config }}
{{- if and .logLevel (not (hasKey $taken "LOG_LEVEL")) }}
- name: LOG_LEVEL
  value: {{ .logLevel | quote }}
{{- end }}
{{- if not (hasKey $taken "DATABASE_URL") }}
{{- if .databaseUrlFrom }}
- name: DATABASE_URL
  valueFrom: {{ toJson .databaseUrlFrom }}
{{- else if .databaseUrl }}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ include "appservice.configName" $ | quote }}
      key: DATABASE_URL
{{- end }}
{{- end }}
{{- end }}
{{- end }}
