//go:build cluster

package security

import (
	"context"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/test/granted"
	"github.com/example/appservice-operator/test/harness"
)

// The token of a manager that serves only the tenant's namespace: it allows nothing in other namespaces.
var _ = register(vectors{
	"reads another's Secret with the token of a manager that serves his own namespace": {
		prepare: func(s *scene) {
			managerOf(s)
			s.make(s.victim, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "database"}, StringData: map[string]string{"password": "canary"}})
		},
		does: func(s *scene) error {
			return asManager(s).Get(s.Context(), client.ObjectKey{Namespace: s.victim, Name: "database"}, &corev1.Secret{})
		},
		harm: func(s *scene) error {
			return asManager(s).Get(s.Context(), client.ObjectKey{Namespace: s.victim, Name: "database"}, &corev1.Secret{})
		},
		guard: "an installation for some namespaces has Roles there, and no ClusterRole",
		words: []string{`cannot get resource "secrets"`, `in the namespace "VICTIM"`},
		off:   everywhere,
	},
	"runs pods as another's service account with the token of a manager that serves his own namespace": {
		prepare: managerOf,
		does:    func(s *scene) error { return asManager(s).Create(s.Context(), miner(s.victim)) },
		harm:    func(s *scene) error { return of(s, s.victim, "miner", anything[*appsv1.Deployment]) },
		guard:   "an installation for some namespaces has Roles there, and no ClusterRole",
		words:   []string{`cannot create resource "deployments"`, `in the namespace "VICTIM"`},
		off:     everywhere,
	},
	"gives the token of a manager more rights in the namespace that it serves": {
		prepare: managerOf,
		does:    func(s *scene) error { return asManager(s).Create(s.Context(), promotion(s)) },
		harm:    func(s *scene) error { return of(s, s.namespace, "promotion", anything[*rbacv1.RoleBinding]) },
		guard:   "the manager's roles hold nothing of RBAC: neither bindings, nor bind, escalate or impersonate",
		words:   []string{`cannot create resource "rolebindings"`},
		off: func(s *scene) {
			bindManager(s, "binds", []rbacv1.PolicyRule{
				{APIGroups: []string{rbacv1.GroupName}, Resources: []string{"rolebindings"}, Verbs: []string{"create"}},
				{APIGroups: []string{rbacv1.GroupName}, Resources: []string{"clusterroles"}, Verbs: []string{"bind"}},
			})
			may(s, promotion(s))
		},
	},
})

// manager is the account of a manager that serves the tenant's namespace.
func manager(s *scene) rbacv1.Subject {
	return rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: s.namespace, Name: granted.Account}
}

// managerOf grants that account the rights of an installation for some namespaces.
func managerOf(s *scene) {
	shipped, err := granted.WithOptions()
	require.NoError(s, err)
	cluster.Create(s.T, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "manager"}, Rules: shipped.InNamespaces})
	cluster.Create(s.T, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "manager"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "manager"}, Subjects: []rbacv1.Subject{manager(s)},
	})
	harness.Eventually(s.T, "the manager has its rights", func() error {
		return asManager(s).List(s.Context(), &corev1.SecretList{}, client.InNamespace(s.namespace))
	})
}

// everywhere grants it the rights of an installation for all namespaces.
func everywhere(s *scene) {
	shipped, err := granted.WithOptions()
	require.NoError(s, err)
	bindManager(s, "everywhere", shipped.InNamespaces)
	may(s, miner(s.victim))
}

func bindManager(s *scene, what string, rules []rbacv1.PolicyRule) {
	meta := metav1.ObjectMeta{Name: s.namespace + "-" + what}
	for _, object := range []client.Object{
		&rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name}, Subjects: []rbacv1.Subject{manager(s)},
		},
	} {
		cluster.Create(s.T, object)
		s.Cleanup(func() { _ = cluster.Client.Delete(context.WithoutCancel(s.Context()), object) })
	}
}

// may waits until the manager may create an object.
func may(s *scene, object client.Object) {
	harness.Eventually(s.T, "the manager has more rights", func() error {
		return asManager(s).Create(s.Context(), object.DeepCopyObject().(client.Object), client.DryRunAll)
	})
}

func asManager(s *scene) client.Client {
	return as(s, "system:serviceaccount:"+s.namespace+":"+granted.Account, "system:serviceaccounts", "system:serviceaccounts:"+s.namespace)
}

// miner runs as an account of its choice.
func miner(namespace string) *appsv1.Deployment {
	labels := map[string]string{"app": "miner"}
	size := int32(0)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "miner"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &size, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{ServiceAccountName: "admin", Containers: []corev1.Container{{Name: "app", Image: "miner:1"}}},
			},
		},
	}
}

func promotion(s *scene) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "promotion"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"}, Subjects: []rbacv1.Subject{manager(s)},
	}
}
