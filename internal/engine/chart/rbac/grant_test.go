package rbac

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/example/appservice-operator/api/v1"
)

func TestARoleThatGrantsMoreThanTheOperatorMay(t *testing.T) {
	const rules = `user "system:serviceaccount:a:b" (groups=["system:serviceaccounts"]) is attempting to grant RBAC permissions not currently held:
{APIGroups:[""], Resources:["nodes"], Verbs:["list" "watch"]}
{APIGroups:["apps"], Resources:["deployments"], ResourceNames:["a"], Verbs:["get"]}`
	refused := func(resource, message string) error {
		return apierrors.NewForbidden(schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: resource}, "web", errors.New(message))
	}
	for name, test := range map[string]struct {
		err           error
		message, hint string // empty for none
	}{
		"a role": {refused("clusterroles", rules),
			`clusterroles "web": the operator is attempting to grant RBAC permissions not currently held: {APIGroups:[""], Resources:["nodes"], Verbs:["list" "watch"]} and 1 more`,
			`ask the platform team to add these rules to the operator's role (config/rbac/role.yaml, config/rbac/cluster_role.yaml): {APIGroups:[""], Resources:["nodes"], Verbs:["list" "watch"]} {APIGroups:["apps"], Resources:["deployments"], ResourceNames:["a"], Verbs:["get"]}. The verb escalate on the role would do, too, but lets whoever writes the chart grant any right`},
		"a binding":        {refused("rolebindings", rules), "rolebindings", "The verb bind on the role"},
		"another refusal":  {refused("clusterroles", "no"), "", ""},
		"another error":    {errors.New(granting), "", ""},
		"a right to write": {refused("roles", `User "a" cannot create resource "roles" in API group "rbac.authorization.k8s.io"`), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			found, is := errors.AsType[*GrantError](Explain(test.err, &chart.Chart{}, "", nil))
			require.Equal(t, test.message != "", is)
			if is {
				require.Equal(t, v1.ReasonMissingRights, found.Reason())
				require.Contains(t, found.Error(), test.message)
				require.Contains(t, found.Hint(), test.hint)
				require.ErrorIs(t, found, test.err)
			}
		})
	}
}
