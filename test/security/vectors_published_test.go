//go:build cluster

package security

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/granted"
	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/tools/kinds"
)

// publishedKinds are the entries of a chart that was written for Helm, testdata/store: of Stores as make kind writes it, of
// OpenStores with all that a spec may ask for.
const publishedKinds = `
- {group: app.example.com, version: v1, kind: Store, chart: test/security/testdata/store, from: published, overrideValues: {token: hunter2},
   renders: [ConfigMap, Deployment.apps, ClusterRole.rbac.authorization.k8s.io, ClusterRoleBinding.rbac.authorization.k8s.io],
   grants: [{apiGroups: [""], resources: [pods], verbs: [get]}]}
- {group: app.example.com, version: v1, kind: OpenStore, chart: test/security/testdata/store, from: published, overrideValues: {token: hunter2}, templatesInSpec: true,
   renders: [ConfigMap, Deployment.apps, ClusterRole.rbac.authorization.k8s.io, ClusterRoleBinding.rbac.authorization.k8s.io, Secret],
   grants: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]}
`

// installPublished installs both kinds, the rights that they take, with escalate and bind, and the policy for their writes.
func installPublished(t *testing.T) {
	t.Helper()
	var resources []schema.GroupResource
	for kind, plural := range map[string]string{"Store": "stores", "OpenStore": "openstores"} {
		cluster.Install(t, harness.WithStatus(harness.AnyCRD(v1.GroupVersion.WithKind(kind), plural)))
		resources = append(resources, schema.GroupResource{Group: v1.GroupVersion.Group, Resource: plural})
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "stores"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{v1.GroupVersion.Group}, Resources: []string{"stores", "openstores", "stores/status", "openstores/status", "stores/finalizers", "openstores/finalizers"}, Verbs: []string{"*"}},
		{APIGroups: []string{rbacv1.GroupName}, Resources: []string{"*"}, Verbs: []string{"*"}},
	}}
	cluster.Create(t, role)
	cluster.Create(t, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "stores"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "stores"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: granted.Namespace, Name: granted.Account}}})
	for _, text := range strings.Split(string(kinds.AdmissionOfPublished(resources...)), "---\n") {
		object := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal([]byte(text), &object.Object))
		install(t, object)
	}
}

// token is a Secret that the API server fills with the token of an account.
const token = `{apiVersion: v1, kind: Secret, metadata: {name: stolen, annotations: {kubernetes.io/service-account.name: db}}, type: kubernetes.io/service-account-token}`

// A spec of a chart that nobody has read for what a spec can make of it.
var _ = register(vectors{
	"a published chart prints a document that stands in a name": publishedVector(`name: "x\n---\n`+token+`\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: last}"`, "is of a kind that is not among renders", hasSecret),
	"a published chart renders further objects":                 publishedVector(`extraObjects: [`+token+`]`, "is of a kind that is not among renders", hasSecret),
	"a published chart renders further objects in a list":       publishedVector(`extraObjects: [{apiVersion: v1, kind: List, items: [`+token+`]}]`, "is of a kind that is not among renders", hasSecret),
	"a published chart grants further rights": publishedVector(`extraRules: [{apiGroups: [""], resources: [secrets], verbs: [get]}]`, "grants rights that are not among grants",
		namedAfterNamespace(func(r *rbacv1.ClusterRole) bool { return len(r.Rules) == 2 })),
	"a published chart adds its rights to those of others": fixedVector(publishedVector(`labels: {rbac.authorization.k8s.io/aggregate-to-view: "true"}`, "must not have rbac.authorization.k8s.io/aggregate-to-view",
		namedAfterNamespace(func(r *rbacv1.ClusterRole) bool {
			return r.Labels["rbac.authorization.k8s.io/aggregate-to-view"] == "true"
		})), "labels that add rights to other roles are those of the chart itself, whatever its entry says"),
	"a published chart binds a role of the cluster": publishedVector(`role: cluster-admin`, "which the chart does not render",
		namedAfterNamespace(func(b *rbacv1.ClusterRoleBinding) bool { return b.RoleRef.Name == "cluster-admin" })),
	"a published chart prints what the platform sets": publishedVector(`title: "{{ .Values.token }}"`, "the chart would execute {{ .Values.token }}",
		func(s *scene) error {
			found := &corev1.ConfigMap{}
			if err := cluster.Client.Get(s.Context(), client.ObjectKeyFromObject(s.app()), found); err != nil {
				return err
			}
			return differ(found.Data["title"] == "hunter2", found.Data)
		}),
	"a published chart reads a Secret that its spec names": askedOfWriters(`existingSecret: db`, "you may not get", func(p *corev1.PodSpec) bool {
		return len(p.Containers[0].EnvFrom) == 1
	}),
	"a published chart runs as an account that its spec names": askedOfWriters(`serviceAccountName: db`, "you may not", func(p *corev1.PodSpec) bool {
		return p.ServiceAccountName == "db"
	}),
})

// mayWriteStores are the rights of a user who may write them, and what their specs may name.
var mayWriteStores = []rbacv1.PolicyRule{
	{APIGroups: []string{v1.GroupVersion.Group}, Resources: []string{"stores", "openstores"}, Verbs: []string{"*"}},
	{APIGroups: []string{""}, Resources: []string{"secrets", "persistentvolumeclaims"}, Verbs: []string{"get"}},
	{APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, Verbs: []string{"impersonate"}},
}

// store has the tenant create a Store with a spec; an OpenStore if guards are off.
func store(spec string) func(*scene) error {
	return func(s *scene) error {
		object := s.appService(s.namespace, "app", "{"+spec+"}")
		object.SetKind("Store")
		if s.off {
			object.SetKind("OpenStore")
		}
		delete(object.Object["spec"].(map[string]any), "size")
		delete(object.Object["spec"].(map[string]any), "image")
		return s.tenant.Create(s.Context(), object)
	}
}

// publishedVector is a vector that the entry in watches.yaml blocks.
func publishedVector(spec, word string, harm func(*scene) error) vector {
	return vector{
		may: mayWriteStores, does: store(spec), harm: harm,
		guard: "the keys renders and grants of the entry, and what the chart says itself",
		seen: func(s *scene) error {
			object := &unstructured.Unstructured{}
			object.SetGroupVersionKind(v1.GroupVersion.WithKind("Store"))
			if err := cluster.Client.Get(s.Context(), client.ObjectKeyFromObject(s.app()), object); err != nil {
				return err
			}
			return refused(object, v1.ReasonInvalidSpec, word)
		},
	}
}

// fixedVector is a vector whose guard has no switch.
func fixedVector(v vector, why string) vector {
	v.fixed = why
	return v
}

// askedOfWriters is a vector of a user who may write Stores, and nothing else.
func askedOfWriters(spec, word string, harm func(*corev1.PodSpec) bool) vector {
	return vector{
		may: mayWriteStores[:1], does: store(spec), words: []string{word},
		guard: "the policies published and references", prepare: withObjects,
		harm: func(s *scene) error {
			found := &appsv1.Deployment{}
			if err := cluster.Client.Get(s.Context(), client.ObjectKeyFromObject(s.app()), found); err != nil {
				return err
			}
			return differ(harm(&found.Spec.Template.Spec), found.Spec.Template.Spec)
		},
	}
}

func hasSecret(s *scene) error {
	return cluster.Client.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: "stolen"}, &corev1.Secret{})
}

// namedAfterNamespace returns nil if the cluster-scoped object of Store app meets a condition.
func namedAfterNamespace[T any, P interface {
	*T
	client.Object
}](holds func(P) bool) func(*scene) error {
	return func(s *scene) error {
		found := P(new(T))
		if err := cluster.Client.Get(s.Context(), client.ObjectKey{Name: s.namespace + "-app"}, found); err != nil {
			return err
		}
		return differ(holds(found), found)
	}
}

// differ returns an error that shows a thing, unless it is as the tenant wants it.
func differ(holds bool, thing any) error {
	if holds {
		return nil
	}
	return fmt.Errorf("it is %v", thing)
}

// refused returns nil if a resource is not ready for a reason, with a word.
func refused(object *unstructured.Unstructured, reason, word string) error {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	if slices.ContainsFunc(conditions, func(entry any) bool {
		condition, _ := entry.(map[string]any)
		return condition["type"] == v1.ConditionReady && condition["status"] == "False" && condition["reason"] == reason &&
			strings.Contains(fmt.Sprint(condition["message"]), word)
	}) {
		return nil
	}
	return fmt.Errorf("it is not refused with %s: %v", reason, conditions)
}
