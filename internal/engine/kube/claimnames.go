package kube

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ClaimPrefixes returns what precedes the ordinal in the names of the claims that the controller of a workload creates
// from its templates. The names of two workloads may be the same: "data-db" of "x" and "data" of "db-x".
func ClaimPrefixes(object client.Object) (prefixes []string) {
	path := TraitsOf(object.GetObjectKind().GroupVersionKind().GroupKind()).Claims
	if path == nil || IsOutline(object) {
		return nil
	}
	content, _ := Content(object)
	templates, _, _ := unstructured.NestedFieldNoCopy(content, path...)
	items, _ := templates.([]any)
	for _, item := range items {
		if template, ok := item.(map[string]any); ok {
			name, _, _ := unstructured.NestedString(template, "metadata", "name")
			prefixes = append(prefixes, name+"-"+object.GetName()+"-")
		}
	}
	return prefixes
}

// CutOrdinal splits the name of a claim of a replica before its ordinal.
func CutOrdinal(name string) (prefix string, ordinal int64, ok bool) {
	at := strings.LastIndex(name, "-") + 1
	n, err := strconv.ParseUint(name[at:], 10, 31)
	return name[:at], int64(n), err == nil && at > 0
}
