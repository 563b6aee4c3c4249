//go:build cluster

package integration

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	restclient "k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

var errStillThere = errors.New("it is still there")

// permissions are the rights in a ClusterServiceVersion.
type permissions struct {
	Account string              `json:"serviceAccountName"`
	Rules   []rbacv1.PolicyRule `json:"rules"`
}

// subscribe grants a service account in namespace home the rights that OLM would, for the bundle and these target namespaces, none of which means
// all: namespaced rights are a Role in home and in each target, or a ClusterRole if all are served. It returns the cluster with the rights of the
// service account.
func subscribe(t *testing.T, home string, targets []string) *harness.Cluster {
	t.Helper()
	inNamespaces, everywhere := bundled(t)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: inNamespaces.Account}}
	cluster.Create(t, account)

	grantEverywhere(t, account, "cluster", everywhere.Rules)
	if len(targets) == 0 {
		grantEverywhere(t, account, "all", inNamespaces.Rules)
	}
	for _, namespace := range append([]string{home}, targets...) {
		grant(t, account, namespace, inNamespaces.Rules)
	}
	return as(account)
}

// bundled reads the rights in the bundle: those in each served namespace, and cluster-wide ones.
func bundled(t *testing.T) (inNamespaces, everywhere permissions) {
	t.Helper()
	var csv struct {
		Spec struct {
			Install struct {
				Spec struct {
					Permissions        []permissions `json:"permissions"`
					ClusterPermissions []permissions `json:"clusterPermissions"`
				} `json:"spec"`
			} `json:"install"`
		} `json:"spec"`
	}
	text, err := os.ReadFile(filepath.Join(files.Root(t), "bundle/manifests/appservice-operator.clusterserviceversion.yaml"))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &csv))
	asked := csv.Spec.Install.Spec
	if len(asked.Permissions) != 1 || len(asked.ClusterPermissions) != 1 {
		t.Fatalf("the bundle asks for %+v, want rights of one account", asked)
	}
	return asked.Permissions[0], asked.ClusterPermissions[0]
}

// as returns the cluster with the rights of a service account.
func as(account *corev1.ServiceAccount) *harness.Cluster {
	config := restclient.CopyConfig(cluster.Config)
	config.Impersonate = restclient.ImpersonationConfig{
		UserName: "system:serviceaccount:" + account.Namespace + ":" + account.Name,
		Groups:   []string{"system:authenticated", "system:serviceaccounts", "system:serviceaccounts:" + account.Namespace},
	}
	return &harness.Cluster{Cluster: cluster.Cluster, Config: config, Client: cluster.Client}
}

func grant(t *testing.T, account *corev1.ServiceAccount, namespace string, rules []rbacv1.PolicyRule) {
	t.Helper()
	meta := metav1.ObjectMeta{Namespace: namespace, Name: account.Namespace}
	bind(t, &rbacv1.Role{ObjectMeta: meta, Rules: rules}, &rbacv1.RoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: account.Namespace, Name: account.Name}},
	})
}

func grantEverywhere(t *testing.T, account *corev1.ServiceAccount, what string, rules []rbacv1.PolicyRule) {
	t.Helper()
	meta := metav1.ObjectMeta{Name: account.Namespace + "-" + what}
	bind(t, &rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules}, &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: account.Namespace, Name: account.Name}},
	})
}

// bind creates a role and its binding, unless they exist, and deletes cluster-wide ones afterwards.
func bind(t *testing.T, role, binding client.Object) {
	t.Helper()
	for _, object := range []client.Object{role, binding} {
		require.NoError(t, client.IgnoreAlreadyExists(cluster.Client.Create(t.Context(), object)))
		if object.GetNamespace() == "" {
			t.Cleanup(func() { _ = cluster.Client.Delete(context.WithoutCancel(t.Context()), object) })
		}
	}
}
