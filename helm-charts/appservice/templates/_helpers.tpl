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
The labels of every object but pods: with the chart's version in them, each new version would restart every pod.
*/}}
{{- define "appservice.labels" -}}
{{- range $key, $value := .Values.commonLabels }}
{{- $key | quote }}: {{ toJson $value }}
{{ end -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
{{ include "appservice.selectorLabels" . }}
{{- end }}

{{/*
The labels of the pods: those that the spec gives, which pods of the release task have, too, and those that find them.
*/}}
{{- define "appservice.givenLabels" -}}
{{- $labels := dict }}
{{- range $key, $value := .Values.commonLabels }}{{- $_ := set $labels $key $value }}{{- end }}
{{- range $key, $value := .Values.podLabels }}{{- $_ := set $labels $key $value }}{{- end }}
{{- range $key, $value := $labels }}
{{- $key | quote }}: {{ toJson $value }}
{{ end -}}
{{- end }}
{{- define "appservice.podLabels" -}}
{{ include "appservice.givenLabels" . }}
{{- include "appservice.selectorLabels" . }}
{{- end }}

{{/*
The name of the ConfigMap and of the Secret that hold the configuration, and of the ConfigMap that holds the files.
*/}}
{{- define "appservice.configName" -}}
{{- printf "%s-config" (include "appservice.name" .) -}}
{{- end }}
{{- define "appservice.filesName" -}}
{{- printf "%s-files" (include "appservice.name" .) -}}
{{- end }}

{{/*
The name of the Secret whose values the operator makes.
*/}}
{{- define "appservice.generatedName" -}}
{{- printf "%s-generated" (include "appservice.name" .) -}}
{{- end }}

{{/*
The name of the objects of the release task, and the labels that find its pods: with those of the application, they would get traffic.
The labels take a list: the root, the name of the AppService.
*/}}
{{- define "appservice.taskName" -}}
{{- printf "%s-release" (include "appservice.name" .) -}}
{{- end }}
{{- define "appservice.taskLabels" -}}
app.kubernetes.io/name: {{ printf "%s-release" (index . 0).Chart.Name | quote }}
app.kubernetes.io/instance: {{ index . 1 | quote }}
{{- end }}

{{/*
Not empty if the pods have a ServiceAccount of their own: serviceAccount.create is true, or serviceAccount is set without a name.
*/}}
{{- define "appservice.ownServiceAccount" -}}
{{- $account := .Values.serviceAccount }}
{{- if kindIs "map" $account }}
{{- if hasKey $account "create" }}{{ if $account.create }}own{{ end }}
{{- else if not $account.name }}own{{ end }}
{{- end }}
{{- end }}

{{/*
The ServiceAccount of the pods. Always named: the API server would keep an earlier name otherwise.
*/}}
{{- define "appservice.serviceAccountName" -}}
{{- $default := "default" }}
{{- if include "appservice.ownServiceAccount" . }}{{- $default = include "appservice.name" . }}{{- end }}
{{- default $default (default dict .Values.serviceAccount).name -}}
{{- end }}
{{- define "appservice.automountToken" -}}
{{- default false (default dict .Values.serviceAccount).automountToken -}}
{{- end }}

{{/*
The port of the first entry.
*/}}
{{- define "appservice.firstPort" -}}
{{- if not .Values.ports }}{{ fail "ports is required: traffic needs a port to go to" }}{{ end -}}
{{- int64 (first .Values.ports).port -}}
{{- end }}

{{/*
How many replicas are kept at least.
*/}}
{{- define "appservice.leastReplicas" -}}
{{- if .Values.autoscaling.maxReplicas -}}
{{- int64 (dig "minReplicas" 1 .Values.autoscaling) -}}
{{- else -}}
{{- int64 .Values.size -}}
{{- end -}}
{{- end }}

{{/*
The environment of a container, as its fields env and envFrom. Takes a list: the root, the name of the ConfigMap and the Secret that hold
the configuration.
*/}}
{{- define "appservice.environment" -}}
{{- $root := index . 0 }}
{{- $env := include "appservice.env" . }}
{{- if or $root.Values.envs $env }}
env:
  {{- with $env }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- range $root.Values.envs }}
  - {{ toJson . }}
  {{- end }}
{{- end }}
{{- if or $root.Values.envFrom $root.Values.config.environment }}
envFrom:
  {{- if $root.Values.config.environment }}
  - configMapRef:
      name: {{ index . 1 | quote }}
  {{- end }}
  {{- range $root.Values.envFrom }}
  - {{ toJson . }}
  {{- end }}
{{- end }}
{{- end }}

{{/*
The environment that a container has besides spec.envs, which goes first: PORT, the port to listen on, unless the
spec sets it, and what the configuration adds. Takes a list: the root, the name of the Secret that holds the configuration.
*/}}
{{- define "appservice.env" -}}
{{- $secret := index . 1 }}
{{- with index . 0 }}
{{- $root := . }}
{{- $taken := dict }}
{{- range .Values.envs }}{{- $_ := set $taken .name true }}{{- end }}
{{- range $name, $_ := .Values.config.generated }}
{{- if hasKey (default dict $root.Values.config.environment) $name }}{{ fail (printf "config.environment and config.generated must not have the same key: leave %s out of one of them" ($name | quote)) }}{{ end }}
{{- if not (hasKey $taken $name) }}
{{- $_ := set $taken $name true }}
- name: {{ $name | quote }}
  valueFrom:
    secretKeyRef:
      name: {{ include "appservice.generatedName" $root | quote }}
      key: {{ $name | quote }}
{{- end }}
{{- end }}
{{- if not (or (hasKey $taken "PORT") (hasKey (default dict .Values.config.environment) "PORT")) }}
{{- with include "appservice.containerPorts" $root | fromYamlArray }}
- name: PORT
  value: {{ int64 (first .).containerPort | quote }}
{{- end }}
{{- end }}
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
      name: {{ $secret | quote }}
      key: DATABASE_URL
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/*
The security context of the pods and of a container, from the profile and what refines it.
*/}}
{{- define "appservice.podSecurityContext" -}}
{{- $context := dict "seccompProfile" (dict "type" "RuntimeDefault") }}
{{- if eq .Values.security.profile "Restricted" }}{{- $_ := set $context "runAsNonRoot" true }}{{- end }}
{{- toJson (mergeOverwrite $context (deepCopy .Values.security.pod)) }}
{{- end }}
{{- define "appservice.containerSecurityContext" -}}
{{- $context := dict "allowPrivilegeEscalation" false }}
{{- if eq .Values.security.profile "Restricted" }}{{- $_ := set $context "capabilities" (dict "drop" (list "ALL")) }}{{- end }}
{{- toJson (mergeOverwrite $context (deepCopy .Values.security.container)) }}
{{- end }}

{{/*
Init containers or sidecars, with the security context of the profile if they have none; the end of their log becomes
their termination message, unless they ask for something else. Takes a list: the root, the
containers, whether they are sidecars.
*/}}
{{- define "appservice.containers" -}}
{{- $root := index . 0 }}
{{- $sidecars := index . 2 }}
{{- range index . 1 }}
{{- $container := deepCopy . }}
{{- if $sidecars }}{{- $_ := set $container "restartPolicy" "Always" }}{{- end }}
{{- if not $container.terminationMessagePolicy }}{{- $_ := set $container "terminationMessagePolicy" "FallbackToLogsOnError" }}{{- end }}
{{- range $container.ports }}{{- if not .protocol }}{{- $_ := set . "protocol" "TCP" }}{{- end }}{{- end }}
{{- $context := dict "allowPrivilegeEscalation" false }}
{{- if eq $root.Values.security.profile "Restricted" }}{{- $_ := set $context "capabilities" (dict "drop" (list "ALL")) }}{{- end }}
{{- $_ := set $container "securityContext" (mergeOverwrite $context (default dict $container.securityContext)) }}
- {{ toJson $container }}
{{- end }}
{{- end }}

{{/*
Annotations that the spec gives. Helm's own would make the object a hook, or keep it for ever.
*/}}
{{- define "appservice.annotations" -}}
{{- range $key, $value := . }}
{{- if hasPrefix "helm.sh/" $key }}{{ fail (printf "annotations must not use the prefix helm.sh/: remove %s" (trunc 63 $key | quote)) }}{{ end }}
{{- end }}
{{- toJson . }}
{{- end }}

{{/*
The Service that gives each replica of a StatefulSet a name: one that the spec names, or the one that is created.
*/}}
{{- define "appservice.headlessName" -}}
{{- printf "%s-headless" (include "appservice.name" .) -}}
{{- end }}
{{- define "appservice.governingName" -}}
{{- default (include "appservice.headlessName" .) (default dict .Values.statefulSet).serviceName -}}
{{- end }}

{{/*
The rules of a NetworkPolicy for whom the pods may reach, as JSON; empty if there is no limit. DNS may be anywhere: in kube-system, on the
node, or outside. The pods of OpenShift's listen on 5353.
*/}}
{{- define "appservice.egress" -}}
{{- $policy := ternary .Values.networkPolicy dict (default false .Values.networkPolicy.enabled) }}
{{- $access := .Values.access }}
{{- if or (hasKey $policy "egress") (hasKey $access "to") }}
{{- $rules := list }}
{{- if $access }}
{{- $own := dict "podSelector" (dict "matchLabels" (include "appservice.selectorLabels" . | fromYaml)) }}
{{- $rules = append $rules (dict "to" (prepend (include "appservice.peers" (list . $access.to false) | fromJsonArray) $own)) }}
{{- end }}
{{- if hasKey $access "to" }}
{{- $ports := list }}
{{- range list 53 5353 }}
{{- $ports = append (append $ports (dict "port" . "protocol" "UDP")) (dict "port" . "protocol" "TCP") }}
{{- end }}
{{- $rules = append $rules (dict "ports" $ports) }}
{{- end }}
{{- toJson (concat $rules (default list $policy.egress)) }}
{{- end }}
{{- end }}

{{/*
Rules of a NetworkPolicy for who may reach which ports, as JSON. The name of an entry in ports is that of the port of the pods which it
leads to. Takes a list: the root, the rules.
*/}}
{{- define "appservice.ingressRules" -}}
{{- $root := index . 0 }}
{{- $names := dict }}
{{- range $root.Values.ports }}{{- if .name }}{{- $_ := set $names .name (include "appservice.portName" (list $root .)) }}{{- end }}{{- end }}
{{- $rules := list }}
{{- range index . 1 }}
{{- $rule := deepCopy . }}
{{- range $rule.ports }}
{{- if and (kindIs "string" .port) (hasKey $names .port) }}{{- $_ := set . "port" (get $names .port) }}{{- end }}
{{- if not .protocol }}{{- $_ := set . "protocol" "TCP" }}{{- end }}
{{- end }}
{{- $rules = append $rules $rule }}
{{- end }}
{{- toJson $rules }}
{{- end }}

{{/*
Peers of a NetworkPolicy, as JSON: the pods of an AppService, or of a namespace. Takes a list: the root, what spec.access names, and
whether the release tasks of these AppServices are peers, too.
*/}}
{{- define "appservice.peers" -}}
{{- $tasks := index . 2 }}
{{- $root := index . 0 }}
{{- $peers := list }}
{{- range index . 1 }}
{{- $peer := dict }}
{{- with .namespace }}{{- $_ := set $peer "namespaceSelector" (dict "matchLabels" (dict "kubernetes.io/metadata.name" .)) }}{{- end }}
{{- with .appService }}{{- $_ := set $peer "podSelector" (dict "matchLabels" (dict "app.kubernetes.io/name" $root.Chart.Name "app.kubernetes.io/instance" .)) }}{{- end }}
{{- $peers = append $peers $peer }}
{{- if and .appService $tasks }}
{{- $peers = append $peers (merge (dict "podSelector" (dict "matchLabels" (include "appservice.taskLabels" (list $root .appService) | fromYaml))) $peer) }}
{{- end }}
{{- end }}
{{- toJson $peers }}
{{- end }}
