package v1_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestReservedKeys holds what is reserved to what the chart, Helm, the operator and controllers set themselves, and to labels that tell Kubernetes
// what to do: everything else is the user's, the rest of app.kubernetes.io/ included.
func TestReservedKeys(t *testing.T) {
	fields := map[string]string{ // specs by the field that holds the key
		"spec.podLabels":         `{image: a, podLabels: {"%s": b}}`,
		"spec.podAnnotations":    `{image: a, podAnnotations: {"%s": b}}`,
		"spec.commonLabels":      `{image: a, commonLabels: {"%s": b}}`,
		"spec.monitoring.labels": `{image: a, ports: [{port: 1}], monitoring: {enabled: true, labels: {"%s": b}}}`,

		"spec.podTemplate.metadata.labels":      `{image: a, podTemplate: {metadata: {labels: {"%s": b}}}}`,
		"spec.podTemplate.metadata.annotations": `{image: a, podTemplate: {metadata: {annotations: {"%s": b}}}}`,
		"spec.service.annotations":              `{image: a, ports: [{port: 1}], service: {annotations: {"%s": b}}}`,
		"spec.ingress.annotations":              `{image: a, ports: [{port: 1}], ingress: {hosts: [{host: a.example.com}], annotations: {"%s": b}}}`,
		"spec.serviceAccount.annotations":       `{image: a, serviceAccount: {annotations: {"%s": b}}}`,
	}
	const objects, monitors = "spec.commonLabels", "spec.monitoring.labels"
	pods := []string{"spec.podLabels", "spec.podTemplate.metadata.labels"}
	labels := append([]string{objects, monitors}, pods...)
	var all []string
	for field := range fields {
		all = append(all, field)
	}
	tests := map[string][]string{ // the fields that refuse a key
		"app.kubernetes.io/component":                    nil,
		"app.kubernetes.io/part-of":                      nil,
		"app.kubernetes.io/version":                      nil,
		"app.kubernetes.io/name-of-mine":                 nil,
		"team":                                           nil,
		"prometheus.io/scrape":                           nil,
		"nginx.ingress.kubernetes.io/rewrite-target":     labels,
		"cluster-autoscaler.kubernetes.io/safe-to-evict": labels,
		"kueue.x-k8s.io/queue-name":                      nil,
		"app.kubernetes.io/name":                         labels,
		"app.kubernetes.io/instance":                     labels,
		"app.kubernetes.io/managed-by":                   {objects, monitors},
		"app.example.com/managed":                        all,
		"app.example.com/retained-for":                   all,
		"helm.sh/resource-policy":                        all,
		"meta.helm.sh/release-name":                      all,
		"pod-template-hash":                              append([]string{objects}, pods...),
		"controller-revision-hash":                       append([]string{objects}, pods...),
		"apps.kubernetes.io/pod-index":                   labels,
		"statefulset.kubernetes.io/pod-name":             labels,
		"batch.kubernetes.io/job-name":                   labels,
		"pod-security.kubernetes.io/enforce":             labels,
		"service.kubernetes.io/service-proxy-name":       labels,
		"kubernetes.io/cluster-service":                  labels,
		"rbac.authorization.k8s.io/aggregate-to-admin":   labels,
		"k8s.io/x": labels,
	}
	a := newAdmission(t)
	for key, refusedBy := range tests {
		for field, spec := range fields {
			t.Run(key+" in "+field, func(t *testing.T) {
				_, _, err := a.admit(t, named(t, "web", fmt.Sprintf(spec, key)))
				switch refused := slices.Contains(refusedBy, field); {
				case refused != (err != nil):
					t.Errorf("got error %v, want it refused: %t", err, refused)
				case refused && !strings.Contains(err.Error(), field+": key "+key+" is reserved") &&
					!strings.Contains(err.Error(), field+" must not have keys"):
					t.Errorf("the error does not name the field: %v", err)
				}
			})
		}
	}
}
