package policy

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// affinity refuses required terms about pods of other namespaces: anti-affinity keeps these pods from being scheduled
// wherever this one is, and affinity finds out where they are.
func (c *check) affinity(affinity *corev1.Affinity) {
	if affinity == nil || *c.CrossNamespaceAffinity {
		return
	}
	if pods := affinity.PodAffinity; pods != nil {
		c.terms("podAffinity", pods.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	if pods := affinity.PodAntiAffinity; pods != nil {
		c.terms("podAntiAffinity", pods.RequiredDuringSchedulingIgnoredDuringExecution)
	}
}

func (c *check) terms(of string, terms []corev1.PodAffinityTerm) {
	elsewhere := func(namespace string) bool { return namespace != c.object.GetNamespace() }
	for i := range terms {
		path := fmt.Sprintf("affinity.%s.requiredDuringSchedulingIgnoredDuringExecution[%d]", of, i)
		if field := ".namespaceSelector"; terms[i].NamespaceSelector != nil {
			c.refuse(path+field, "", "crossNamespaceAffinity", "is false: leave it out", true)
		}
		if other := slices.IndexFunc(terms[i].Namespaces, elsewhere); other >= 0 {
			c.refuse(path+".namespaces", terms[i].Namespaces[other], "crossNamespaceAffinity", "is false: leave it out", true)
		}
	}
}
