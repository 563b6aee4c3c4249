//go:build cluster

package security

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/chart/rbac"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// fieldsOfAll refer to something, or create something, each in its own way.
var fieldsOfAll = map[string]string{
	"secrets":                "envFrom: [{secretRef: {name: it}}]",
	"configmaps":             "envFrom: [{configMapRef: {name: it}}]",
	"serviceaccounts":        "serviceAccount: {name: it}",
	"persistentvolumeclaims": "volumes: [{name: a, persistentVolumeClaim: {claimName: it}}]",
	"patches":                "podTemplate: {spec: {volumes: [{name: a, secret: {secretName: it}}]}}",
	"kinds":                  "{ports: [{port: 80}], route: {parentRefs: [{name: a}]}}",
}

// The roles of Kubernetes, and rights on single names, on an API server: which references they permit.
func TestRolesAndReferences(t *testing.T) {
	installAdmission(t)
	rule := func(verb, resource string, names ...string) []rbacv1.PolicyRule {
		return []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{resource}, ResourceNames: names, Verbs: []string{verb}}}
	}
	cases := map[string]struct {
		role string
		may  []rbacv1.PolicyRule
		// takes are the fields that he may use.
		takes []string
	}{
		"AppServices and nothing else": {},
		"view":                         {role: "view", takes: []string{"configmaps", "persistentvolumeclaims"}},
		"edit":                         {role: "edit", takes: []string{"secrets", "patches", "configmaps", "persistentvolumeclaims", "serviceaccounts"}},
		"admin":                        {role: "admin", takes: []string{"secrets", "patches", "configmaps", "persistentvolumeclaims", "serviceaccounts"}},
		"cluster-admin":                {role: "cluster-admin", takes: []string{"secrets", "patches", "configmaps", "persistentvolumeclaims", "serviceaccounts", "kinds"}},
		"one Secret by name":           {may: rule("get", "secrets", "it"), takes: []string{"secrets", "patches"}},
		"another Secret by name":       {may: rule("get", "secrets", "other")},
		"listing Secrets":              {may: rule("list", "secrets")},
		"one account by name":          {may: rule("impersonate", "serviceaccounts", "it"), takes: []string{"serviceaccounts"}},
		"reading accounts":             {may: rule("get", "serviceaccounts")},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &scene{T: t, namespace: newNamespace(t, "on-roles-", nil)}
			s.tenant = newTenant(t, s.namespace, test.may)
			s.has(test.role)
			for field, spec := range fieldsOfAll {
				want := slices.Contains(test.takes, field)
				harness.Eventually(t, fmt.Sprintf("%s: %t", field, want), func() error { // bindings need time to take effect
					err := s.tenant.Create(t.Context(), s.appService(s.namespace, "app", spec), client.DryRunAll)
					if want && err == nil || !want && apierrors.IsForbidden(err) && strings.Contains(err.Error(), "ValidatingAdmissionPolicy") {
						return nil
					}
					return fmt.Errorf("got %w", err)
				})
			}
		})
	}
}

// has binds a role of the cluster to the tenant in his namespace.
func (s *scene) has(role string) {
	s.Helper()
	if role == "" {
		return
	}
	name := "tenant-of-" + s.namespace
	cluster.Create(s.T, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: role}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
	})
}

// A user with minimal rights still operates what an administrator wrote, and so do the operator and the garbage collector.
func TestWhatIsThereIsNobodysConcern(t *testing.T) {
	installAdmission(t)
	startOperator(t)
	s := &scene{T: t, namespace: newNamespace(t, "on-there-", nil)}
	s.tenant = newTenant(t, s.namespace, []rbacv1.PolicyRule{{APIGroups: []string{v1.GroupVersion.Group}, Resources: []string{"appservices/status"}, Verbs: []string{"*"}}})
	withObjects(s)
	s.applied(`{envFrom: [{secretRef: {name: db}}], serviceAccount: {name: db}, podTemplate: {spec: {volumes: [{name: a, secret: {secretName: db}}]}}}`)
	harness.Eventually(t, "it is ready", func() error { return ready(s) })
	for _, patch := range []string{
		`spec: {image: "nginx:1.8.1"}`, `spec: {envs: [{name: A, value: b}]}`, `spec: {envFrom: [{secretRef: {name: db}}, {secretRef: {name: db}}]}`,
		`metadata: {labels: {a: b}}`, `spec: {podTemplate: {spec: {hostname: a}}}`,
	} {
		if err := changes(patch)(s); err != nil {
			t.Errorf("%s: %v", patch, err)
		}
	}
	app := &unstructured.Unstructured{}
	app.SetGroupVersionKind(v1.GroupVersion.WithKind(v1.Kind))
	app.SetNamespace(s.namespace)
	app.SetName("app")
	scale := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":1}}`))
	assert.NoError(t, s.tenant.SubResource("scale").Patch(t.Context(), app, scale), "scaling")
	harness.Eventually(t, "it is ready as changed", func() error { return ready(s) })
	require.NoError(t, s.tenant.Delete(t.Context(), s.app(), client.PropagationPolicy(metav1.DeletePropagationForeground)))
	harness.Eventually(t, "it is gone", func() error {
		err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(s.app()), s.app())
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it is still there (%w)", err)
	})
}

// Each kind that a chart renders is one that the role edit grants, or config/admission/beyond-edit.yaml says which field makes it.
func TestKindsThatEditDoesNotGive(t *testing.T) {
	s := &scene{T: t, namespace: newNamespace(t, "on-kinds-", nil)}
	s.tenant = newTenant(t, s.namespace, nil)
	s.has("edit")
	text, err := os.ReadFile(filepath.Join(files.Root(t), "watches.yaml"))
	require.NoError(t, err)
	served, err := chart.LoadWatches(text, os.DirFS(files.Root(t)))
	require.NoError(t, err)
	policy := string(files.Text(t, "config/admission/beyond-edit.yaml"))
	for _, entry := range served {
		if entry.Is() {
			continue // only those may make one who may write the role's objects, or whom the administrator gives its role
		}
		for _, need := range rbac.OfChart(entry.Chart, nil) {
			declared := strings.Contains(policy, fmt.Sprintf("'group': '%s', 'resource': '%s'", need.Group, need.Resource))
			if given := s.may(need); given == declared {
				t.Errorf("%s renders %s, edit gives it: %t, named in config/admission/beyond-edit.yaml: %t", entry.Kind, need.GroupResource, given, declared)
			}
		}
	}
}

// may reports whether the tenant may create something.
func (s *scene) may(need rbac.Need) bool {
	s.Helper()
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
		Namespace: s.namespace, Verb: "create", Group: need.Group, Resource: need.Resource,
	}}}
	require.NoError(s, as(s, "tenant-of-"+s.namespace).Create(s.Context(), review))
	return review.Status.Allowed
}
