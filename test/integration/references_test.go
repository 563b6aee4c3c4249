//go:build cluster

package integration

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/harness"
)

func TestPodsRollWhenWhatTheyReferToChanges(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "settings"}, Data: map[string]string{"a": "1"}}
	database := secret(namespace, "database", "url")
	later := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "later"}, Data: map[string]string{"b": "1"}}
	cluster.Create(t, settings)
	cluster.Create(t, database)
	app := harness.Seed(namespace, "web")
	app.Spec.EnvFrom = append(fromConfigMap("settings", nil), fromConfigMap("later", ptr.To(true))...)
	app.Spec.Config = fromSecret("database")
	cluster.CreateReady(t, app)

	rolls := func(what string, wanted bool, change func()) {
		t.Helper()
		before, start := podTemplate(t, app), time.Now()
		change()
		if !wanted {
			manager.Rest(t)
			if after := podTemplate(t, app); after != before {
				t.Errorf("%s: the pods roll", what)
			}
			return
		}
		harness.Eventually(t, what+": the pods roll", func() error {
			if podTemplate(t, app) == before {
				return errors.New("the template of the pods is as it was")
			}
			return nil
		})
		t.Logf("%s: the template changed after %s", what, time.Since(start).Round(time.Millisecond))
		cluster.Ready(t, app)
	}
	edit := func(object client.Object, change func()) func() {
		return func() { cluster.Edit(t, object, change) }
	}
	rolls("a ConfigMap changes", true, edit(settings, func() { settings.Data["a"] = "2" }))
	rolls("a Secret changes", true, edit(database, func() { database.StringData = map[string]string{"url": "postgres://elsewhere"} }))
	rolls("a key changes that nothing refers to", false, edit(database, func() { database.StringData = map[string]string{"unused": "x"} }))
	rolls("only the labels change", false, edit(settings, func() { settings.Labels = map[string]string{"touched": "yes"} }))
	again := secret(namespace, "database", "url")
	again.StringData["url"] = "postgres://elsewhere"
	rolls("a Secret is deleted and made again as it was", false, func() {
		cluster.Delete(t, database)
		cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonDependencyMissing)
		cluster.Create(t, again)
		cluster.Ready(t, app)
	})
	rolls("an optional ConfigMap appears", true, func() { cluster.Create(t, later) })
	rolls("the annotation asks for a restart", true, func() {
		cluster.Change(t, app, func(app *v1.AppService) {
			app.Annotations = map[string]string{v1.AnnotationRestartedAt: "2026-01-01T00:00:00Z"}
		})
	})
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.ReloadOnChange = ptr.To(false) })
	cluster.Ready(t, app)
	rolls("a ConfigMap changes and reloadOnChange is false", false, edit(settings, func() { settings.Data["a"] = "3" }))
	if got := deployment(t, app).Spec.Template.Annotations[postrender.AnnotationReferences]; got != "" {
		t.Errorf("the pods still carry a checksum: %s", got)
	}
}

func TestASharedSecretIsReadOnceAndOthersNever(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	cluster.Create(t, secret(namespace, "shared", "url"))
	cluster.Create(t, secret(namespace, "foreign", "url"))
	manager := cluster.Manager(t, namespace, func(options *operator.Options, _ *harness.Requests) { options.MaxConcurrentReconciles = 1 })
	for _, name := range []string{"one", "two", "three"} {
		app := harness.Seed(namespace, name)
		app.Spec.Config = fromSecret("shared")
		cluster.CreateReady(t, app)
	}
	reads := map[string]int{}
	for _, request := range manager.Requests.Since(0) {
		if request.Verb == "get" {
			reads[request.Path]++
		}
	}
	path := "/api/v1/namespaces/" + namespace + "/secrets/"
	assert.NoError(t, want("reads of the shared Secret", reads[path+"shared"], 1))
	assert.NoError(t, want("reads of a Secret that nobody refers to", reads[path+"foreign"], 0))
}

func TestPodsFollowWhatTheNamespaceEnforces(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	cluster.CreateReady(t, app)
	if deployment(t, app).Spec.Template.Spec.SecurityContext.RunAsNonRoot != nil {
		t.Fatal("the pods are Restricted although nobody asks for it")
	}
	enforce(t, namespace, "restricted")
	harness.Eventually(t, "the pods become Restricted", func() error {
		if ptr.Deref(deployment(t, app).Spec.Template.Spec.SecurityContext.RunAsNonRoot, false) {
			return nil
		}
		return errors.New("they may run as root")
	})
	cluster.Ready(t, app) // the API server accepts such pods
	enforce(t, namespace, "privileged")
	harness.Eventually(t, "the pods are as before", func() error {
		if deployment(t, app).Spec.Template.Spec.SecurityContext.RunAsNonRoot == nil {
			return nil
		}
		return errors.New("they are still Restricted")
	})
}

func TestWhatPodsDoNotNeedIsNoRefusal(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.ImagePullSecrets = []v1.LocalReference{{Name: "registry"}}
	app.Spec.Ingress = &v1.Ingress{
		ClassName: ptr.To(namespace),
		Hosts:     []v1.IngressHost{{Host: namespace + ".example.com"}},
		TLS:       []v1.IngressTLS{{SecretName: harness.NobodysCertificate, Hosts: []string{namespace + ".example.com"}}},
	}
	cluster.Create(t, app)
	condition := cluster.Condition(t, app, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonDependencyMissing)
	if app.Status.AvailableReplicas == 0 || !strings.Contains(condition.Message, fmt.Sprintf("IngressClass %q does not exist", namespace)) {
		t.Errorf("%d pods run, and it says %s", app.Status.AvailableReplicas, condition.Message)
	}
	var got []string
	for _, problem := range app.Status.Problems {
		got = append(got, fmt.Sprintf("%s %s %s", problem.Type, problem.Reason, problem.Source))
	}
	if want := []string{"Error DependencyMissing Ingress web", "Warning ReferenceMissing Secret"}; !slices.Equal(got, want) {
		t.Errorf("got the problems %q, want %q", got, want)
	}
	class := &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: namespace}, Spec: networkingv1.IngressClassSpec{Controller: "example.com/controller"}}
	cluster.Create(t, class)
	t.Cleanup(func() { _ = cluster.Client.Delete(context.WithoutCancel(t.Context()), class) })
	cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonCertificateMissing)
	for _, name := range []string{"registry", harness.NobodysCertificate} {
		cluster.Create(t, secret(namespace, name, "x"))
	}
	harness.Eventually(t, "the problems end", func() error {
		cluster.Ready(t, app)
		return want("problems", len(app.Status.Problems), 0)
	})
}

func podTemplate(t *testing.T, app *v1.AppService) string {
	t.Helper()
	return deployment(t, app).Spec.Template.String()
}

func deployment(t *testing.T, app *v1.AppService) *appsv1.Deployment {
	t.Helper()
	deployment := &appsv1.Deployment{}
	get(t, app, deployment)
	return deployment
}
