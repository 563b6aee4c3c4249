{{/*
The name of the first Service, which spec.service is about.
*/}}
{{- define "appservice.serviceName" -}}
{{- default (include "appservice.name" .) .Values.service.name -}}
{{- end }}

{{/*
The Services, as JSON, the first one first. Only that one has no label app.example.com/service.
*/}}
{{- define "appservice.services" -}}
{{- $name := include "appservice.serviceName" . }}
{{- $list := list (set (deepCopy .Values.service) "name" $name) }}
{{- $taken := dict $name "service.name" }}
{{- if .Values.persistence.perReplica }}
{{- $headless := include "appservice.headlessName" . }}
{{- if eq $name $headless }}{{ fail (printf "service.name must not be %s: the replicas are named by the Service of that name" (quote $headless)) }}{{ end }}
{{- $_ := set $taken $headless "persistence.perReplica" }}
{{- end }}
{{- range .Values.services }}
{{- if hasKey $taken .name }}{{ fail (printf "services[].name must not be %s: the Service of %s has that name" (quote .name) (get $taken .name)) }}{{ end }}
{{- $_ := set $taken .name "another entry" }}
{{- $list = append $list . }}
{{- end }}
{{- toJson $list }}
{{- end }}

{{/*
The entries of ports that a Service offers, as JSON, with the numbers that they have there; number is the one in ports. Takes a list: the
root, the Service, whether it is the first one, which alone may have the node ports of ports.
*/}}
{{- define "appservice.offered" -}}
{{- $root := index . 0 }}
{{- $service := index . 1 }}
{{- $first := index . 2 }}
{{- $field := ternary "service.ports[]" "services[].ports[].name" $first }}
{{- $entries := dict }}
{{- $wanted := list }}
{{- range $root.Values.ports }}
{{- $entry := merge (dict "number" .port "targetPort" (default .port .targetPort)) (ternary . (omit . "nodePort") $first) }}
{{- $_ := set $entries (default "" .name) $entry }}
{{- $wanted = append $wanted $entry }}
{{- end }}
{{- if $service.ports }}
{{- $wanted = list }}
{{- range $root.Values.ports }}
{{- if and $first .nodePort (not (has .name $service.ports)) }}{{ fail (printf "ports[].nodePort of %s has no effect, since service.ports leaves it out: name it there, or set nodePort in services[].ports" (quote .name)) }}{{ end }}
{{- end }}
{{- range $service.ports }}
{{- $own := ternary (dict "name" .) . $first }}
{{- if not (hasKey $entries $own.name) }}{{ fail (printf "%s must be the name of an entry in ports, and %s is none" $field (trunc 63 $own.name | quote)) }}{{ end }}
{{- $wanted = append $wanted (merge (deepCopy $own) (get $entries $own.name)) }}
{{- end }}
{{- end }}
{{- toJson $wanted }}
{{- end }}

{{/*
Where traffic to the port of an entry in ports goes, as JSON by its number: the first Service that offers it, headless further ones last, the
number that it has there, and whether that is a further Service.
*/}}
{{- define "appservice.backends" -}}
{{- $backends := dict }}
{{- $services := include "appservice.services" . | fromJsonArray }}
{{- range $last := list false true }}
{{- range $i, $service := $services }}
{{- if eq $last (and (gt $i 0) (hasKey $service "clusterIP")) }}
{{- range include "appservice.offered" (list $ $service (eq $i 0)) | fromJsonArray }}
{{- $number := int64 .number | toString }}
{{- if not (hasKey $backends $number) }}
{{- $_ := set $backends $number (dict "service" $service.name "port" (int64 .port) "further" (gt $i 0)) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- toJson $backends }}
{{- end }}

{{/*
One of them, as JSON. Takes a list: all of them, the number, the field that names it.
*/}}
{{- define "appservice.backend" -}}
{{- $number := int64 (index . 1) | toString }}
{{- if not (hasKey (index . 0) $number) }}{{ fail (printf "%s must be the port of an entry in ports that a Service offers, and %s is none: correct it, or name the entry in service.ports or services[].ports" (index . 2) $number) }}{{ end }}
{{- get (index . 0) $number | toJson }}
{{- end }}

{{/*
The spec of a Service. Takes a list: the root, the Service, whether it is the first one.
*/}}
{{- define "appservice.serviceSpec" -}}
{{- $root := index . 0 }}
{{- $ports := include "appservice.offered" . | fromJsonArray }}
{{- $type := "ClusterIP" }}
{{- range $ports }}{{- if .nodePort }}{{- $type = "NodePort" }}{{- end }}{{- end }}
{{- with index . 1 }}
type: {{ default $type .type | quote }}
selector:
  {{- include "appservice.selectorLabels" $root | nindent 2 }}
{{- with .clusterIP }}
clusterIP: {{ . | quote }}
{{- end }}
{{- if hasKey . "publishNotReadyAddresses" }}
publishNotReadyAddresses: {{ .publishNotReadyAddresses }}
{{- end }}
{{- with .ipFamilyPolicy }}
ipFamilyPolicy: {{ . | quote }}
{{- end }}
{{- with .ipFamilies }}
ipFamilies: {{ toJson . }}
{{- end }}
{{- with .sessionAffinity }}
sessionAffinity: {{ . | quote }}
{{- end }}
{{- with .externalTrafficPolicy }}
externalTrafficPolicy: {{ . | quote }}
{{- end }}
{{- with .trafficDistribution }}
trafficDistribution: {{ . | quote }}
{{- end }}
{{- with .loadBalancerClass }}
loadBalancerClass: {{ . | quote }}
{{- end }}
{{- with .loadBalancerSourceRanges }}
loadBalancerSourceRanges:
  {{- toJson . | nindent 2 }}
{{- end }}
{{- end }}
ports:
  {{- include "appservice.servicePorts" (list $root $ports) | trim | nindent 2 }}
{{- end }}

{{/*
The backend of an Ingress. Takes what appservice.backend takes.
*/}}
{{- define "appservice.ingressBackend" -}}
{{- with include "appservice.backend" . | fromJson }}
service:
  name: {{ .service | quote }}
  port:
    number: {{ int64 .port }}
{{- end }}
{{- end }}
