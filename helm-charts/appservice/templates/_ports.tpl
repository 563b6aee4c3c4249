{{/*
The target of an entry of ports, as JSON: name and number of a port of the pod, and whether it is a sidecar's.

All that sends traffic to pods goes by the name, so that each pod is reached on the number that it has itself while another
number is rolled out. It is the entry's own name; of several entries with one target port that of the first, as a
container's port has but one name. The only entry may have none: it is "http" then, or "udp" or "sctp".

A targetPort that is a name is that of another entry, whose targetPort is a number, or of a sidecar's port.
Takes a list: the root, the entry.
*/}}
{{- define "appservice.target" -}}
{{- $root := index . 0 }}
{{- $entry := index . 1 }}
{{- $protocol := default "TCP" $entry.protocol }}
{{- $sidecar := "" }}
{{- if kindIs "string" $entry.targetPort }}
{{- $wanted := $entry.targetPort }}
{{- $entry = dict }}
{{- range $root.Values.ports }}
{{- if and (eq $wanted (default "" .name)) (eq $protocol (default "TCP" .protocol)) (not (kindIs "string" .targetPort)) }}{{- $entry = . }}{{- end }}
{{- end }}
{{- if not $entry }}
{{- $sidecar = include "appservice.sidecarPort" (list $root $wanted $protocol) }}
{{- if not $sidecar }}{{ fail (printf "ports[].targetPort %s is not a port of sidecars with protocol %s, nor another entry of ports whose targetPort is a number" (trunc 63 $wanted | quote) (trunc 63 $protocol | quote)) }}{{ end }}
{{- end }}
{{- end }}
{{- if $sidecar }}
{{- $sidecar }}
{{- else }}
{{- $number := int64 (default $entry.port $entry.targetPort) }}
{{- $name := default (lower $protocol | replace "tcp" "http") $entry.name }}
{{- if gt (len $root.Values.ports) 1 }}
{{- $name = required "ports[].name is required when there is more than one port" $entry.name }}
{{- range reverse $root.Values.ports }}
{{- if not (kindIs "string" .targetPort) }}
{{- if and (eq $number (int64 (default .port .targetPort))) (eq $protocol (default "TCP" .protocol)) }}{{- $name = .name }}{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- dict "name" $name "number" $number "sidecar" false | toJson }}
{{- end }}
{{- end }}

{{/*
The port of a sidecar, in the same form. Nothing if none has one of that name. Takes a list: the root, the name, the protocol.
*/}}
{{- define "appservice.sidecarPort" -}}
{{- $name := index . 1 }}
{{- $protocol := index . 2 }}
{{- $found := dict }}
{{- range reverse (index . 0).Values.sidecars }}
{{- range default list .ports }}
{{- if and (eq $name (default "" .name)) (eq $protocol (default "TCP" .protocol)) }}
{{- $found = dict "name" $name "number" (int64 .containerPort) "sidecar" true }}
{{- end }}
{{- end }}
{{- end }}
{{- with $found }}{{ toJson . }}{{ end }}
{{- end }}

{{/*
The name of the target of an entry. Takes a list: the root, the entry.
*/}}
{{- define "appservice.portName" -}}
{{- get (include "appservice.target" . | fromJson) "name" -}}
{{- end }}

{{/*
The ports of the pod that entries lead to, each once, in the order of the entries, as JSON.
*/}}
{{- define "appservice.podPorts" -}}
{{- $list := list }}
{{- $seen := dict }}
{{- range .Values.ports }}
{{- $port := set (include "appservice.target" (list $ .) | fromJson) "protocol" (default "TCP" .protocol) }}
{{- $key := printf "%s/%s" $port.name $port.protocol }}
{{- if not (hasKey $seen $key) }}
{{- $_ := set $seen $key true }}
{{- $list = append $list $port }}
{{- end }}
{{- end }}
{{- toJson $list }}
{{- end }}

{{/*
Those of the main container.
*/}}
{{- define "appservice.containerPorts" -}}
{{- range include "appservice.podPorts" . | fromJsonArray }}
{{- if not .sidecar }}
- name: {{ .name | quote }}
  containerPort: {{ int64 .number }}
  protocol: {{ .protocol | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/*
The ports of a Service. Takes a list: the root, the entries that it offers.
*/}}
{{- define "appservice.servicePorts" -}}
{{- $root := index . 0 }}
{{- range index . 1 }}
- port: {{ int64 .port }}
  targetPort: {{ include "appservice.portName" (list $root .) | quote }}
  protocol: {{ default "TCP" .protocol | quote }}
  {{- with .name }}
  name: {{ . | quote }}
  {{- end }}
  {{- with .nodePort }}
  nodePort: {{ int64 . }}
  {{- end }}
  {{- with .appProtocol }}
  appProtocol: {{ . | quote }}
  {{- end }}
{{- end }}
{{- end }}
