// Package reserved owns which labels and annotations no spec may set: those of the operator and of Helm, and those
// that control Kubernetes itself. Charts belong to the platform, and may set them.
package reserved

import (
	"slices"
	"strings"
)

// The prefixes of labels and annotations that the operator and Helm set.
var ours = []string{"app.example.com/", "helm.sh/", "meta.helm.sh/"}

// hashes are labels without a prefix that controllers set.
var hashes = []string{"pod-template-hash", "controller-revision-hash"}

// domains are the domains, with their subdomains, whose labels belong to Kubernetes.
var domains = []string{"kubernetes.io", "k8s.io"}

// free is the prefix of their labels that anyone may set.
const free = "app.kubernetes.io"

// Label returns why a spec may not set a label; empty if it may.
func Label(key string) string {
	prefix, _, prefixed := strings.Cut(key, "/")
	of := func(domain string) bool { return prefix == domain || strings.HasSuffix(prefix, "."+domain) }
	switch {
	case Annotation(key) != "":
		return Annotation(key)
	case prefixed && prefix != free && slices.ContainsFunc(domains, of), slices.Contains(hashes, key):
		return "Kubernetes and its controllers set it, or do something because of it: leave it out"
	}
	return ""
}

// Annotation returns why a spec may not set an annotation; empty if it may. Those of kubernetes.io are treated like others: which of
// them an object may have depends on the object.
func Annotation(key string) string {
	if slices.ContainsFunc(ours, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
		return "its prefix is the operator's or Helm's: take another"
	}
	return ""
}
