//go:build cluster

package integration

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

func TestTheSeedBecomesReadyAndItsObjectsAreAsDocumented(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := harness.Sample(t, "appservice_nodeport.yaml", namespace)
	cluster.CreateReady(t, app)

	deployment, service, budget := &appsv1.Deployment{}, &corev1.Service{}, &policyv1.PodDisruptionBudget{}
	for _, object := range []client.Object{deployment, service, budget} {
		get(t, app, object)
		owner := metav1.GetControllerOf(object)
		if owner == nil || owner.UID != app.UID {
			t.Errorf("%T is not controlled by the AppService: %v", object, owner)
		}
	}
	if got := *deployment.Spec.Replicas; got != 2 {
		t.Errorf("replicas: got %d, want 2", got)
	}
	if service.Spec.Type != corev1.ServiceTypeNodePort || service.Spec.Ports[0].NodePort != 30002 {
		t.Errorf("service: got %s %v, want NodePort 30002", service.Spec.Type, service.Spec.Ports)
	}
	if got := budget.Spec.MaxUnavailable.IntValue(); got != 1 {
		t.Errorf("maxUnavailable: got %d, want 1", got)
	}
	want := v1.AppServiceStatus{Phase: v1.PhaseRunning, Readiness: "2/2", Replicas: 2, Image: "nginx:1.7.9", URL: "http://nginx-app." + namespace + ".svc"}
	got := app.Status
	if got.Phase != want.Phase || got.Readiness != want.Readiness || got.Replicas != want.Replicas || got.Image != want.Image || got.URL != want.URL {
		t.Errorf("status: got %+v, want %+v", got, want)
	}
	if len(got.Conditions) != 6 || len(app.Finalizers) != 0 {
		t.Errorf("got %d conditions and finalizers %v, want 6 and none", len(got.Conditions), app.Finalizers)
	}
}

func TestEachFieldCanBeChanged(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	cluster.CreateReady(t, app)
	cluster.Create(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "database"},
		StringData: map[string]string{"url": "postgres://db"},
	})

	type changed struct {
		deployment *appsv1.Deployment
		container  corev1.Container
	}
	cases := []struct {
		name   string
		change func(*v1.AppServiceSpec)
		check  func(changed) error
	}{
		{"image", func(s *v1.AppServiceSpec) { s.Image = "nginx:1.27" }, func(c changed) error {
			return want("image", c.container.Image, "nginx:1.27")
		}},
		{"size to zero", func(s *v1.AppServiceSpec) { s.Size = ptr.To[int32](0) }, func(c changed) error {
			return want("replicas", *c.deployment.Spec.Replicas, 0)
		}},
		{"size back", func(s *v1.AppServiceSpec) { s.Size = ptr.To[int32](3) }, func(c changed) error {
			return want("replicas", *c.deployment.Spec.Replicas, 3)
		}},
		{"resources", func(s *v1.AppServiceSpec) { s.Resources = resources("100m", "200m") }, func(c changed) error {
			return want("cpu limit", c.container.Resources.Limits.Cpu().String(), "200m")
		}},
		{"envs", func(s *v1.AppServiceSpec) {
			s.Envs = []corev1.EnvVar{{Name: "A", Value: "{{ .Release }}"}, {Name: "B", Value: "yes"}, {Name: "C", Value: "1.10"}}
		}, func(c changed) error {
			return want("env", fmt.Sprint(values(c.container.Env)), "map[A:{{ .Release }} B:yes C:1.10 PORT:80]")
		}},
		{"envs fewer", func(s *v1.AppServiceSpec) { s.Envs = s.Envs[:1] }, func(c changed) error {
			return want("env", fmt.Sprint(values(c.container.Env)), "map[A:{{ .Release }} PORT:80]")
		}},
		{"envFrom", func(s *v1.AppServiceSpec) {
			s.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "database"}}}}
		}, func(c changed) error { return want("envFrom", len(c.container.EnvFrom), 1) }},
		{"config", func(s *v1.AppServiceSpec) {
			s.Config = &v1.Config{Environment: map[string]v1.ConfigValue{"GREETING": "hello"}, LogLevel: "debug", DatabaseURL: "postgres://x"}
		}, func(c changed) error {
			config, secret := &corev1.ConfigMap{}, &corev1.Secret{}
			key := client.ObjectKey{Namespace: namespace, Name: "web-config"}
			if err := cluster.Client.Get(t.Context(), key, config); err != nil {
				return err
			}
			if err := cluster.Client.Get(t.Context(), key, secret); err != nil {
				return err
			}
			return want("config", config.Data["GREETING"]+" "+string(secret.Data["DATABASE_URL"])+" "+values(c.container.Env)["LOG_LEVEL"], "hello postgres://x debug")
		}},
		{"databaseUrlFrom", func(s *v1.AppServiceSpec) {
			s.Config = &v1.Config{DatabaseURLFrom: &v1.SecretKeySource{SecretKeyRef: corev1.SecretKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: "database"}, Key: "url"}}}
		}, func(c changed) error {
			if err := gone(t, namespace, "web-config", &corev1.ConfigMap{}, &corev1.Secret{}); err != nil {
				return err
			}
			for _, env := range c.container.Env {
				if env.Name == "DATABASE_URL" && env.ValueFrom != nil {
					return want("secret", env.ValueFrom.SecretKeyRef.Name, "database")
				}
			}
			return fmt.Errorf("no DATABASE_URL from a Secret: %v", c.container.Env)
		}},
		{"ingress", func(s *v1.AppServiceSpec) {
			s.Ingress = &v1.Ingress{ClassName: ptr.To("nginx"), Hosts: []v1.IngressHost{{Host: "web.example.com"}},
				TLS: []v1.IngressTLS{{Hosts: []string{"web.example.com"}, SecretName: "cert"}}, ClusterIssuer: "letsencrypt"}
		}, func(changed) error {
			ingress := &networkingv1.Ingress{}
			if err := cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "web"}, ingress); err != nil {
				return err
			}
			if err := want("issuer", ingress.Annotations["cert-manager.io/cluster-issuer"], "letsencrypt"); err != nil {
				return err
			}
			if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(app), app); err != nil {
				return err
			}
			return want("url", app.Status.URL, "https://web.example.com")
		}},
		{"ports", func(s *v1.AppServiceSpec) {
			s.Ports = []v1.Port{{Name: "http", Port: 80}, {Name: "dns", Port: 80, Protocol: corev1.ProtocolUDP}, {Name: "admin", Port: 9000, TargetPort: ptr.To(intstr.FromInt32(80))}}
		}, func(c changed) error {
			service := &corev1.Service{}
			if err := cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "web"}, service); err != nil {
				return err
			}
			return want("ports", fmt.Sprint(len(service.Spec.Ports), len(c.container.Ports)), "3 2")
		}},
		{"ingress and ports off", func(s *v1.AppServiceSpec) { s.Ingress, s.Ports = nil, nil }, func(c changed) error {
			if err := gone(t, namespace, "web", &networkingv1.Ingress{}, &corev1.Service{}); err != nil {
				return err
			}
			return want("container ports", len(c.container.Ports), 0)
		}},
	}
	for _, step := range cases { // one after the other: each needs the one before
		cluster.Change(t, app, func(app *v1.AppService) { step.change(&app.Spec) })
		cluster.Ready(t, app)
		deployment := named(app, &appsv1.Deployment{})
		cluster.Becomes(t, step.name, deployment, func() error {
			return step.check(changed{deployment, deployment.Spec.Template.Spec.Containers[0]})
		})
	}
}

func TestTheScaleSubresourceScales(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	cluster.CreateReady(t, app)
	for _, size := range []int32{3, 0} {
		scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: size}}
		if err := cluster.Client.SubResource("scale").Update(t.Context(), app, client.WithSubResourceBody(scale)); err != nil {
			t.Fatalf("cannot scale to %d: %v", size, err)
		}
		harness.Eventually(t, "scaled", func() error {
			seen := &autoscalingv1.Scale{}
			if err := cluster.Client.SubResource("scale").Get(t.Context(), app, seen); err != nil {
				return err
			}
			if seen.Status.Selector == "" {
				return fmt.Errorf("no selector")
			}
			return want("replicas", seen.Status.Replicas, size)
		})
		cluster.Ready(t, app)
	}
}

func TestDeletionLeavesNothingEvenWhileTheManagerIsDown(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"manager up", "manager down"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster.CollectsGarbage(t)
			namespace, manager := cluster.ManagedNamespace(t)
			app := harness.Seed(namespace, "web")
			app.Spec.Config = &v1.Config{DatabaseURL: "postgres://x", Environment: map[string]v1.ConfigValue{"A": "b"}}
			cluster.CreateReady(t, app)
			if name == "manager down" {
				manager.Stop(t)
			}
			cluster.Delete(t, app)
			harness.Eventually(t, "everything is gone", func() error {
				if err := gone(t, namespace, "web", &appsv1.Deployment{}, &corev1.Service{}, &policyv1.PodDisruptionBudget{}, &v1.AppService{}); err != nil {
					return err
				}
				if err := gone(t, namespace, "web-config", &corev1.ConfigMap{}, &corev1.Secret{}); err != nil {
					return err
				}
				for _, list := range []client.ObjectList{&corev1.SecretList{}, &corev1.PodList{}, &appsv1.ReplicaSetList{}} {
					if err := cluster.Client.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
						return err
					}
					if left := length(list); left > 0 {
						return fmt.Errorf("%d left in %T", left, list)
					}
				}
				return nil
			})
		})
	}
}

func TestARecreatedAppServiceIsInstalledAgain(t *testing.T) {
	t.Parallel()
	cluster.CollectsGarbage(t)
	namespace, _ := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	cluster.CreateReady(t, app)
	cluster.Delete(t, app)
	again := harness.Seed(namespace, "web") // while the objects of the first are still being collected
	cluster.CreateReady(t, again)
	deployment := &appsv1.Deployment{}
	get(t, again, deployment)
	if owner := metav1.GetControllerOf(deployment); owner == nil || owner.UID != again.UID {
		t.Errorf("the Deployment belongs to %v, want the new AppService %s", owner, again.UID)
	}
}

func TestFiftyAppServicesAtOnce(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	mark := manager.Requests.Mark()
	const count = 50
	for i := range count {
		cluster.Create(t, harness.Seed(namespace, fmt.Sprintf("web-%02d", i)))
	}
	harness.Eventually(t, "all are ready", func() error {
		list := &v1.AppServiceList{}
		if err := cluster.Client.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
			return err
		}
		ready := 0
		for i := range list.Items {
			if list.Items[i].Status.Phase == v1.PhaseRunning {
				ready++
			}
		}
		return want("ready", ready, count)
	})
	records := &corev1.SecretList{}
	cluster.List(t, records, client.InNamespace(namespace), client.MatchingLabels{"owner": "helm"})
	if len(records.Items) != count {
		t.Errorf("got %d release records, want one each: %d", len(records.Items), count)
	}
	t.Logf("%d requests for %d AppServices: %s", len(manager.Requests.Since(mark)), count, harness.Count(manager.Requests.Since(mark)))
}

func get(t *testing.T, app *v1.AppService, object client.Object) {
	t.Helper()
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(app), object); err != nil {
		t.Fatalf("cannot get %T %s: %v", object, app.Name, err)
	}
}

// gone returns an error while one of the objects of a name exists.
func gone(t *testing.T, namespace, name string, objects ...client.Object) error {
	t.Helper()
	for _, object := range objects {
		switch err := cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, object); {
		case err == nil:
			return fmt.Errorf("%T %s is there", object, name)
		case !apierrors.IsNotFound(err):
			return err
		}
	}
	return nil
}

func want[T comparable](what string, got, want T) error {
	if got != want {
		return fmt.Errorf("%s: got %v, want %v", what, got, want)
	}
	return nil
}
