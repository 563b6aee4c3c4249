{{/*
The parents of the route: its own listeners if it brings a certificate; those for HTTPS if plain HTTP is redirected; else all that are named.
*/}}
{{- define "appservice.routeParents" -}}
{{- $route := .Values.route }}
{{- if $route.tls }}
- group: gateway.networking.k8s.io
  kind: ListenerSet
  name: {{ include "appservice.name" . | quote }}
{{- else if $route.redirectHTTP }}
{{- range $route.parentRefs }}
- {{ toJson (ternary . (merge (dict "port" 443) .) (not (empty .sectionName))) }}
{{- end }}
{{- else }}
{{- toJson $route.parentRefs | nindent 0 }}
{{- end }}
{{- end }}

{{/*
The listeners for plain HTTP of the Gateways that the route names, each once.
*/}}
{{- define "appservice.routeRedirected" -}}
{{- $route := .Values.route }}
{{- $seen := list }}
{{- range $route.parentRefs }}
{{- $plain := ternary (dict "sectionName" $route.httpListener) (dict "port" 80) (not (empty $route.httpListener)) }}
{{- $parent := toJson (merge $plain (omit . "sectionName")) }}
{{- if not (has $parent $seen) }}
{{- $seen = append $seen $parent }}
- {{ $parent }}
{{- end }}
{{- end }}
{{- end }}

{{/*
Mistakes that the schema cannot refuse: fields that contradict each other, or have no effect.
*/}}
{{- define "appservice.checkRoute" -}}
{{- $route := .Values.route }}
{{- $numbers := list }}
{{- range .Values.ports }}{{ $numbers = append $numbers (int64 .port) }}{{ end }}
{{- if and $route.httpListener (not $route.redirectHTTP) }}{{ fail "route.httpListener is the listener that route.redirectHTTP redirects: set that to true, or remove route.httpListener" }}{{ end }}
{{- if $route.tls }}
{{- if not $route.hostnames }}{{ fail "route.tls needs route.hostnames: a certificate is for names" }}{{ end }}
{{- if or (ne (len $route.parentRefs) 1) (first $route.parentRefs).sectionName }}{{ fail "route.tls needs one entry in route.parentRefs, without sectionName: the route brings listeners of its own to that Gateway" }}{{ end }}
{{- end }}
{{- $calls := eq (default "" $route.kind) "GRPCRoute" }}
{{- range $i, $rule := $route.rules }}
{{- $at := printf "route.rules[%d]" $i }}
{{- if $calls }}
{{- range list "redirect" "rewrite" "cors" "retry" "requestTimeout" "backendRequestTimeout" }}
{{- if index $rule . }}{{ fail (printf "%s.%s is of an HTTPRoute only: remove it, or set route.kind to HTTPRoute" $at .) }}{{ end }}
{{- end }}
{{- range $k, $match := .matches }}
{{- $parts := splitList "/" (default "/" .path | trimSuffix "/") }}
{{- if or .method (gt (len $parts) 3) (eq (default "" .pathType) "RegularExpression") (and (eq (default "" .pathType) "Exact") (ne (len $parts) 3)) (not (regexMatch `^/$|^(?i)/[a-z_][a-z_0-9]*([.][a-z_][a-z_0-9]*)*(/([a-z_][a-z_0-9]*)?)?$` (default "/" .path))) }}{{ fail (printf "%s.matches[%d] of a GRPCRoute is a path /SERVICE or /SERVICE/METHOD and headers: correct it, or set route.kind to HTTPRoute" $at $k) }}{{ end }}
{{- end }}
{{- end }}
{{- if and .port .backends }}{{ fail (printf "%s takes port or backends, not both" $at) }}{{ end }}
{{- if .redirect }}
{{- range $other := list "port" "backends" "rewrite" "mirror" }}
{{- if index $rule $other }}{{ fail (printf "%s.redirect sends requests nowhere: remove %s.%s" $at $at $other) }}{{ end }}
{{- end }}
{{- end }}
{{- range $field := list "redirect" "rewrite" }}
{{- if dig $field "prefix" "" $rule }}
{{- $one := le (len (default list $rule.matches)) 1 }}
{{- range $rule.matches }}{{ if ne (default "PathPrefix" .pathType) "PathPrefix" }}{{ $one = false }}{{ end }}{{ end }}
{{- if not $one }}{{ fail (printf "%s.%s.prefix needs one entry in %s.matches, of pathType PathPrefix: make a rule of each match, or set path" $at $field $at) }}{{ end }}
{{- end }}
{{- end }}
{{- range $k, $backend := .backends }}
{{- if not (or .service (has (int64 .port) $numbers)) }}{{ fail (printf "%s.backends[%d].port must be the port of an entry in ports, unless service is set" $at $k) }}{{ end }}
{{- end }}
{{- with .mirror }}
{{- if not (or .service (has (int64 .port) $numbers)) }}{{ fail (printf "%s.mirror.port must be the port of an entry in ports, unless service is set" $at) }}{{ end }}
{{- end }}
{{- end }}
{{- end }}

{{/*
Where a rule sends requests. Takes a list: the rule, what appservice.backends returns, the number of the first port.
*/}}
{{- define "appservice.routeBackends" -}}
{{- $rule := index . 0 }}
{{- $backends := index . 1 }}
{{- $field := ternary "route.rules[].port" "route.rules[].backends[].port" (empty $rule.backends) }}
{{- range default (list (dict "port" (default (index . 2) $rule.port))) $rule.backends }}
- {{- include "appservice.routeBackend" (list $backends . $field) | nindent 2 }}
  {{- if hasKey . "weight" }}
  weight: {{ int64 .weight }}
  {{- end }}
{{- end }}
{{- end }}

{{/*
A Service and its port: those that are named, or where traffic to the port of an entry in ports goes. Takes a list: what
appservice.backends returns, what is named, the field of its port.
*/}}
{{- define "appservice.routeBackend" -}}
{{- $to := index . 1 }}
{{- if not $to.service }}{{- $to = include "appservice.backend" (list (index . 0) $to.port (index . 2)) | fromJson }}{{- end }}
name: {{ $to.service | quote }}
port: {{ int64 $to.port }}
{{- end }}

{{/*
The filters that a rule applies to requests and responses. Takes a list: the rule, what appservice.backends returns.
*/}}
{{- define "appservice.routeFilters" -}}
{{- $rule := index . 0 }}
{{- $backends := index . 1 }}
{{- with $rule.requestHeaders }}
- type: RequestHeaderModifier
  requestHeaderModifier:
    {{- include "appservice.routeHeaders" . | nindent 4 }}
{{- end }}
{{- with $rule.responseHeaders }}
- type: ResponseHeaderModifier
  responseHeaderModifier:
    {{- include "appservice.routeHeaders" . | nindent 4 }}
{{- end }}
{{- with $rule.cors }}
- type: CORS
  cors:
    {{- range $key, $value := omit . "maxAge" }}
    {{ $key }}: {{ toJson $value }}
    {{- end }}
    {{- with .maxAge }}
    maxAge: {{ int64 . }}
    {{- end }}
{{- end }}
{{- with $rule.mirror }}
- type: RequestMirror
  requestMirror:
    backendRef:
      {{- include "appservice.routeBackend" (list $backends . "route.rules[].mirror.port") | nindent 6 }}
    {{- if hasKey . "percent" }}
    percent: {{ int64 .percent }}
    {{- end }}
{{- end }}
{{- with $rule.redirect }}
- type: RequestRedirect
  requestRedirect:
    {{- with .scheme }}
    scheme: {{ . | quote }}
    {{- end }}
    {{- with .hostname }}
    hostname: {{ . | quote }}
    {{- end }}
    {{- with .port }}
    port: {{ int64 . }}
    {{- end }}
    {{- include "appservice.routePath" . | nindent 4 }}
    {{- with .statusCode }}
    statusCode: {{ int64 . }}
    {{- end }}
{{- end }}
{{- with $rule.rewrite }}
- type: URLRewrite
  urlRewrite:
    {{- with .hostname }}
    hostname: {{ . | quote }}
    {{- end }}
    {{- include "appservice.routePath" . | nindent 4 }}
{{- end }}
{{- end }}

{{/*
The path of a redirect or a rewrite.
*/}}
{{- define "appservice.routePath" -}}
{{- with .path }}
path:
  type: ReplaceFullPath
  replaceFullPath: {{ . | quote }}
{{- end }}
{{- with .prefix }}
path:
  type: ReplacePrefixMatch
  replacePrefixMatch: {{ . | quote }}
{{- end }}
{{- end }}

{{/*
Headers that are changed.
*/}}
{{- define "appservice.routeHeaders" -}}
{{- range $verb, $headers := pick . "set" "add" }}
{{ $verb }}:
  {{- range $header, $value := $headers }}
  - name: {{ $header | quote }}
    value: {{ toJson $value }}
  {{- end }}
{{- end }}
{{- with .remove }}
remove: {{ toJson . }}
{{- end }}
{{- end }}

{{/*
The matches of a rule, as an HTTPRoute has them.
*/}}
{{- define "appservice.routeMatches" -}}
{{- range . }}
- path:
    type: {{ default "PathPrefix" .pathType | quote }}
    value: {{ default "/" .path | quote }}
  {{- with .method }}
  method: {{ . | quote }}
  {{- end }}
  {{- include "appservice.routeMatchHeaders" . | nindent 2 }}
{{- end }}
{{- end }}
{{- define "appservice.routeMatchHeaders" -}}
{{- with .headers }}
headers:
  {{- range $header, $value := . }}
  - name: {{ $header | quote }}
    value: {{ toJson $value }}
  {{- end }}
{{- end }}
{{- end }}
