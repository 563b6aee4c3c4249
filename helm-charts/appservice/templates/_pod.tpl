{{/*
The kind of the workload that keeps the pods.
*/}}
{{- define "appservice.workloadKind" -}}
{{- ternary "StatefulSet" "Deployment" (or (default false .Values.persistence.perReplica) (kindIs "map" .Values.statefulSet)) -}}
{{- end }}

{{/*
The annotations of that workload.
*/}}
{{- define "appservice.workloadAnnotations" -}}
{{- if .Values.autoscaling.maxReplicas }}
app.example.com/initial-replicas: {{ int64 .Values.size | toString | quote }}
{{- end }}
{{- if .Values.reloadOnChange }}
app.example.com/reload-on-change: "true"
{{- end }}
{{- if eq .Values.security.profile "Restricted" }}
app.example.com/pod-security: restricted
{{- end }}
{{- range $key, $value := .Values.workloadAnnotations }}
{{- if hasPrefix "helm.sh/" $key }}{{ fail (printf "workloadAnnotations must not use the prefix helm.sh/: remove %s" (trunc 63 $key | quote)) }}{{ end }}
{{ $key | quote }}: {{ toJson $value }}
{{- end }}
{{- end }}

{{/*
The pod template of any workload.
*/}}
{{- define "appservice.podTemplate" -}}
{{- $claims := include "appservice.claims" . | fromJsonArray }}
{{- $shared := include "appservice.sharedClaims" . | fromJsonArray }}
metadata:
  labels:
    {{- include "appservice.podLabels" . | nindent 4 }}
  {{- $checksum := dict }}
  {{- with .Values.config }}
  {{- if or .environment .files .databaseUrl }}
  {{- $checksum = dict "app.example.com/config-checksum" (printf "%s\n%s\n%s" (toJson .environment) (toJson .files) .databaseUrl | sha256sum) }}
  {{- end }}
  {{- end }}
  {{- with merge (dict) $checksum .Values.podAnnotations }}
  annotations:
    {{- toJson . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "appservice.serviceAccountName" . | quote }}
  automountServiceAccountToken: {{ include "appservice.automountToken" . }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toJson . | nindent 4 }}
  {{- end }}
  securityContext:
    {{- include "appservice.podSecurityContext" . | nindent 4 }}
  terminationGracePeriodSeconds: {{ int64 .Values.terminationGracePeriodSeconds }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . | quote }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toJson . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toJson . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toJson . | nindent 4 }}
  {{- end }}
  topologySpreadConstraints:
    {{- if .Values.topologySpreadConstraints }}
    {{- range .Values.topologySpreadConstraints }}
    {{- $constraint := deepCopy . }}
    {{- if not $constraint.labelSelector }}{{- $_ := set $constraint "labelSelector" (dict "matchLabels" (include "appservice.selectorLabels" $ | fromYaml)) }}{{- end }}
    - {{ toJson $constraint }}
    {{- end }}
    {{- else }}
    {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
    - topologyKey: {{ . | quote }}
      maxSkew: 1
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "appservice.selectorLabels" $ | nindent 10 }}
    {{- end }}
    {{- end }}
  {{- with .Values.hostAliases }}
  hostAliases:
    {{- toJson . | nindent 4 }}
  {{- end }}
  {{- with .Values.dnsConfig }}
  dnsConfig:
    {{- toJson . | nindent 4 }}
  {{- end }}
  {{- if or .Values.initContainers .Values.sidecars }}
  initContainers:
    {{- with .Values.sidecars }}
    {{- include "appservice.containers" (list $ . true) | trim | nindent 4 }}
    {{- end }}
    {{- with .Values.initContainers }}
    {{- include "appservice.containers" (list $ . false) | trim | nindent 4 }}
    {{- end }}
  {{- end }}
  containers:
    - name: app
      image: {{ required "image is required: set spec.image" .Values.image | quote }}
      {{- with .Values.imagePullPolicy }}
      imagePullPolicy: {{ . | quote }}
      {{- end }}
      {{- with .Values.command }}
      command:
        {{- toJson . | nindent 8 }}
      {{- end }}
      {{- with .Values.args }}
      args:
        {{- toJson . | nindent 8 }}
      {{- end }}
      terminationMessagePolicy: FallbackToLogsOnError
      {{- with .Values.workingDir }}
      workingDir: {{ . | quote }}
      {{- end }}
      securityContext:
        {{- include "appservice.containerSecurityContext" . | nindent 8 }}
      {{- with .Values.resources }}
      resources: {{ toJson . }}
      {{- end }}
      {{- with include "appservice.environment" (list . (include "appservice.configName" .)) | trim }}
      {{- . | nindent 6 }}
      {{- end }}
      {{- with include "appservice.containerPorts" . | trim }}
      ports:
        {{- . | nindent 8 }}
      {{- end }}
      {{- with include "appservice.startup" . | default "{}" | fromJson }}
      startupProbe:
        {{- include "appservice.probe" (list $ .) | nindent 8 }}
      {{- end }}
      {{- with include "appservice.readiness" . | default "{}" | fromJson }}
      readinessProbe:
        {{- include "appservice.probe" (list $ .) | nindent 8 }}
      {{- end }}
      {{- with .Values.probes.liveness }}
      livenessProbe:
        {{- include "appservice.probe" (list $ .) | nindent 8 }}
      {{- end }}
      {{- $lifecycle := deepCopy .Values.lifecycle }}
      {{- $pause := min (int64 .Values.preStopSeconds) (sub (int64 .Values.terminationGracePeriodSeconds) 1) }}
      {{- if and .Values.ports (gt $pause 0) (not $lifecycle.preStop) }}
      {{- $_ := set $lifecycle "preStop" (dict "sleep" (dict "seconds" $pause)) }}
      {{- end }}
      {{- with $lifecycle }}
      lifecycle:
        {{- toJson . | nindent 8 }}
      {{- end }}
      {{- $mounts := list }}
      {{- range $claims }}{{ $mounts = concat $mounts (include "appservice.claimMounts" . | fromJsonArray) }}{{ end }}
      {{- if or .Values.volumeMounts $mounts .Values.config.files }}
      volumeMounts:
        {{- range $mounts }}
        - {{ toJson . }}
        {{- end }}
        {{- if .Values.config.files }}
        - name: config-files
          mountPath: {{ .Values.config.mountPath | quote }}
          readOnly: true
        {{- end }}
        {{- range .Values.volumeMounts }}
        - {{ toJson . }}
        {{- end }}
      {{- end }}
  {{- if or .Values.volumes $shared .Values.config.files }}
  volumes:
    {{- range include "appservice.claimVolumes" $shared | fromJsonArray }}
    - {{ toJson . }}
    {{- end }}
    {{- if .Values.config.files }}
    - name: config-files
      configMap:
        name: {{ include "appservice.filesName" . | quote }}
    {{- end }}
    {{- range .Values.volumes }}
    - {{ toJson . }}
    {{- end }}
  {{- end }}
{{- end }}
