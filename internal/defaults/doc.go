// Package defaults owns what a platform says beneath the specs of a kind: defaultValues of watches.yaml and, over that, the ConfigMap
// appservice-defaults of a namespace, of which a list says what it may set. A layer is read, held against that list, and laid beneath a spec: maps
// merge, everything else of the spec stays as it is. The package reads no cluster, and remembers nothing: the same layers and
// the same spec make the same values. Whether values fit a chart, its renderer knows.
package defaults
