//go:build cluster

package integration

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/granted"
	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/tools/poll"
	"github.com/example/appservice-operator/tools/toolchain"
)

// ownWrites is the admission policy for what the operator's account writes. It is in force in all tests.
const ownWrites = "config/admission/own-writes.yaml"

// noticeWrites installs the policy, and waits until it is in force: it warns an account of the operator's name in another namespace, whose requests
// the audit log does not show.
func noticeWrites(ctx context.Context) error {
	if cluster.Operator == nil {
		return nil // a cluster of the user's own, which keeps no audit log for this
	}
	root, err := toolchain.Root()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(root, ownWrites))
	if err != nil {
		return err
	}
	objects, err := files.Decode(text)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := cluster.Client.Create(ctx, object); client.IgnoreAlreadyExists(err) != nil {
			return fmt.Errorf("cannot install %s: %w", ownWrites, err)
		}
	}
	thief, heard, err := namesake(metav1.NamespaceDefault, "system:masters")
	if err != nil {
		return err
	}
	return poll.UntilWithin(ctx, harness.Patience, func(ctx context.Context) error {
		if err := thief.Create(ctx, foreignSecret(metav1.NamespaceDefault), client.DryRunAll); err != nil {
			return err
		}
		return heard.warning(true)
	})
}

// writesAreOwn reports, by the API server's audit log, whether all writes of the operator in all tests were of what is its own.
func writesAreOwn() bool {
	if cluster.Operator == nil {
		return true
	}
	use, err := audited()
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot look for writes of the operator:", err)
		return false
	}
	for _, request := range use.Foreign {
		fmt.Println("not the operator's own:", request)
	}
	fmt.Printf("WRITES requests=%d foreign=%d\n", use.Requests, len(use.Foreign))
	return len(use.Foreign) == 0
}

// warnings are those of the policy that a client hears.
type warnings struct {
	sync.Mutex
	list []string
}

// HandleWarningHeader notes a warning.
func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.Lock()
	defer w.Unlock()
	if strings.Contains(text, "'own-writes'") {
		w.list = append(w.list, text)
	}
}

// warning returns an error unless there was a warning since the last call, or none.
func (w *warnings) warning(wanted bool) error {
	w.Lock()
	defer w.Unlock()
	got := w.list
	w.list = nil
	if (len(got) > 0) != wanted {
		return fmt.Errorf("got the warnings %q, want some: %t", got, wanted)
	}
	return nil
}

// namesake is a client of an account of a namespace that is called as the operator's, as that of a shard.
func namesake(namespace string, groups ...string) (client.Client, *warnings, error) {
	heard := &warnings{}
	config := rest.CopyConfig(cluster.Config)
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + namespace + ":" + granted.Account, Groups: append(groups, "system:authenticated"),
	}
	config.WarningHandler = heard
	made, err := client.New(config, client.Options{Scheme: cluster.Client.Scheme(), Mapper: cluster.Client.RESTMapper()})
	return made, heard, err
}

// foreignSecret is a Secret without marks.
func foreignSecret(namespace string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "foreign"}}
}

// markedSecret is one with the marks of an object of an AppService.
func markedSecret(namespace string, app *v1.AppService) *corev1.Secret {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "marked"}}
	secret.Labels, secret.OwnerReferences = marks(app)
	return secret
}

// marks are those of a rendered object.
func marks(app *v1.AppService) (map[string]string, []metav1.OwnerReference) {
	return map[string]string{v1.LabelManaged: "true"}, []metav1.OwnerReference{*metav1.NewControllerRef(app, v1.GroupVersion.WithKind(v1.Kind))}
}

// A program that has the token of the operator and writes what is not its own is noticed, by warnings and, with the same message, in the audit log. It
// is not stopped: the policy denies nothing as shipped.
func TestWritesOfWhatIsNotTheOperatorsAreNoticed(t *testing.T) {
	t.Parallel()
	if cluster.Operator == nil {
		t.Skip("the policy is installed in clusters of the tests only")
	}
	namespace := cluster.Namespace(t)
	shipped, err := granted.WithOptions()
	require.NoError(t, err)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: granted.Account}}
	grantEverywhere(t, account, "thief", shipped.InNamespaces)
	thief, heard, err := namesake(namespace)
	require.NoError(t, err)
	app := harness.Seed(namespace, "web")
	cluster.Create(t, app)
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "foreign"}}
	cluster.Create(t, config)
	cluster.Create(t, foreignSecret(namespace))
	harness.Eventually(t, "the account has its rights", func() error {
		return thief.Get(t.Context(), client.ObjectKeyFromObject(config), &corev1.ConfigMap{})
	})

	marked := markedSecret(namespace, app)
	ttl := harness.Seed(namespace, "ttl")
	ttl.Spec.TTL = "1h"
	cluster.Create(t, ttl)
	for _, test := range []struct {
		what    string
		noticed bool
		write   func() error
	}{
		{"creates a Deployment", true, func() error { return thief.Create(t.Context(), miner(namespace)) }},
		{"applies a ConfigMap", true, func() error {
			body := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"}}`
			applied := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "applied"}}
			return thief.Patch(t.Context(), applied, client.RawPatch(types.ApplyPatchType, []byte(body)), client.FieldOwner("thief"))
		}},
		{"patches a Secret", true, func() error {
			return thief.Patch(t.Context(), foreignSecret(namespace), client.RawPatch(types.MergePatchType, []byte(`{"stringData":{"a":"b"}}`)))
		}},
		{"updates a Secret", true, func() error {
			secret := foreignSecret(namespace)
			secret.StringData = map[string]string{"a": "c"}
			return thief.Update(t.Context(), secret)
		}},
		{"deletes a ConfigMap", true, func() error { return thief.Delete(t.Context(), config) }},
		{"creates a Secret in kube-system", true, func() error {
			return thief.Create(t.Context(), foreignSecret(metav1.NamespaceSystem), client.DryRunAll)
		}},
		{"creates a marked Secret in kube-system", true, func() error {
			return thief.Create(t.Context(), markedSecret(metav1.NamespaceSystem, app), client.DryRunAll)
		}},
		{"creates what an AppService owns", false, func() error { return thief.Create(t.Context(), marked) }},
		{"deletes what an AppService owns", false, func() error { return thief.Delete(t.Context(), marked) }},
		{"deletes an AppService", true, func() error { return thief.Delete(t.Context(), app.DeepCopy()) }},
		{"deletes an AppService with a ttl", false, func() error { return thief.Delete(t.Context(), ttl) }},
	} {
		require.NoError(t, test.write(), "who %s is denied", test.what)
		require.NoError(t, heard.warning(test.noticed), "who %s", test.what)
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{}
	cluster.Get(t, client.ObjectKey{Name: "own-writes"}, binding)
	require.Equal(t, []admissionv1.ValidationAction{admissionv1.Audit, admissionv1.Warn}, binding.Spec.ValidationActions)
}

// Marks can be forged: then the operator deletes the object, which it did not render.
func TestWhatHasForgedMarksIsDeleted(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	cluster.CreateReady(t, app)
	forged := miner(namespace)
	forged.Labels, forged.OwnerReferences = marks(app)
	cluster.Create(t, forged)
	harness.Eventually(t, "it is gone", func() error {
		err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(forged), forged)
		if err == nil {
			return errStillThere
		}
		return client.IgnoreNotFound(err)
	})
}

// miner is a Deployment that no AppService asks for.
func miner(namespace string) *appsv1.Deployment {
	labels := map[string]string{"app": "miner"}
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "miner"}, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "miner:1"}}},
		},
	}}
}
