{{/*
All claims, as JSON: persistence, which is called data, and claims. Each is as in values, with the claim that a Deployment mounts as claimName,
and all its mounts in the main container.
*/}}
{{- define "appservice.claims" -}}
{{- $name := include "appservice.name" . }}
{{- $all := list }}
{{- with .Values.persistence }}
{{- if .size }}
{{- $mounts := prepend (default list .mounts) (dict "path" .mountPath) }}
{{- $all = append $all (merge (dict "name" "data" "field" "persistence" "claimName" $name "mounts" $mounts) .) }}
{{- end }}
{{- end }}
{{- range .Values.claims }}
{{- $all = append $all (merge (dict "field" (printf "claims[%s]" .name) "claimName" (printf "%s-%s" $name .name)) .) }}
{{- end }}
{{- toJson $all }}
{{- end }}

{{/*
Those of them that all replicas share, and those that each has for itself.
*/}}
{{- define "appservice.sharedClaims" -}}
{{- $some := list }}
{{- range include "appservice.claims" . | fromJsonArray }}{{ if not .perReplica }}{{ $some = append $some . }}{{ end }}{{ end }}
{{- toJson $some }}
{{- end }}
{{- define "appservice.replicaClaims" -}}
{{- $some := list }}
{{- range include "appservice.claims" . | fromJsonArray }}{{ if .perReplica }}{{ $some = append $some . }}{{ end }}{{ end }}
{{- toJson $some }}
{{- end }}

{{/*
The spec of a PersistentVolumeClaim. Takes one of these claims.
*/}}
{{- define "appservice.claim" -}}
accessModes:
  {{- toJson (default (list "ReadWriteOnce") .accessModes) | nindent 2 }}
{{- if hasKey . "storageClassName" }}
storageClassName: {{ .storageClassName | quote }}
{{- end }}
resources:
  requests:
    storage: {{ .size | quote }}
{{- end }}

{{/*
The mounts of a claim in a container, as JSON; the volumes of shared claims. Take one of these claims, or a list of them.
*/}}
{{- define "appservice.claimMounts" -}}
{{- $mounts := list }}
{{- $name := .name }}
{{- range .mounts }}
{{- $mounts = append $mounts (merge (dict "name" $name "mountPath" .path) (omit . "path")) }}
{{- end }}
{{- toJson $mounts }}
{{- end }}
{{- define "appservice.claimVolumes" -}}
{{- $volumes := list }}
{{- range . }}
{{- $volumes = append $volumes (dict "name" .name "persistentVolumeClaim" (dict "claimName" .claimName)) }}
{{- end }}
{{- toJson $volumes }}
{{- end }}

{{/*
Refuses claims that contradict each other, or the rest of the spec.
*/}}
{{- define "appservice.checkClaims" -}}
{{- $taken := dict }}
{{- range .Values.volumes }}{{ $_ := set $taken .name "volumes" }}{{ end }}
{{- if .Values.config.files }}{{ $_ := set $taken "config-files" "config.files" }}{{ end }}
{{- $retained := dict }}
{{- $paths := dict }}
{{- range include "appservice.claims" . | fromJsonArray }}
{{- $claim := . }}
{{- if and (ne .field "persistence") (hasKey $taken .name) }}{{ fail (printf "%s: %s has or makes a volume of this name: rename the claim" .field (get $taken .name)) }}{{ end }}
{{- $_ := set $taken .name .field }}
{{- if and .perReplica (ne (include "appservice.workloadKind" $) "StatefulSet") }}{{ fail (printf "%s.perReplica needs a StatefulSet: set statefulSet to {}, or leave perReplica out" .field) }}{{ end }}
{{- if and $.Values.ttl (not (hasKey . "retain")) }}{{ fail (printf "%s.retain must be set with ttl: false deletes the data with the AppService, true keeps the PersistentVolumeClaim" .field) }}{{ end }}
{{- if .perReplica }}{{ $_ := set $retained (ne (toString .retain) "false" | toString) .field }}{{ end }}
{{- range .mounts }}
{{- if hasKey $paths .path }}{{ fail (printf "%s.mounts has the path of %s, %s: mount one of them elsewhere" $claim.field (get $paths .path) (quote .path)) }}{{ end }}
{{- $_ := set $paths .path $claim.field }}
{{- end }}
{{- end }}
{{- if gt (len $retained) 1 }}{{ fail (printf "%s.retain is false and that of %s is not: Kubernetes keeps or deletes the claims of a replica together, so set both to the same" (get $retained "false") (get $retained "true")) }}{{ end }}
{{- if and .Values.config.files (hasKey $paths .Values.config.mountPath) }}{{ fail (printf "%s has a mount at config.mountPath: mount one of them elsewhere" (get $paths .Values.config.mountPath)) }}{{ end }}
{{- range .Values.volumeMounts }}
{{- if hasKey $paths .mountPath }}{{ fail (printf "volumeMounts has the path of %s, %s: mount one of them elsewhere" (get $paths .mountPath) (quote .mountPath)) }}{{ end }}
{{- end }}
{{- range $field := list "podManagementPolicy" "whenScaled" }}
{{- $said := get (default dict $.Values.statefulSet) $field }}
{{- if and $said (hasKey $.Values.persistence $field) (ne $said (get $.Values.persistence $field)) }}{{ fail (printf "statefulSet.%s and persistence.%s contradict each other: leave one of them out" $field $field) }}{{ end }}
{{- end }}
{{- end }}

{{/*
A field of the StatefulSet, which persistence may say, too. Takes a list: the root, the field, its default.
*/}}
{{- define "appservice.statefulSetField" -}}
{{- $values := (index . 0).Values }}
{{- $field := index . 1 }}
{{- get (default dict $values.statefulSet) $field | default (get $values.persistence $field) | default (index . 2) }}
{{- end }}
