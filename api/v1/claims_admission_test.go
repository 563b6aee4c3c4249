package v1_test

import (
	"strings"
	"testing"
)

func TestTheEdgesOfClaims(t *testing.T) {
	const number, keys = "spec.claims[].name must not end with a number unless perReplica is true", "annotations must not have keys of app.example.com/"
	tests := map[string]edge{
		"a name with a number":           {`claims: [{name: web-5a, size: 1Gi}]`, `claims: [{name: web-5, size: 1Gi}]`, number},
		"a number":                       {`statefulSet: {}, claims: [{name: "5", size: 1Gi, perReplica: true}]`, `claims: [{name: "5", size: 1Gi}]`, number},
		"a number for each replica":      {`statefulSet: {}, claims: [{name: a-0, size: 1Gi, perReplica: true}]`, `claims: [{name: a-0, size: 1Gi, perReplica: false}]`, number},
		"one of each name":               {`claims: [{name: a, size: 1Gi}, {name: b, size: 1Gi}]`, `claims: [{name: a, size: 1Gi}, {name: a, size: 1Gi}]`, "Duplicate"},
		"eight":                          {claimList(8), claimList(9), "8"},
		"a relative path":                {`claims: [{name: a, size: 1Gi, mounts: [{path: /a}]}]`, `claims: [{name: a, size: 1Gi, mounts: [{path: a}]}]`, "path"},
		"an annotation of the operator":  {`claims: [{name: a, size: 1Gi, annotations: {example.com/a: b}}]`, `claims: [{name: a, size: 1Gi, annotations: {app.example.com/retained-for: b}}]`, "spec.claims[]." + keys},
		"an annotation of Helm":          {`persistence: {size: 1Gi, mountPath: /a, annotations: {a: b}}`, `persistence: {size: 1Gi, mountPath: /a, annotations: {helm.sh/resource-policy: keep}}`, "spec.persistence." + keys},
		"an annotation of Kubernetes":    {`claims: [{name: a, size: 1Gi, annotations: {kubernetes: b}}]`, `claims: [{name: a, size: 1Gi, annotations: {volume.beta.kubernetes.io/storage-class: b}}]`, keys},
		"a StatefulSet of another order": {`statefulSet: {podManagementPolicy: Parallel}`, `statefulSet: {podManagementPolicy: Random}`, "podManagementPolicy"},
		"the name of a Service":          {`statefulSet: {serviceName: a}`, `statefulSet: {serviceName: a.b}`, "serviceName"},
	}
	testEdges(t, tests)
}

// claimList is a list of some claims.
func claimList(count int) string {
	entries := make([]string, 0, count)
	for i := range count {
		entries = append(entries, "{name: "+strings.Repeat("a", i+1)+", size: 1Gi}")
	}
	return "claims: [" + strings.Join(entries, ", ") + "]"
}
