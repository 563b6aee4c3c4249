{{/* The beginning of all names: the name of the release, followed by that of the chart unless it has that already. */}}
{{- define "operator.prefix" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 28 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 28 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "operator.labels" -}}
app.kubernetes.io/name: appservice-operator
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "operator.selectorLabels" -}}
app.kubernetes.io/name: appservice-operator
control-plane: controller-manager
{{- end }}

{{- define "operator.image" -}}
{{- with .Values.image }}
{{- if .digest }}{{ .repository }}@{{ .digest }}
{{- else }}{{ .repository }}:{{ .tag | default (printf "v%s" $.Chart.AppVersion) }}{{ end }}
{{- end }}
{{- end }}

{{/* The Secret with the certificate of metrics; nothing where the manager makes one. */}}
{{- define "operator.metricsCertificate" -}}
{{- with .Values.metrics.certificate }}
{{- if .secretName }}{{ .secretName }}{{ else if .certManager }}{{ include "operator.prefix" $ }}-metrics-certificate{{ end }}
{{- end }}
{{- end }}

{{/* Where metrics are served. */}}
{{- define "operator.metricsHost" -}}
{{ include "operator.prefix" . }}-controller-manager-metrics-service.{{ .Release.Namespace }}.svc
{{- end }}

{{/* Where the charts that are served are mounted, and what is; nothing where they are those of the operator's image. */}}
{{- define "operator.charts" -}}
{{- with .Values.chart }}
{{- if and .configMap .image.reference }}{{ fail "chart.configMap and chart.image.reference are set: the charts come from one of them" }}{{ end }}
{{- with .configMap -}}
path: /charts/helm-charts
volume: {configMap: {name: {{ quote . }}}}
{{- end }}
{{- with .image }}{{ if .reference -}}
path: /charts
volume: {image: {reference: {{ quote .reference }}, pullPolicy: {{ .pullPolicy }}}}
{{- end }}{{ end }}
{{- end }}
{{- end }}

{{/* The rules of a role of config/rbac: a dict of the root and the name of its file. */}}
{{- define "operator.rules" -}}
rules:
{{ toYaml (.root.Files.Get (printf "files/%s.yaml" .file) | fromYaml).rules }}
{{- end }}

{{/* The rules of the manager: those of config/rbac, and of config/rights those that the values ask for. A dict of the root, the name of the
file and that of the role. */}}
{{- define "operator.managerRules" -}}
{{ include "operator.rules" . }}
{{- range $option, $wanted := .root.Values.rights }}
{{- if not (has $option (list "cluster" "metrics" "people")) }}
{{- $file := $.root.Files.Get (printf "files/rights/%s.yaml" $option) | fromYaml }}
{{- if not $file }}{{ fail (printf "rights.%s: there is no such right, see config/rights" $option) }}{{ end }}
{{- if $wanted }}
{{- range $file.patches }}
{{- if regexMatch (printf "^%s$" .target.name) $.role }}
{{- range .patch | fromYamlArray }}
{{ toYaml (list .value) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Whether the manager has rights outside of the namespaces that it serves: a dict of the root and which, cluster or metrics. Unless the
values say, it has them where it serves all namespaces. Nothing if not. */}}
{{- define "operator.outside" -}}
{{- $said := get .root.Values.rights .which }}
{{- if kindIs "bool" $said }}{{ if $said }}true{{ end }}{{ else if not .root.Values.watchNamespaces }}true{{ end }}
{{- end }}

{{/* A binding's end: a dict of the root, the kind of the role, and its name. */}}
{{- define "operator.bind" -}}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ .kind }}
  name: {{ include "operator.prefix" .root }}-{{ .role }}
subjects:
- kind: ServiceAccount
  name: {{ include "operator.prefix" .root }}-controller-manager
  namespace: {{ .root.Release.Namespace }}
{{- end }}
