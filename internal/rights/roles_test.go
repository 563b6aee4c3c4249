package rights

import (
	"cmp"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/watches"
)

const root = "../.."

// shipped are the roles of config/rbac.
func shipped(t *testing.T) Roles {
	t.Helper()
	return Roles{InNamespaces: rules(t, RoleFile), Everywhere: rules(t, ClusterRoleFile)}
}

func rules(t *testing.T, file string) []rbacv1.PolicyRule {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.ClusterRole{}
	if err := yaml.UnmarshalStrict(text, role); err != nil {
		t.Fatal(err)
	}
	return role.Rules
}

// builtIn reports of the kinds of Kubernetes which of them live outside of namespaces: client-go's functions for these take no namespace.
// Other kinds are taken to live in one.
func builtIn(kind schema.GroupVersionKind) bool {
	group, _, _ := strings.Cut(cmp.Or(kind.Group, "core"), ".")
	clients, found := reflect.TypeFor[kubernetes.Interface]().MethodByName(capital(group) + capital(kind.Version))
	if !found {
		return false
	}
	of := clients.Type.Out(0)
	for i := range of.NumMethod() {
		if method := of.Method(i); strings.ToLower(method.Name) == resourceOf(kind).Resource {
			return method.Type.NumIn() == 0
		}
	}
	return false
}

func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

func TestBuiltIn(t *testing.T) {
	for kind, want := range map[schema.GroupVersionKind]bool{
		{Version: "v1", Kind: "ConfigMap"}:                                                           false,
		{Version: "v1", Kind: "Namespace"}:                                                           true,
		{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"}:                           false,
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"}:                     true,
		{Group: "storage.k8s.io", Version: "v1", Kind: "VolumeAttributesClass"}:                      true,
		{Group: "monitoring.coreos.com", Version: "v1", Kind: "ServiceMonitor"}:                      false,
		{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}:                       false,
		{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingWebhookConfiguration"}: true,
	} {
		if got := builtIn(kind); got != want {
			t.Errorf("%s outside of namespaces: got %t", kind, got)
		}
	}
}

// TestTheRolesHoldWhatTheChartsNeed: a right that is forgotten is found here, and in make bundle, in the words that a status would have.
func TestTheRolesHoldWhatTheChartsNeed(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "watches.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := watches.Load(text, os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	roles := shipped(t)
	for _, entry := range list {
		needs := OfChart(entry.Chart, builtIn)
		finalizer := slices.ContainsFunc(needs, func(need Need) bool { return need.ClusterScoped })
		for _, missing := range roles.Missing(append(needs, OfKind(entry.GroupVersionKind, finalizer)...)...) {
			t.Errorf("%s: %v", entry.ChartPath, missing)
		}
	}
}

func TestMissing(t *testing.T) {
	rule := func(group, resource string, verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
	}
	all := OfChart(example(), outsideOfNamespaces)
	whole := Roles{
		InNamespaces: []rbacv1.PolicyRule{rule("batch", "cronjobs", ToRender...)},
		Everywhere:   []rbacv1.PolicyRule{rule("rbac.authorization.k8s.io", "clusterroles", ToRender...)},
	}
	const (
		cronJob     = `cronjobs of API group "batch", which templates/cronjob.yaml renders: add get, list, watch, create, patch, delete for it to config/rbac/role.yaml`
		clusterRole = `clusterroles of API group "rbac.authorization.k8s.io", which templates/role.yaml renders: ` +
			`add get, list, watch, create, patch, delete for it to config/rbac/cluster_role.yaml`
	)
	cases := map[string]struct {
		roles Roles
		needs []Need
		want  []string
	}{
		"all are there": {whole, all, nil},
		"one role for both does not do where the kind lives outside of namespaces": {
			Roles{InNamespaces: slices.Concat(whole.InNamespaces, whole.Everywhere)}, all,
			[]string{"the operator may not get, list, watch, create, patch and delete " + clusterRole},
		},
		"the role of the cluster does for a kind in namespaces": {Roles{Everywhere: slices.Concat(whole.InNamespaces, whole.Everywhere)}, all, nil},
		"a kind is forgotten": {
			Roles{Everywhere: whole.Everywhere}, all, []string{"the operator may not get, list, watch, create, patch and delete " + cronJob},
		},
		"a verb is forgotten": {
			Roles{InNamespaces: []rbacv1.PolicyRule{rule("batch", "cronjobs", "get", "list", "watch", "create", "patch")}, Everywhere: whole.Everywhere}, all,
			[]string{"the operator may not delete " + cronJob},
		},
		"two rules make one right": {
			Roles{InNamespaces: []rbacv1.PolicyRule{rule("batch", "cronjobs", "get", "list", "watch"), rule("batch", "cronjobs", "create", "patch", "delete")},
				Everywhere: whole.Everywhere}, all, nil,
		},
		"a rule is for some names only": {
			Roles{InNamespaces: []rbacv1.PolicyRule{{
				APIGroups: []string{"batch"}, Resources: []string{"cronjobs"}, ResourceNames: []string{"web"}, Verbs: ToRender,
			}}, Everywhere: whole.Everywhere}, all,
			[]string{"the operator may not get, list, watch, create, patch and delete " + cronJob},
		},
		"of a kind of watches.yaml": {
			Roles{InNamespaces: []rbacv1.PolicyRule{rule("example.com", "widgets", "get", "list", "watch")}},
			OfKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}, true),
			[]string{
				`the operator may not patch widgets of API group "example.com", of the kind Widget of watches.yaml: add get, list, watch, patch for it to config/rbac/role.yaml`,
				`the operator may not patch widgets/status of API group "example.com", of the kind Widget of watches.yaml: add patch for it to config/rbac/role.yaml`,
				`the operator may not update widgets/finalizers of API group "example.com", of the kind Widget of watches.yaml: add update for it to config/rbac/role.yaml`,
			},
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, err := range test.roles.Missing(test.needs...) {
				got = append(got, err.Error())
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}
