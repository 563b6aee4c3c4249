//go:build cluster

package integration

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// refusals counts the rows of TestRefusals, for the last line of the test binary.
var refusals struct{ rows, seen, healed atomic.Int32 }

// refusal is a change that the operator must refuse with a condition, leaving the version that runs as it is.
type refusal struct {
	// base changes the running AppService first; nil for the seed.
	base func(*v1.AppServiceSpec)
	// hinder prepares an obstacle before the change; nil if the change alone is at fault.
	hinder func(t *testing.T, app *v1.AppService) client.Object
	// first says that hinder runs before the AppService is created.
	first bool
	// change of the spec; nil if the obstacle is in the way of the present spec.
	change func(spec *v1.AppServiceSpec, hindrance client.Object)
	// clear removes the obstacle; nil if the change is undone instead.
	clear func(t *testing.T, app *v1.AppService, hindrance client.Object)

	reason  string
	message []string
}

var refusalRows = map[string]refusal{
	"a node port outside of the range": {
		change: func(s *v1.AppServiceSpec, _ client.Object) { s.Ports[0].NodePort = ptr.To[int32](1) },
		reason: v1.ReasonNodePortInvalid, message: []string{"node port 1 ", "30000-32767"},
	},
	"a node port of another service": {
		hinder: foreignPort,
		change: func(s *v1.AppServiceSpec, o client.Object) { s.Ports[0].NodePort = nodePort(o) },
		reason: v1.ReasonNodePortConflict, message: []string{"is taken by", `Service "holder"`},
	},
	"a node port that another service gives back": {
		hinder: foreignPort, clear: deleteIt,
		change: func(s *v1.AppServiceSpec, o client.Object) { s.Ports[0].NodePort = nodePort(o) },
		reason: v1.ReasonNodePortConflict, message: []string{`Service "holder"`},
	},
	"a node port of a service in another namespace": {
		hinder: func(t *testing.T, _ *v1.AppService) client.Object {
			return foreignPort(t, &v1.AppService{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace(t)}})
		},
		change: func(s *v1.AppServiceSpec, o client.Object) { s.Ports[0].NodePort = nodePort(o) },
		reason: v1.ReasonNodePortConflict, message: []string{"a Service in another namespace"},
	},
	"a host that an older AppService serves": {
		first:  true,
		hinder: func(t *testing.T, app *v1.AppService) client.Object { return older(t, app.Namespace) },
		base:   func(s *v1.AppServiceSpec) { s.Size = ptr.To[int32](1) },
		change: func(s *v1.AppServiceSpec, _ client.Object) {
			s.Ingress = &v1.Ingress{Hosts: []v1.IngressHost{{Host: "shop.example.com", Paths: []v1.IngressPath{{Path: "/cart/"}}}}}
		},
		clear:  deleteIt,
		reason: v1.ReasonHostConflict, message: []string{"shop.example.com/cart", `AppService "an-older-one"`},
	},
	"a missing ConfigMap": {
		change: func(s *v1.AppServiceSpec, _ client.Object) { s.EnvFrom = fromConfigMap("settings", nil) },
		clear: func(t *testing.T, app *v1.AppService, _ client.Object) {
			cluster.Create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: "settings"}})
		},
		reason: v1.ReasonDependencyMissing, message: []string{`ConfigMap "settings" does not exist`, `envFrom of container "app"`},
	},
	"a missing Secret": {
		change: func(s *v1.AppServiceSpec, _ client.Object) { s.Config = fromSecret("database") },
		clear: func(t *testing.T, app *v1.AppService, _ client.Object) {
			cluster.Create(t, secret(app.Namespace, "database", "url"))
		},
		reason: v1.ReasonDependencyMissing, message: []string{`Secret "database" does not exist`, "DATABASE_URL"},
	},
	"a missing key of a Secret": {
		hinder: func(t *testing.T, app *v1.AppService) client.Object {
			made := secret(app.Namespace, "database", "other")
			cluster.Create(t, made)
			return made
		},
		change: func(s *v1.AppServiceSpec, _ client.Object) { s.Config = fromSecret("database") },
		clear: func(t *testing.T, _ *v1.AppService, o client.Object) {
			cluster.Edit(t, o, func() { o.(*corev1.Secret).StringData = map[string]string{"url": "postgres://"} })
		},
		reason: v1.ReasonDependencyMissing, message: []string{`Secret "database" has no key "url"`},
	},
	"a Secret that somebody deletes": {
		base: func(s *v1.AppServiceSpec) { s.Config = fromSecret("seed") },
		hinder: func(t *testing.T, app *v1.AppService) client.Object {
			seed := secret(app.Namespace, "seed", "url")
			cluster.Delete(t, seed)
			return seed
		},
		clear: func(t *testing.T, app *v1.AppService, _ client.Object) {
			cluster.Create(t, secret(app.Namespace, "seed", "url"))
		},
		reason: v1.ReasonDependencyMissing, message: []string{`Secret "seed" does not exist`},
	},
	"a missing ServiceAccount": {
		change: func(s *v1.AppServiceSpec, _ client.Object) { s.ServiceAccount = &v1.ServiceAccount{Name: "robot"} },
		clear: func(t *testing.T, app *v1.AppService, _ client.Object) {
			cluster.Create(t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: "robot"}})
		},
		reason: v1.ReasonDependencyMissing, message: []string{`ServiceAccount "robot" does not exist`},
	},
	"a sidecar below Baseline": {
		change: func(s *v1.AppServiceSpec, _ client.Object) {
			s.Sidecars = []corev1.Container{{Name: "agent", Image: "agent:1", Ports: []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}}}
		},
		reason: v1.ReasonPodSecurityViolation, message: []string{`"baseline"`, "hostPort", `"agent"`},
	},
	"a pod below what the namespace enforces": {
		first:  true,
		hinder: func(t *testing.T, app *v1.AppService) client.Object { return enforce(t, app.Namespace, "restricted") },
		change: func(s *v1.AppServiceSpec, _ client.Object) {
			s.Security = &v1.Security{Pod: &corev1.PodSecurityContext{RunAsUser: ptr.To[int64](0)}}
		},
		clear:  func(t *testing.T, app *v1.AppService, _ client.Object) { enforce(t, app.Namespace, "baseline") },
		reason: v1.ReasonPodSecurityViolation, message: []string{`"restricted"`, "the namespace enforces", "runAsUser"},
	},
	"a Service of the name": {
		base: func(s *v1.AppServiceSpec) { s.Ports = nil },
		hinder: func(t *testing.T, app *v1.AppService) client.Object {
			service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: app.Name}}
			service.Spec.Ports = []corev1.ServicePort{{Port: 1234}}
			cluster.Create(t, service)
			return service
		},
		change: func(s *v1.AppServiceSpec, _ client.Object) { s.Ports = []v1.Port{{Port: 80}} },
		clear:  deleteIt,
		reason: v1.ReasonResourceExists, message: []string{`Service "web" exists`, "not managed by this operator"},
	},
	"a smaller claim": {
		base: func(s *v1.AppServiceSpec) { s.Size, s.Persistence = ptr.To[int32](0), claimOf("2Gi") },
		change: func(s *v1.AppServiceSpec, _ client.Object) {
			s.Persistence = claimOf("1Gi")
		},
		reason: v1.ReasonImmutableChange, message: []string{"spec.resources.requests.storage", `PersistentVolumeClaim "web"`, "2Gi", "1Gi", "set it back"},
	},
	"a Service that becomes headless": {
		change: func(s *v1.AppServiceSpec, _ client.Object) {
			s.Service = &v1.Service{ServiceSettings: v1.ServiceSettings{ClusterIP: corev1.ClusterIPNone}}
		},
		reason: v1.ReasonImmutableChange, message: []string{"spec.clusterIP", `Service "web"`, "None"},
	},
	"a headless Service that gets an address": {
		base: func(s *v1.AppServiceSpec) {
			s.Service = &v1.Service{ServiceSettings: v1.ServiceSettings{ClusterIP: corev1.ClusterIPNone}}
		},
		change: func(s *v1.AppServiceSpec, _ client.Object) { s.Service = nil },
		clear: func(t *testing.T, app *v1.AppService, _ client.Object) {
			deleteIt(t, app, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: app.Name}})
		},
		reason: v1.ReasonImmutableChange, message: []string{"spec.clusterIP", "None"},
	},
	"a spec that is too large": {
		change: func(s *v1.AppServiceSpec, _ client.Object) { s.Args = harness.Noise(13, 4<<10) },
		reason: v1.ReasonTooLarge, message: []string{"more than 48 KiB", "spec.volumes", "spec.envFrom"},
	},
	"too many references": {
		change: func(s *v1.AppServiceSpec, _ client.Object) {
			for i := range 101 {
				s.Envs = append(s.Envs, corev1.EnvVar{Name: fmt.Sprint("V", i), ValueFrom: &corev1.EnvVarSource{
					SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: fmt.Sprint("s-", i)}, Key: "k", Optional: ptr.To(true)},
				}})
			}
		},
		reason: v1.ReasonTooLarge, message: []string{"refer to 101", "more than 100", "spec.envFrom"},
	},
	"an unknown field of the pod template": {
		change: func(s *v1.AppServiceSpec, _ client.Object) { s.PodTemplate = patchOf("hostnam: a") },
		reason: v1.ReasonInvalidSpec, message: []string{"spec.podTemplate.spec.hostnam: there is no such field: did you mean hostname?"},
	},
	"a pod template without the application": {
		change: func(s *v1.AppServiceSpec, _ client.Object) {
			s.PodTemplate = patchOf("containers: [{name: app, $patch: delete}, {name: other, image: a}]")
		},
		reason: v1.ReasonInvalidSpec, message: []string{"spec.podTemplate.spec.containers[0].$patch", "cannot be removed"},
	},
	"a folder of the node in the pod template": {
		change: func(s *v1.AppServiceSpec, _ client.Object) {
			s.PodTemplate = patchOf("volumes: [{name: a, hostPath: {path: /}}]")
		},
		reason: v1.ReasonPodSecurityViolation, message: []string{"baseline", "hostPath"},
	},
	"a missing Secret of the pod template": {
		change: func(s *v1.AppServiceSpec, _ client.Object) {
			s.PodTemplate = patchOf("containers: [{name: app, envFrom: [{secretRef: {name: settings}}]}]")
		},
		clear: func(t *testing.T, app *v1.AppService, _ client.Object) {
			cluster.Create(t, secret(app.Namespace, "settings", "url"))
		},
		reason: v1.ReasonDependencyMissing, message: []string{`Secret "settings" does not exist`, `envFrom of container "app"`},
	},
	"a quota that lets no pod start": {
		base: func(s *v1.AppServiceSpec) { s.Size = ptr.To[int32](0) },
		hinder: func(t *testing.T, app *v1.AppService) client.Object {
			return noPods(t, app.Namespace)
		},
		change: func(s *v1.AppServiceSpec, _ client.Object) { s.Size = ptr.To[int32](1) },
		reason: v1.ReasonQuotaExceeded, message: []string{`ResourceQuota "none" is used up`},
	},
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, row := range refusalRows {
		refusals.rows.Add(1)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testRefusal(t, row)
		})
	}
}

func testRefusal(t *testing.T, row refusal) {
	namespace := cluster.Namespace(t)
	cluster.Create(t, secret(namespace, "seed", "url"))
	manager := cluster.Manager(t, namespace)
	app := harness.Seed(namespace, "web")
	app.Spec.Size = ptr.To[int32](1)
	if row.base != nil {
		row.base(&app.Spec)
	}
	base := app.Spec.DeepCopy()
	var hindrance client.Object
	if row.first {
		hindrance = row.hinder(t, app)
	}
	cluster.CreateReady(t, app)
	before := running(t, app)

	start := time.Now()
	if row.hinder != nil && !row.first {
		hindrance = row.hinder(t, app)
	}
	if row.change != nil {
		start = time.Now()
		cluster.Change(t, app, func(app *v1.AppService) { row.change(&app.Spec, hindrance) })
	}
	condition := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, row.reason)
	t.Logf("seen after %s: %s", time.Since(start).Round(time.Millisecond), condition.Message)
	for _, part := range row.message {
		if !strings.Contains(condition.Message, part) {
			t.Errorf("the message lacks %q: %s", part, condition.Message)
		}
	}
	if _, err := now(t, app, v1.ConditionStalled, metav1.ConditionTrue, row.reason); err != nil {
		t.Errorf("Stalled: %v", err)
	}
	manager.Rest(t)
	if after := running(t, app); row.reason != v1.ReasonQuotaExceeded && !equality.Semantic.DeepEqual(before, after) {
		t.Errorf("the version that runs was touched: %v, before %v", after, before)
	}
	assert.NoError(t, records(t, app, 1))
	if t.Failed() {
		return
	}
	refusals.seen.Add(1)

	start = time.Now()
	if row.clear != nil {
		row.clear(t, app, hindrance)
	} else {
		cluster.Change(t, app, func(app *v1.AppService) { base.DeepCopyInto(&app.Spec) })
	}
	cluster.Ready(t, app)
	t.Logf("healed after %s", time.Since(start).Round(time.Millisecond))
	refusals.healed.Add(1)
}

// now returns an error unless a condition has a status and, if it is not empty, a reason.
func now(t *testing.T, app *v1.AppService, kind string, status metav1.ConditionStatus, reason string) (metav1.Condition, error) {
	condition, err := cluster.ConditionNow(t.Context(), app, kind)
	if err != nil {
		return metav1.Condition{}, err
	}
	if condition.Status != status || reason != "" && condition.Reason != reason {
		return *condition, fmt.Errorf("it is %s %s: %s", condition.Status, condition.Reason, condition.Message)
	}
	return *condition, nil
}

// running is what serves: the pods and how they are reached.
func running(t *testing.T, app *v1.AppService) []any {
	t.Helper()
	deployment, service := &appsv1.Deployment{}, &corev1.Service{}
	get(t, app, deployment)
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(app), service); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	if len(app.Spec.Ports) == 0 || len(service.OwnerReferences) == 0 {
		service = &corev1.Service{}
	}
	return []any{deployment.Spec, service.Spec}
}

func foreignPort(t *testing.T, app *v1.AppService) client.Object {
	t.Helper()
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: app.Namespace, Name: "holder"}}
	service.Spec.Type, service.Spec.Ports = corev1.ServiceTypeNodePort, []corev1.ServicePort{{Port: 1234}}
	cluster.Create(t, service)
	return service
}

func nodePort(o client.Object) *int32 { return ptr.To(o.(*corev1.Service).Spec.Ports[0].NodePort) }

func deleteIt(t *testing.T, _ *v1.AppService, o client.Object) {
	t.Helper()
	cluster.Delete(t, o)
}

// older makes an AppService that claims a host, and waits until the next one is younger by the clock of the API server.
func older(t *testing.T, namespace string) client.Object {
	t.Helper()
	app := harness.Seed(namespace, "an-older-one") // also by name, if both were created in one second
	app.Spec.Size = ptr.To[int32](0)
	app.Spec.Ingress = &v1.Ingress{Hosts: []v1.IngressHost{{Host: "shop.example.com", Paths: []v1.IngressPath{{Path: "/cart"}}}}}
	cluster.CreateReady(t, app)
	return app
}

func fromConfigMap(name string, optional *bool) []corev1.EnvFromSource {
	return []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Optional: optional}}}
}

func fromSecret(name string) *v1.Config {
	return &v1.Config{DatabaseURLFrom: &v1.SecretKeySource{SecretKeyRef: corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: "url",
	}}}
}

func secret(namespace, name, key string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, StringData: map[string]string{key: "postgres://"}}
}

// enforce labels a namespace with the Pod Security level to enforce.
func enforce(t *testing.T, name, level string) client.Object {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":%q}}}`, level)
	cluster.Patch(t, namespace, client.RawPatch("application/merge-patch+json", patch))
	return namespace
}

func claimOf(size string) *v1.Persistence {
	return &v1.Persistence{Size: resource.MustParse(size), MountPath: "/data", StorageClassName: ptr.To("none"), Retain: ptr.To(false)}
}

func noPods(t *testing.T, namespace string) client.Object {
	t.Helper()
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "none"}}
	quota.Spec.Hard = corev1.ResourceList{"pods": resourceZero}
	cluster.Create(t, quota)
	cluster.Becomes(t, "the quota counts", quota, func() error { return want("resources counted", len(quota.Status.Used), 1) })
	return quota
}
