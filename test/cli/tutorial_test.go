//go:build cluster

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// tutorialPage takes an application with a database through its life. All of it is run, in its order.
const tutorialPage = "tutorial.md"

// TestTheTutorialIsAsThePageShows stands in for what the page asks of a cluster: a class of volumes, and nodes that run the program, which ends
// if its currency is a typo.
func TestTheTutorialIsAsThePageShows(t *testing.T) {
	u := newUser(t, cluster.Namespace(t))
	lend(t, &storagev1.StorageClass{
		ObjectMeta:  metav1.ObjectMeta{Name: harness.StaticVolumes, Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}},
		Provisioner: "kubernetes.io/no-provisioner",
	})
	simulate(t, u, "EURO", "database migrated\nshop: CURRENCY is \"EURO\", and has to be three capital letters")
	u.follows(t, cluster.Manager(t, u.namespace), tutorialPage)
}

// lend creates an object of the cluster for the time of a test.
func lend(t *testing.T, object client.Object) {
	t.Helper()
	cluster.Create(t, object)
	t.Cleanup(func() { _ = cluster.Client.Delete(context.Background(), object) })
}

// simulate has pods of AppServices crash with some last words if an environment variable of theirs has a value.
func simulate(t *testing.T, u *user, value, words string) {
	t.Helper()
	script := fmt.Sprintf(`{phase: Running, conditions: [{type: Initialized, status: "True"}, {type: Ready, status: "False", lastTransitionTime: NOW}], `+
		`containerStatuses: [{name: app, image: x, imageID: "", ready: false, started: false, restartCount: 4, `+
		`state: {waiting: {reason: CrashLoopBackOff, message: back-off}}, `+
		`lastState: {terminated: {exitCode: 1, reason: Error, message: %q, startedAt: NOW, finishedAt: NOW}}}]}`, words)
	objects, err := files.Decode([]byte(fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  matchConditions:
  - name: broken
    expression: >-
      !(has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, o.kind == 'Job')) &&
      object.spec.containers.exists(c, has(c.env) && c.env.exists(e, has(e.value) && e.value == '%[2]s'))
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: >-
        Object{metadata: Object.metadata{annotations: {"script.kwok.x-k8s.io/status": %[3]q}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec:
  policyName: %[1]s
  matchResources:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
`, u.namespace, value, script)))
	require.NoError(t, err)
	for _, object := range objects {
		lend(t, object)
	}
	harness.Eventually(t, "the API server knows which pods crash", func() error {
		said := u.run(t, "kubectl run try --image=x --env=V="+value+" --dry-run=server -o yaml", nil)
		if !strings.Contains(said.stdout, "script.kwok.x-k8s.io/status") {
			return errors.New(said.stdout + said.stderr)
		}
		return nil
	})
}
