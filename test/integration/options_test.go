//go:build cluster

package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/granted"
	"github.com/example/appservice-operator/test/harness"
)

// An operator that serves one namespace has a Role there and nothing else: no ClusterRole, and no option. It serves what needs none. Users
// of an option get a message with the name under which an installation sets it.
func TestNoClusterRoleAndNoOption(t *testing.T) {
	t.Parallel()
	withForeignKinds(t)
	plain, err := granted.Plain()
	require.NoError(t, err)
	account := newAccount(t)
	account.set(t, plain.InNamespaces)
	process := account.run(t)
	process.isReady(t)

	app, monitored := harness.Seed(account.Namespace, "plain"), harness.Seed(account.Namespace, "monitored")
	app.Spec.Ingress = &v1.Ingress{Hosts: []v1.IngressHost{{Host: account.Namespace + ".example.com"}}}
	monitored.Spec.Ports[0].NodePort = nil
	monitored.Spec.Monitoring = &v1.Monitoring{Enabled: true}
	cluster.Create(t, app)
	cluster.Create(t, monitored)
	harness.Eventually(t, "all but what the option is for is written", func() error {
		return cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(app), &networkingv1.Ingress{})
	})
	staysAsItsSpecSays(t, app)
	harness.Eventually(t, "the missing option is named", func() error {
		condition, err := cluster.ConditionNow(t.Context(), monitored, v1.ConditionReady)
		if err != nil {
			return err
		}
		want := `which templates/servicemonitor.yaml renders: install the operator with the right monitoring (config/rights/monitoring)`
		if condition.Reason != v1.ReasonMissingRights || !strings.HasSuffix(condition.Message, want) {
			return fmt.Errorf("Ready is %s %s: %s", condition.Status, condition.Reason, condition.Message)
		}
		return nil
	})
	process.ends(t)
}

// The admission plugin OwnerReferencesPermissionEnforcement, which test clusters run, requires the right to set finalizers for owner references
// that block a deletion.
func TestAnOwnerReferenceNeedsARight(t *testing.T) {
	t.Parallel()
	account := newAccount(t)
	account.allow(t, "appservices/finalizers")
	process := account.run(t)
	process.isReady(t)
	app := harness.Seed(account.Namespace, "web")
	app.Spec.Ports[0].NodePort = nil
	cluster.Create(t, app)
	harness.Eventually(t, "the API server refuses the owner reference", func() error {
		condition, err := cluster.ConditionNow(t.Context(), app, v1.ConditionReady)
		if err != nil {
			return err
		}
		if condition.Status != metav1.ConditionFalse || !strings.Contains(condition.Message, "blockOwnerDeletion") {
			return fmt.Errorf("Ready is %s %s: %s", condition.Status, condition.Reason, condition.Message)
		}
		return nil
	})
	account.allow(t)
	cluster.Ready(t, app)
	process.ends(t)
}
