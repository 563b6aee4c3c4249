package kube

import (
	"slices"
	"strings"
)

// No spec may set the labels and annotations of the operator and of Helm, and those that control Kubernetes itself.
// Charts belong to the platform, and may set them.

// reservedPrefixes are those of labels and annotations that the operator and Helm set.
var reservedPrefixes = []string{"app.example.com/", "helm.sh/", "meta.helm.sh/"}

// hashLabels are labels without a prefix that controllers set.
var hashLabels = []string{"pod-template-hash", "controller-revision-hash"}

// kubernetesDomains are the domains, with their subdomains, whose labels belong to Kubernetes.
var kubernetesDomains = []string{"kubernetes.io", "k8s.io"}

// freePrefix is the prefix of their labels that anyone may set.
const freePrefix = "app.kubernetes.io"

// ReservedLabel returns why a spec may not set a label; empty if it may.
func ReservedLabel(key string) string {
	prefix, _, prefixed := strings.Cut(key, "/")
	of := func(domain string) bool { return prefix == domain || strings.HasSuffix(prefix, "."+domain) }
	switch {
	case ReservedAnnotation(key) != "":
		return ReservedAnnotation(key)
	case prefixed && prefix != freePrefix && slices.ContainsFunc(kubernetesDomains, of), slices.Contains(hashLabels, key):
		return "Kubernetes or its controllers set it or act on it: leave it out"
	}
	return ""
}

// ReservedAnnotation returns why a spec may not set an annotation; empty if it may. Those of kubernetes.io are treated
// like others: which of them an object may have depends on the object.
func ReservedAnnotation(key string) string {
	if slices.ContainsFunc(reservedPrefixes, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
		return "the prefix belongs to the operator or Helm: use another"
	}
	return ""
}
