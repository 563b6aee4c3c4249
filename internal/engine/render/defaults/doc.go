// Package defaults owns the platform's defaults beneath the specs of a kind: defaultValues of watches.yaml and, over
// them, the ConfigMap appservice-defaults of a namespace, limited by a list of fields that it may set. A layer is read,
// checked against that list, and laid beneath a spec: maps merge, everything else in the spec is unchanged. The package
// reads no cluster, and remembers nothing: the same layers and the same spec make the same values. Whether values fit a
// chart is checked by its renderer.
package defaults
