//go:build cluster

package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// rewiring is a change of ports that comes with an image which cannot be pulled.
type rewiring struct {
	before []v1.Port
	change func(*v1.AppServiceSpec)
	// endpoints of the Service while the rollout is stuck: how many, by readiness and ports.
	endpoints string
	phase     v1.Phase
	ends      string // of the message of Ready
}

var rewirings = map[string]rewiring{
	"the number of a port without a name": {
		before:    []v1.Port{{Port: 80, TargetPort: ptr.To(intstr.FromInt32(80))}},
		change:    func(s *v1.AppServiceSpec) { s.Ports[0].TargetPort = ptr.To(intstr.FromInt32(8080)) },
		endpoints: "map[not ready :8080:1 ready :80:2]",
		phase:     v1.PhaseDegraded, ends: "; rollout stalled, the previous version still serves",
	},
	"the numbers of two ports, and their order": {
		before: []v1.Port{{Name: "http", Port: 80}, {Name: "admin", Port: 9000}},
		change: func(s *v1.AppServiceSpec) {
			s.Ports = []v1.Port{{Name: "admin", Port: 9000, TargetPort: ptr.To(intstr.FromInt32(80))}, {Name: "http", Port: 80, TargetPort: ptr.To(intstr.FromInt32(9000))}}
		},
		endpoints: "map[not ready admin:80 http:9000:1 ready admin:9000 http:80:2]",
		phase:     v1.PhaseDegraded, ends: "; rollout stalled, the previous version still serves",
	},
	"a port without a name gets one, and another comes before it": {
		before: []v1.Port{{Port: 80}},
		change: func(s *v1.AppServiceSpec) {
			s.Ports = []v1.Port{{Name: "admin", Port: 9000}, {Name: "http", Port: 80}}
		},
		endpoints: "map[not ready admin:9000 http:80:1 ready http:80:2]",
		phase:     v1.PhaseDegraded, ends: "; rollout stalled, the previous version still serves, except on port admin, which its pods do not have",
	},
	"a sidecar takes the port over": {
		before: []v1.Port{{Name: "http", Port: 80}},
		change: func(s *v1.AppServiceSpec) {
			s.Ports[0].TargetPort = ptr.To(intstr.FromString("http"))
			s.Sidecars = []corev1.Container{{Name: "proxy", Image: "proxy", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8000}}}}
		},
		endpoints: "map[not ready http:8000:1 ready http:80:2]",
		phase:     v1.PhaseDegraded, ends: "; rollout stalled, the previous version still serves",
	},
	"a sidecar takes the port over under another name": {
		before: []v1.Port{{Name: "http", Port: 80}},
		change: func(s *v1.AppServiceSpec) {
			s.Ports[0].TargetPort = ptr.To(intstr.FromString("proxy"))
			s.Sidecars = []corev1.Container{{Name: "proxy", Image: "proxy", Ports: []corev1.ContainerPort{{Name: "proxy", ContainerPort: 8000}}}}
		},
		endpoints: "map[not ready http:8000:1 ready:2]",
		phase:     v1.PhaseFailed, ends: "; rollout stalled, the previous version runs but is not reached: its pods do not have port http",
	},
	"another name": {
		before:    []v1.Port{{Name: "http", Port: 80}},
		change:    func(s *v1.AppServiceSpec) { s.Ports[0].Name = "web" },
		endpoints: "map[not ready web:80:1 ready:2]",
		phase:     v1.PhaseFailed, ends: "; rollout stalled, the previous version runs but is not reached: its pods do not have port web",
	},
}

// While a rollout is stuck, traffic reaches each pod on the port that this pod has, and the status says where it does not.
func TestEachPodIsReachedOnItsOwnPorts(t *testing.T) {
	t.Parallel()
	for name, row := range rewirings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace, _ := cluster.ManagedNamespace(t)
			app := harness.Seed(namespace, "web")
			app.Spec.Ports = row.before
			cluster.CreateReady(t, app)
			begin := time.Now()
			cluster.Change(t, app, func(app *v1.AppService) {
				row.change(&app.Spec)
				app.Spec.Image = "nginx:broken"
				scripted(withAddress(notPulled), "")(&app.Spec)
			})
			harness.Eventually(t, "the endpoints are "+row.endpoints, func() error {
				return want("endpoints", endpointsOf(t, app), row.endpoints)
			})
			harness.Eventually(t, "the status says so", func() error {
				condition, err := now(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonImageNotFound)
				if err != nil {
					return err
				}
				if !strings.HasSuffix(condition.Message, row.ends) {
					return fmt.Errorf("got the message %q, want it to end in %q", condition.Message, row.ends)
				}
				return want("phase", app.Status.Phase, row.phase)
			})
			t.Logf("after %s", time.Since(begin).Round(time.Millisecond))
		})
	}
}

// notPulled is the status of a pod whose image cannot be pulled.
var notPulled = waits("ImagePullBackOff", `Back-off pulling image "nginx:broken": ErrImagePull: not found`, "", 0)

// withAddress adds the address that a pod gets before its images are pulled: those without are not endpoints.
func withAddress(status string) string {
	return strings.Replace(status, "{", "{podIP: 192.0.2.1, podIPs: [{ip: 192.0.2.1}], ", 1)
}

// endpointsOf counts the endpoints of an AppService's Service by readiness and ports.
func endpointsOf(t *testing.T, app *v1.AppService) string {
	t.Helper()
	slices := &discoveryv1.EndpointSliceList{}
	cluster.List(t, slices, client.InNamespace(app.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: app.Name})
	counts := map[string]int{}
	for _, slice := range slices.Items {
		ports := map[string]string{}
		for _, port := range slice.Ports {
			ports[ptr.Deref(port.Name, "")] = fmt.Sprint(ptr.Deref(port.Port, 0))
		}
		reached := strings.TrimSuffix(strings.TrimPrefix(fmt.Sprint(ports), "map["), "]")
		for _, endpoint := range slice.Endpoints {
			ready := "not ready"
			if ptr.Deref(endpoint.Conditions.Ready, false) {
				ready = "ready"
			}
			counts[strings.TrimSpace(ready+" "+reached)]++
		}
	}
	return fmt.Sprint(counts)
}
