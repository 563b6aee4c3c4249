//go:build cluster

package olm

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/test/harness"
)

const (
	home    = "operators"
	account = "system:serviceaccount:" + home + ":appservice-operator-controller-manager"
)

// Someone subscribes at v0.1.0 and agrees to the upgrade; then the OperatorGroup goes through all install modes.
func TestASubscriptionInstallsUpgradesAndServesEachInstallMode(t *testing.T) {
	bundled, err := Bundled("../../bundle")
	require.NoError(t, err)
	before, present := bundled.Replaces, bundled.Name
	for _, namespace := range []string{home, "one", "two"} {
		create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	}
	every, err := Group(home)
	require.NoError(t, err)
	create(t, every)
	subscription, err := Subscription(home, before)
	require.NoError(t, err)
	create(t, subscription)

	approve(t, before)
	succeeds(t, before)
	approve(t, present)
	succeeds(t, present)
	gone(t, Object("v1alpha1", "ClusterServiceVersion", home, before, `{}`))

	for _, mode := range []struct {
		name, group string
		served      []string
	}{
		{"OwnNamespace", `{"targetNamespaces": ["operators"]}`, []string{home}},
		{"SingleNamespace", `{"targetNamespaces": ["one"]}`, []string{"one"}},
		{"MultiNamespace", `{"targetNamespaces": ["one", "two"]}`, []string{"one", "two"}},
		{"AllNamespaces", `{}`, nil},
	} {
		t.Run(mode.name, func(t *testing.T) {
			remove(t, group(`{}`))
			create(t, group(mode.group))
			harness.Eventually(t, "the manager knows its namespaces", func() error { return told(t.Context(), mode.served) })
			succeeds(t, present)
			for _, namespace := range append([]string{home}, mode.served...) {
				harness.Eventually(t, "rights in "+namespace, func() error { return mayPatch(t.Context(), namespace) })
			}
			if mode.served == nil {
				harness.Eventually(t, "rights everywhere", func() error { return mayPatch(t.Context(), "default") })
			}
		})
	}

	remove(t, Object("v1alpha1", "Subscription", home, Package, `{}`))
	remove(t, Object("v1alpha1", "ClusterServiceVersion", home, present, `{}`))
	gone(t, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "appservice-operator-controller-manager"}})
	apps := &unstructured.UnstructuredList{}
	apps.SetGroupVersionKind(schema.GroupVersionKind{Group: "app.example.com", Version: "v1", Kind: "AppServiceList"})
	assert.NoError(t, direct.List(t.Context(), apps), "the CRD went with the operator")
}

// approve agrees to the InstallPlan that brings a version.
func approve(t *testing.T, version string) {
	t.Helper()
	harness.Eventually(t, "an InstallPlan", func() error { return lab.Approve(t.Context(), home, version) })
}

// succeeds waits until a version is installed.
func succeeds(t *testing.T, version string) {
	t.Helper()
	harness.Eventually(t, "a version succeeds", func() error { return lab.Succeeded(t.Context(), home, version) })
}

// told reports whether the manager's pods get the namespaces to serve, and use them.
func told(ctx context.Context, served []string) error {
	deployment := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: home, Name: "appservice-operator-controller-manager"}
	if err := direct.Get(ctx, key, deployment); err != nil {
		return err
	}
	template := deployment.Spec.Template
	if got := template.Annotations["olm.targetNamespaces"]; got != strings.Join(served, ",") {
		return fmt.Errorf("the annotation is %q, want %v", got, served)
	}
	for _, env := range template.Spec.Containers[0].Env {
		if env.Name == "WATCH_NAMESPACE" && env.ValueFrom.FieldRef.FieldPath == "metadata.annotations['olm.targetNamespaces']" {
			return nil
		}
	}
	return fmt.Errorf("the environment is %v", template.Spec.Containers[0].Env)
}

// mayPatch reports whether the manager may do in a namespace what is at the heart of its work.
func mayPatch(ctx context.Context, namespace string) error {
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: account,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: "patch", Group: "apps", Version: "v1", Resource: "deployments",
		},
	}}
	if err := direct.Create(ctx, review); err != nil {
		return err
	}
	if !review.Status.Allowed {
		return fmt.Errorf("%s may not patch Deployments in %s", account, namespace)
	}
	return nil
}

func group(spec string) *unstructured.Unstructured {
	return Object("v1", "OperatorGroup", home, Package, spec)
}

func create(t *testing.T, object client.Object) {
	t.Helper()
	if err := client.IgnoreAlreadyExists(direct.Create(t.Context(), object)); err != nil {
		t.Fatalf("cannot create %s: %v", object.GetName(), err)
	}
}

func remove(t *testing.T, object client.Object) {
	t.Helper()
	if err := direct.Delete(t.Context(), object); err != nil {
		t.Fatalf("cannot delete %s: %v", object.GetName(), err)
	}
	gone(t, object)
}

func gone(t *testing.T, object client.Object) {
	t.Helper()
	harness.Eventually(t, object.GetName()+" goes", func() error {
		err := direct.Get(t.Context(), client.ObjectKeyFromObject(object), object)
		if err == nil {
			return fmt.Errorf("it is still there")
		}
		return client.IgnoreNotFound(err)
	})
}
