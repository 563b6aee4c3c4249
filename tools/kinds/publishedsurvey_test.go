package kinds

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	claimOf = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: {{ .Release.Name }}}\n"
	bucket  = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: pails.example.com}\n" +
		"spec: {group: example.com, scope: Cluster, names: {kind: Bucket, plural: pails}, versions: [{name: v1}]}\n"
)

// surveyed is what renderings of a chart of templates show.
func surveyed(t *testing.T, names []string, files map[string]string) *survey {
	t.Helper()
	s, err := look(chartOf(t, files), names)
	require.NoError(t, err)
	return s
}

// listed are kinds, and the values that they take.
func listed(s *survey) (list []string) {
	for _, kind := range s.kinds {
		list = append(list, strings.TrimSuffix(kind.what+" with "+kind.with, " with "))
	}
	return list
}

func TestWhichKindsAChartRenders(t *testing.T) {
	s := surveyed(t, nil, map[string]string{
		"values.yaml": "plain: true\npersistence: {enabled: false}\nboth: {enabled: false, more: {enabled: false}}\ncrds: {install: false}\nbroken: false\nport: 80\nsub: {enabled: false}\n",
		"Chart.yaml":  "{apiVersion: v2, name: web, version: 1.0.0, dependencies: [{name: sub, version: 1.0.0, condition: sub.enabled}]}",
		"templates/all.yaml": `{{ if .Values.broken }}{{ fail "no" }}{{ end }}
apiVersion: v1
kind: List
items: [{apiVersion: v1, kind: Service, metadata: {name: a}}]
---
{{- if .Values.plain }}
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
{{- else }}
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: a}
{{- end }}
---
apiVersion: v1
kind: Pod
metadata: {name: test, annotations: {helm.sh/hook: test}}
---
apiVersion: v1
kind: Secret
metadata: {name: gone, annotations: {helm.sh/hook: "pre-delete,post-delete"}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, annotations: {helm.sh/hook: "pre-install,pre-upgrade"}}
{{- if .Capabilities.APIVersions.Has "example.com/v1/Bucket" }}
---
apiVersion: example.com/v1
kind: Bucket
metadata: {name: a}
{{- end }}`,
		"templates/claim.yaml":          "{{ if .Values.persistence.enabled }}\n" + claimOf + "{{ end }}",
		"templates/both.yaml":           "{{ if and .Values.both.enabled .Values.both.more.enabled }}\napiVersion: v1\nkind: Secret\nmetadata: {name: a}\n{{ end }}",
		"templates/crd.yaml":            "{{ if .Values.crds.install }}\n" + strings.NewReplacer("pails.example.com}", "mugs.example.com, labels: {of: {{ .Release.Name }}, is: kind}}", "pails", "mugs", "Bucket", "Mug").Replace(bucket) + "{{ end }}",
		"templates/NOTES.txt":           "kind: Nothing",
		"crds/bucket.yaml":              bucket,
		"charts/sub/Chart.yaml":         "{apiVersion: v2, name: sub, version: 1.0.0}",
		"charts/sub/templates/cfg.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
	})
	require.NoError(t, s.failed)
	assert.Equal(t, []string{
		"Service", "Deployment.apps", "Job.batch", "Bucket.example.com",
		"PersistentVolumeClaim with persistence.enabled: true", "StatefulSet.apps with plain: false", "ConfigMap with sub.enabled: true",
	}, slices.SortedStableFunc(slices.Values(listed(s)), func(a, b string) int { return strings.Count(a, " with") - strings.Count(b, " with") }))
	text, err := s.definitions()
	require.NoError(t, err)
	for _, part := range []string{"kind: Bucket\n", "kind: Mug\n", "is: kind\n"} {
		assert.Contains(t, text, part)
	}
	assert.NotContains(t, text, anyName)
}

const roles = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: {{ .Release.Name }}-all}
rules:
- {apiGroups: [""], resources: [pods], verbs: [list, get]}
- {apiGroups: [coordination.k8s.io], resources: [leases], resourceNames: [{{ .Release.Name }}-leader], verbs: [update]}
- {apiGroups: [""], resources: [secrets], resourceNames: [fixed], verbs: [get]}
{{- if .Values.all }}
- {apiGroups: ["*"], resources: ["*"], verbs: ["*"]}
{{- end }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: one}
rules: [{apiGroups: [""], resources: [pods], verbs: [watch]}]
{{- range $kind, $name := dict "ClusterRole" "system:auth-delegator" "Role" "one" }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: {{ $name | replace ":" "-" }}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: {{ $kind }}, name: "{{ $name }}"}
{{- end }}
`

func TestWhatAChartGrants(t *testing.T) {
	const (
		pods   = "- apiGroups: [\"\"]\n  resources: [pods]\n  verbs: [get, list, watch]\n"
		secret = "- apiGroups: [\"\"]\n  resources: [secrets]\n  resourceNames: [fixed]\n  verbs: [get]\n"
		bind   = "- apiGroups: [rbac.authorization.k8s.io]\n  resources: [clusterroles]\n  resourceNames: [\"system:auth-delegator\"]\n  verbs: [bind]\n"
		all    = "- apiGroups: [\"*\"]\n  resources: [\"*\"]\n  verbs: [\"*\"]\n"
	)
	lease := func(names string) string {
		return "- apiGroups: [coordination.k8s.io]\n  resources: [leases]\n" + names + "  verbs: [update]\n"
	}
	for name, test := range map[string]struct {
		names   []string
		values  string
		want    []string
		unnamed []string
	}{
		"whatever the resource is called": {nil, "all: false", []string{pods, lease(""), secret, bind, "# with all: true", all}, []string{"ClusterRole NAME-all"}},
		"for two names": {[]string{"a", "b"}, "all: false", []string{
			pods, lease("  resourceNames: [a-leader, b-leader]\n"), secret, bind, all,
			"  resources: [clusterroles]\n  resourceNames: [a-all, b-all]\n  verbs: [bind, escalate]\n"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := surveyed(t, test.names, map[string]string{"values.yaml": test.values, "templates/roles.yaml": roles})
			require.NoError(t, s.failed)
			entry := kind{Group: "app.example.com", Version: "v1", Kind: "Web", Chart: "helm-charts/web"}.published(s)
			for _, part := range test.want {
				part = strings.ReplaceAll(strings.TrimSuffix(part, "\n"), "\n", "\n  ")
				if !strings.Contains(entry, part) {
					t.Errorf("it lacks\n%s\nin\n%s", part, entry)
				}
			}
			assert.Equal(t, test.unnamed, s.unnamed)
		})
	}
}

func TestAChartThatRequiresValues(t *testing.T) {
	s := surveyed(t, nil, map[string]string{"values.yaml": "host: ''", "templates/claim.yaml": `{{ required "give a host" .Values.host }}` + "\n---\n" + claimOf})
	assert.ErrorContains(t, s.failed, "give a host")
	assert.Equal(t, []string{"PersistentVolumeClaim with values of your own"}, listed(s))
	s = surveyed(t, nil, map[string]string{"values.yaml": "claims: []", "templates/claim.yaml": "{{ range .Values.claims }}\n" + claimOf + "{{ end }}"})
	require.NoError(t, s.failed)
	assert.Equal(t, []string{"PersistentVolumeClaim with values of your own"}, listed(s))
}
