package packaging

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The policy for the operator's own writes knows its account by the end of its name, whichever way it is installed.
func TestThePolicyKnowsTheOperatorsAccount(t *testing.T) {
	bundled := &unstructured.Unstructured{Object: object{"kind": "ServiceAccount"}}
	bundled.SetName(at[list](t, csv(t).Object, "spec", "install", "spec", "clusterPermissions")[0].(object)["serviceAccountName"].(string))
	installed := map[string]map[string]*unstructured.Unstructured{
		"kustomize": byName(slices.Concat(kustomize(t, "default"), kustomize(t, "admission"))),
		"OLM":       byName(append(kustomize(t, "admission"), bundled)),
	}
	for _, release := range []string{"appservice-operator", "shop", "production-of-the-shop", "shard-3-appservice-operator"} {
		objects, err := renderedAs(t, release, nil)
		require.NoError(t, err)
		installed["release "+release] = objects
	}
	suffix := regexp.MustCompile(`endsWith\('([^']+)'\)`)
	for name, objects := range installed {
		t.Run(name, func(t *testing.T) {
			var account, known string
			for _, o := range objects {
				switch {
				case o.GetKind() == "ServiceAccount":
					account = o.GetName()
				case o.GetKind() == "ValidatingAdmissionPolicy" && strings.HasSuffix(o.GetName(), "-own-writes"):
					condition := at[list](t, o.Object, "spec", "matchConditions")[0].(object)
					known = suffix.FindStringSubmatch(condition["expression"].(string))[1]
				}
			}
			if known == "" || !strings.HasSuffix(account, known) {
				t.Errorf("the account is %q, and the policy knows those that end with %q", account, known)
			}
		})
	}
}
