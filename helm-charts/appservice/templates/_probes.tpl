{{/*
The port of the pod that a probe without a port asks, as JSON: the first that takes TCP connections, of the main container
if it has one. Without any, the first.
*/}}
{{- define "appservice.probedPort" -}}
{{- $ports := include "appservice.podPorts" . | fromJsonArray }}
{{- if not $ports }}{{ fail "ports is required: a probe without a port takes the first of them" }}{{ end }}
{{- $found := first $ports }}
{{- range $sidecar := list true false }}
{{- range reverse $ports }}{{- if and (eq .protocol "TCP") (eq .sidecar $sidecar) }}{{- $found = . }}{{- end }}{{- end }}
{{- end }}
{{- toJson $found }}
{{- end }}

{{/*
A probe. Takes a list: the root, the probe. The name of an entry stands for the port that the entry leads to. The kubelet
looks for names among the ports of the main container only, so a sidecar's port becomes its number; so does one that gRPC asks.
*/}}
{{- define "appservice.probe" -}}
{{- $root := index . 0 }}
{{- $probe := deepCopy (index . 1) }}
{{- range $kind := list "httpGet" "tcpSocket" "grpc" }}
{{- if hasKey $probe $kind }}
{{- $handler := deepCopy (default dict (get $probe $kind)) }}
{{- $port := dict }}
{{- if not $handler.port }}
{{- $port = include "appservice.probedPort" $root | fromJson }}
{{- else if kindIs "string" $handler.port }}
{{- $port = include "appservice.sidecarPort" (list $root $handler.port "TCP") | default "{}" | fromJson }}
{{- range $root.Values.ports }}{{- if eq (default "" .name) $handler.port }}{{- $port = include "appservice.target" (list $root .) | fromJson }}{{- end }}{{- end }}
{{- end }}
{{- if $port }}{{- $_ := set $handler "port" (ternary (int64 $port.number) $port.name (or $port.sidecar (eq $kind "grpc"))) }}{{- end }}
{{- if and (eq $kind "httpGet") (not $handler.path) }}{{- $_ := set $handler "path" "/" }}{{- end }}
{{- $_ := set $probe $kind $handler }}
{{- end }}
{{- end }}
{{- toJson $probe }}
{{- end }}

{{/*
The readiness probe of the spec, as JSON. One without an action connects to the first TCP port. If it has no period either, that
is every 2 seconds, because Kubernetes' 10 would keep each new pod waiting; it fails after the same 30.
Nothing if it is turned off, and if there is no such port.
*/}}
{{- define "appservice.readiness" -}}
{{- $given := default dict .Values.probes.readiness }}
{{- $tcp := false }}
{{- range .Values.ports }}{{- if eq (default "TCP" .protocol) "TCP" }}{{- $tcp = true }}{{- end }}{{- end }}
{{- if $given.none }}
{{- else if pick $given "httpGet" "tcpSocket" "grpc" "exec" }}
{{- omit $given "none" | toJson }}
{{- else if $tcp }}
{{- $often := dict "periodSeconds" 2 "failureThreshold" 15 }}
{{- if or $given.periodSeconds $given.failureThreshold }}{{- $often = dict }}{{- end }}
{{- merge (dict "tcpSocket" dict) (omit $given "none") $often | toJson }}
{{- end }}
{{- end }}

{{/*
The startup probe of the spec, as JSON, or one that fails after startupSeconds: it asks what the readiness probe asks, or
connects to the first TCP port if that is turned off.
*/}}
{{- define "appservice.startup" -}}
{{- if .Values.probes.startup }}
{{- toJson .Values.probes.startup }}
{{- else if .Values.probes.startupSeconds }}
{{- $readiness := include "appservice.readiness" . | default `{"tcpSocket":{}}` | fromJson }}
{{- $period := 2 }}
{{- $times := div (add .Values.probes.startupSeconds $period -1) $period }}
{{- merge (dict "periodSeconds" $period "failureThreshold" $times) (pick $readiness "httpGet" "tcpSocket" "grpc" "exec" "timeoutSeconds") | toJson }}
{{- end }}
{{- end }}
