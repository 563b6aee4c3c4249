package integration

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// A Service without an address from the cloud keeps Ready False, with the cloud's message as soon as there is one.
func TestALoadBalancerThatCannotBeHad(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Ports[0].NodePort = nil
	app.Spec.Service = &v1.Service{Type: corev1.ServiceTypeLoadBalancer, LoadBalancerClass: ptr.To(harness.NobodysBalancers)}
	cluster.Create(t, app)
	condition := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonLoadBalancerPending)
	if !strings.Contains(condition.Message, "Service web: no load balancer has given it an address") {
		t.Errorf("it says %s", condition.Message)
	}
	service := &corev1.Service{}
	get(t, app, service)
	cluster.Create(t, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "refused"}, Type: corev1.EventTypeWarning, Reason: "SyncLoadBalancerFailed",
		Message: "Error syncing load balancer: failed to ensure load balancer: no addresses left in pool", LastTimestamp: metav1.NewTime(time.Now()),
		InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "Service", Namespace: namespace, Name: "web", UID: service.UID},
	})
	condition = cluster.Condition(t, app, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonLoadBalancerPending)
	if !strings.Contains(condition.Message, "no addresses left in pool") {
		t.Errorf("it says %s", condition.Message)
	}
	if app.Status.Phase != v1.PhaseDegraded {
		t.Errorf("the phase is %s, although the pods serve", app.Status.Phase)
	}
	if forbidden := manager.Requests.Forbidden(); len(forbidden) > 0 {
		t.Errorf("got the requests %v, which are forbidden", forbidden)
	}
}

// A route without a controller keeps Ready False, and is reported as ignored after some time.
func TestARouteThatNobodyLooksAt(t *testing.T) {
	withForeignKinds(t)
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Ports[0].NodePort = nil
	app.Spec.Route = &v1.Route{ParentRefs: []v1.RouteParent{{Name: harness.NobodysGateway}}, Hostnames: []string{namespace + ".example.com"}}
	cluster.Create(t, app)
	condition := cluster.Condition(t, app, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonRouteNotAccepted)
	if !strings.Contains(condition.Message, "HTTPRoute web: no controller has looked at it") {
		t.Errorf("it says %s", condition.Message)
	}
}
