//go:build cluster

package integration

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

func TestADeletedObjectReturns(t *testing.T) {
	t.Parallel()
	app := withEverything(t)
	for _, object := range []client.Object{
		&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web"}},
		&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"}},
		&policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "web"}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "web-config"}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "web-config"}},
	} {
		object.SetNamespace(app.Namespace)
		returns(t, object, vanish(t, object))
	}
	cluster.Ready(t, app)
	if err := want("revision", app.Status.Release.Revision, 1); err != nil {
		t.Errorf("a repair is not a new release: %v", err)
	}
}

// The path that cert-manager adds to an Ingress for the time of a challenge stays, also when the Ingress is repaired, or changes.
func TestThePathOfAChallengeStays(t *testing.T) {
	t.Parallel()
	app := withEverything(t)
	cluster.Change(t, app, func(app *v1.AppService) {
		app.Spec.Ingress.Annotations = map[string]v1.Annotation{"acme.cert-manager.io/http01-edit-in-place": "true"}
	})
	cluster.Ready(t, app)
	live := named(app, &networkingv1.Ingress{})
	cluster.Refresh(t, live)
	paths := live.Spec.Rules[0].HTTP.Paths
	challenge := paths[0]
	challenge.Path, challenge.PathType = "/.well-known/acme-challenge/token", ptr.To(networkingv1.PathTypeExact)
	challenge.Backend.Service = &networkingv1.IngressServiceBackend{Name: "cm-acme-http-solver-abcde", Port: networkingv1.ServiceBackendPort{Number: 8089}}
	edit := func(paths ...networkingv1.HTTPIngressPath) {
		t.Helper()
		cluster.Edit(t, live, func() { live.Spec.Rules[0].HTTP.Paths = paths }, client.FieldOwner("cert-manager"))
	}
	has := func(want ...string) {
		t.Helper()
		cluster.Becomes(t, fmt.Sprintf("the Ingress has %v", want), live, func() error {
			var got []string
			for _, rule := range live.Spec.Rules {
				for _, path := range rule.HTTP.Paths {
					got = append(got, rule.Host+path.Path)
				}
			}
			if !slices.Equal(got, want) {
				return fmt.Errorf("got %v, want %v", got, want)
			}
			return nil
		})
	}
	edit(challenge, paths[0])
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: "web-config"}}
	returns(t, config, vanish(t, config)) // the operator has looked at the Ingress since
	cluster.Ready(t, app)
	has("web.example.com/.well-known/acme-challenge/token", "web.example.com/")

	other := paths[0]
	other.Path = "/other"
	edit(challenge, other)
	has("web.example.com/.well-known/acme-challenge/token", "web.example.com/")

	cluster.Change(t, app, func(app *v1.AppService) {
		app.Spec.Ingress.Hosts = append(app.Spec.Ingress.Hosts, v1.IngressHost{Host: "www.example.com"})
	})
	cluster.Ready(t, app)
	has("web.example.com/.well-known/acme-challenge/token", "web.example.com/", "www.example.com/")

	edit(paths...)
	has("web.example.com/", "www.example.com/")
}

// withEverything makes a ready AppService that renders one object of most kinds, and a manager for it.
func withEverything(t *testing.T) *v1.AppService {
	t.Helper()
	namespace, _ := cluster.ManagedNamespace(t)
	app := everything(namespace)
	cluster.CreateReady(t, app)
	return app
}

func everything(namespace string) *v1.AppService {
	app := harness.Seed(namespace, "web")
	app.Spec.Config = &v1.Config{DatabaseURL: "postgres://x", Environment: map[string]v1.ConfigValue{"GREETING": "hello"}}
	app.Spec.Ingress = &v1.Ingress{Hosts: []v1.IngressHost{{Host: "web.example.com"}}}
	return app
}

// eventually waits for an event about an AppService.
func eventually(t *testing.T, app *v1.AppService, reason, note string) {
	t.Helper()
	harness.Eventually(t, "event "+reason+" "+note, func() error {
		list := &eventsv1.EventList{}
		if err := cluster.Client.List(t.Context(), list, client.InNamespace(app.Namespace)); err != nil {
			return err
		}
		var seen []string
		for _, event := range list.Items {
			if event.Regarding.Name != app.Name || event.Reason != reason {
				continue
			}
			if strings.Contains(event.Note, note) {
				return nil
			}
			seen = append(seen, event.Note)
		}
		return fmt.Errorf("seen: %q", seen)
	})
}

// Lists whose order means something are restored, and an event names them; others stay as they were ordered.
func TestTheOrderOfAListIsPutBack(t *testing.T) {
	t.Parallel()
	app := withEverything(t)
	cluster.Change(t, app, func(app *v1.AppService) {
		app.Spec.Envs = []corev1.EnvVar{{Name: "ZONE", Value: "b"}, {Name: "HOST", Value: "$(ZONE).example.com"}, {Name: "URL", Value: "http://$(HOST)/"}}
		app.Spec.InitContainers = []corev1.Container{{Name: "first", Image: "first:1"}, {Name: "second", Image: "second:1"}}
		app.Spec.Sidecars = []corev1.Container{{Name: "proxy", Image: "proxy:1"}}
		for _, name := range []string{"outer", "inner"} {
			app.Spec.Volumes = append(app.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
		}
		app.Spec.VolumeMounts = []corev1.VolumeMount{{Name: "outer", MountPath: "/data"}, {Name: "inner", MountPath: "/data/inner"}}
	})
	cluster.Ready(t, app)
	rendered := deployment(t, app).Spec.Template.Spec
	for name, test := range map[string]struct {
		reverse func(*corev1.PodSpec)
		event   string // empty if it stays
	}{
		"variables":       {func(s *corev1.PodSpec) { slices.Reverse(s.Containers[0].Env) }, "spec.template.spec.containers[app].env"},
		"init containers": {func(s *corev1.PodSpec) { slices.Reverse(s.InitContainers) }, "spec.template.spec.initContainers"},
		"mounts":          {func(s *corev1.PodSpec) { slices.Reverse(s.Containers[0].VolumeMounts) }, "spec.template.spec.containers[app].volumeMounts"},
		"volumes":         {func(s *corev1.PodSpec) { slices.Reverse(s.Volumes) }, ""},
	} {
		editPods(t, app, test.reverse)
		if test.event == "" {
			continue
		}
		eventually(t, app, v1.ReasonDriftCorrected, "apply Deployment web: "+test.event)
		harness.Eventually(t, name+" are put back", func() error {
			got := deployment(t, app).Spec.Template.Spec
			got.Volumes = rendered.Volumes
			if !equality.Semantic.DeepEqual(got, rendered) {
				return fmt.Errorf("got %+v", got)
			}
			return nil
		})
		cluster.Ready(t, app)
	}
}

// editPods edits the pod template of an AppService's Deployment.
func editPods(t *testing.T, app *v1.AppService, edit func(*corev1.PodSpec)) (edited *appsv1.Deployment) {
	t.Helper()
	edited = deployment(t, app)
	cluster.Edit(t, edited, func() { edit(&edited.Spec.Template.Spec) })
	return edited
}

// An order that was changed before the operator restored it stays, with a warning, until the next release.
func TestAnOrderOfBeforeStaysUntilTheNextRelease(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Envs = []corev1.EnvVar{{Name: "A", Value: "a"}, {Name: "B", Value: "$(A)"}}
	cluster.CreateReady(t, app)
	manager.Stop(t)
	record := &corev1.Secret{}
	cluster.Get(t, client.ObjectKey{Namespace: namespace, Name: "sh.helm.release.v1.web.v1"}, record)
	cluster.Edit(t, record, func() {
		record.Data["resource"] = bytes.Replace(record.Data["resource"], []byte(`,"runs":[]`), nil, 1)
	})
	rendered := deployment(t, app).Spec.Template.Spec.Containers[0].Env
	edited := editPods(t, app, func(s *corev1.PodSpec) { slices.Reverse(s.Containers[0].Env) })
	cluster.Ready(t, app)

	manager = cluster.Manager(t, namespace)
	const warning = "Deployment web: spec.template.spec.containers[app].env has another order than is rendered"
	harness.Eventually(t, "the status warns", func() error {
		cluster.Refresh(t, app)
		if !slices.ContainsFunc(app.Status.Problems, func(p v1.Problem) bool {
			return p.Reason == v1.ReasonContended && strings.Contains(p.Message, warning)
		}) {
			return fmt.Errorf("got the problems %+v", app.Status.Problems)
		}
		return nil
	})
	manager.Rest(t)
	cluster.Ready(t, app)
	if got := deployment(t, app); got.Generation != edited.Generation {
		t.Errorf("it is at generation %d, want %d", got.Generation, edited.Generation)
	}
	cluster.Change(t, app, func(app *v1.AppService) { app.Annotations = map[string]string{v1.AnnotationRestartedAt: "now"} })
	harness.Eventually(t, "the order is restored", func() error {
		if got := deployment(t, app).Spec.Template.Spec.Containers[0].Env; !equality.Semantic.DeepEqual(got, rendered) {
			return fmt.Errorf("it is %v", got)
		}
		return nil
	})
	cluster.Ready(t, app)
	harness.Eventually(t, "nothing is warned of", func() error {
		cluster.Refresh(t, app)
		return want("problems", len(app.Status.Problems), 0)
	})
}
