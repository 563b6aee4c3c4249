package granted

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
)

const log = `{"verb":"list","requestURI":"/api/v1/namespaces/a/secrets","objectRef":{"resource":"secrets"},"responseStatus":{"code":200},"annotations":{"authorization.k8s.io/decision":"allow"}}
{"verb":"get","requestURI":"/apis","responseStatus":{"code":200},"annotations":{"authorization.k8s.io/decision":"allow"}}
{"verb":"patch","requestURI":"/a","objectRef":{"apiGroup":"apps","resource":"deployments"},"responseStatus":{"code":201},"annotations":{"authorization.k8s.io/decision":"allow"}}
{"verb":"patch","requestURI":"/b","objectRef":{"apiGroup":"app.example.com","resource":"appservices","subresource":"status"},"responseStatus":{"code":200}}
{"verb":"patch","requestURI":"/c","objectRef":{"resource":"services"},"responseStatus":{"code":403,"message":"services \"web\" is forbidden: exceeded quota: few"},"annotations":{"authorization.k8s.io/decision":"allow"}}
{"verb":"watch","requestURI":"/d","objectRef":{"resource":"pods"},"responseStatus":{"code":403},"annotations":{"authorization.k8s.io/decision":"forbid"}}
{"verb":"patch","requestURI":"/e","objectRef":{"resource":"configmaps"},"responseStatus":{"code":403,"message":"User \"x\" cannot create resource \"configmaps\" in API group \"\""},"annotations":{"authorization.k8s.io/decision":"allow"}}
{"verb":"patch","requestURI":"/f","objectRef":{"resource":"secrets"},"responseStatus":{"code":403,"message":"cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on"}}
{"verb":"patch","requestURI":"/g","objectRef":{"resource":"services"},"responseStatus":{"code":200},"annotations":{"validation.policy.admission.k8s.io/validation_failure":"[not its own]"}}
{"verb":"delete","not yet whole`

func TestRead(t *testing.T) {
	use, err := Read(strings.NewReader(log))
	require.NoError(t, err)
	used := fmt.Sprint(sorted(use.Used))
	if want := "[patch appservices/status.app.example.com create deployments.apps patch deployments.apps list secrets patch services]"; used != want {
		t.Errorf("used are %s, want %s", used, want)
	}
	forbidden := strings.Join(use.Forbidden, ", ")
	if want := "watch pods (/d), patch configmaps (/e), patch secrets (/f)"; forbidden != want {
		t.Errorf("forbidden were %s, want %s", forbidden, want)
	}
	if foreign := strings.Join(use.Foreign, ", "); foreign != "patch services (/g): [not its own]" {
		t.Errorf("noticed were %s", foreign)
	}
	granted := All([]rbacv1.PolicyRule{{APIGroups: []string{"", "apps"}, Resources: []string{"services"}, Verbs: []string{"patch", "delete"}}})
	if unused := fmt.Sprint(use.Unused(granted)); unused != "[delete services delete services.apps patch services.apps]" {
		t.Errorf("unused are %s", unused)
	}
	if _, err := Read(strings.NewReader("no JSON\n")); err == nil {
		t.Error("a log that is none is read")
	}
}

// The rights of the operator are in generated files: no wildcard comes into them, and nothing by which it could get further rights.
func TestWhatIsGranted(t *testing.T) {
	plain, err := Plain()
	require.NoError(t, err)
	whole, err := WithOptions()
	require.NoError(t, err)
	all := All(whole.InNamespaces, whole.Everywhere, whole.Leading, whole.Metrics)
	for _, right := range all {
		if strings.Contains(right.String(), "*") || slices.Contains([]string{"escalate", "bind", "impersonate", "deletecollection"}, right.Verb) ||
			right.Group == rbacv1.GroupName || strings.HasPrefix(right.Resource, "pods/") || strings.HasSuffix(right.Resource, "/token") {
			t.Errorf("the operator may %s", right)
		}
	}
	optional := len(all) - len(All(plain.InNamespaces, plain.Everywhere, plain.Leading, plain.Metrics))
	// HTTPRoutes, GRPCRoutes, ListenerSets, ScaledObjects, ServiceMonitors by six verbs each, Gateways by three, Certificates by one
	if optional != 34 {
		t.Errorf("%d rights are optional, want 34", optional)
	}
	for _, right := range All(plain.InNamespaces, plain.Everywhere) {
		if first, _, _ := strings.Cut(right.Group, "."); slices.Contains([]string{"gateway", "keda", "monitoring", "cert-manager"}, first) {
			t.Errorf("who asks for no option may %s", right)
		}
	}
}
