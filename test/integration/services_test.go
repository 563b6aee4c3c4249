//go:build cluster

package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// peers is a headless Service beside the first one.
func peers() []v1.FurtherService {
	return []v1.FurtherService{{
		Name:            "peers",
		ServiceSettings: v1.ServiceSettings{ClusterIP: corev1.ClusterIPNone, PublishNotReadyAddresses: ptr.To(true)},
	}}
}

func TestAFurtherServiceLeadsToTheSamePods(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	cluster.CreateReady(t, app)
	first := &corev1.Service{}
	get(t, app, first)

	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Services = peers() })
	cluster.Ready(t, app)
	harness.Eventually(t, "both Services lead to the pods", func() error {
		web, peers := addressesOf(t, namespace, "web"), addressesOf(t, namespace, "peers")
		if len(web) == 0 || !slices.Equal(web, peers) {
			return fmt.Errorf("web leads to %v, peers to %v", web, peers)
		}
		return nil
	})
	further := &corev1.Service{}
	cluster.Get(t, client.ObjectKey{Namespace: namespace, Name: "peers"}, further)
	assert.Equal(t, corev1.ClusterIPNone, further.Spec.ClusterIP)
	assert.Equal(t, []string{"http://web." + namespace + ".svc", "http://peers." + namespace + ".svc"}, urls(app))
	manager.Rest(t)
	mark := manager.Requests.Mark()
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Services = nil })
	cluster.Ready(t, app)
	harness.Eventually(t, "the further Service is gone, and nothing else was written", func() error {
		if got := serviceWrites(manager.Requests.WritesSince(mark)); !slices.Equal(got, []string{"delete services/peers"}) {
			return fmt.Errorf("it wrote %v", got)
		}
		return nil
	})
	before := first.UID
	get(t, app, first)
	assert.Equal(t, before, first.UID)
}

// Whoever sends traffic by the Ingress or a route never finds it leading to a Service that is gone.
func TestTheNewServiceComesBeforeTheIngressAndTheOldOneGoesAfterIt(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Ingress = &v1.Ingress{ClassName: ptr.To("nginx"), Hosts: []v1.IngressHost{{Host: namespace + ".example.com"}}}
	cluster.CreateReady(t, app)
	manager.Rest(t)
	for _, step := range []struct {
		name    string
		further []v1.FurtherService
		writes  []string
	}{
		{"shop", nil, []string{"patch services/shop", "patch ingresses/web", "delete services/web"}},
		{"", []v1.FurtherService{{Name: "shop"}}, []string{"patch services/web", "patch services/shop", "patch ingresses/web"}},
		{"", nil, []string{"delete services/shop"}},
	} {
		mark := manager.Requests.Mark()
		cluster.Change(t, app, func(app *v1.AppService) {
			app.Spec.Service, app.Spec.Services = &v1.Service{Name: step.name}, step.further
		})
		cluster.Ready(t, app)
		manager.Rest(t)
		assert.Equal(t, step.writes, serviceWrites(manager.Requests.WritesSince(mark)))
		ingress := &networkingv1.Ingress{}
		get(t, app, ingress)
		name := ingress.Spec.Rules[0].HTTP.Paths[0].Backend.Service.Name
		cluster.Get(t, client.ObjectKey{Namespace: namespace, Name: name}, &corev1.Service{})
		assert.Equal(t, "http://"+name+"."+namespace+".svc", urls(app)[1])
	}
}

// An existing Service of the name is left alone, and the release that runs keeps its Service.
func TestAServiceOfAnotherIsNotTaken(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app, other := harness.Seed(namespace, "web"), harness.Seed(namespace, "other")
	cluster.CreateReady(t, app)
	cluster.CreateReady(t, other)
	theirs := &corev1.Service{}
	get(t, other, theirs)
	for name, spec := range map[string]v1.AppServiceSpec{
		"as the first one":  {Service: &v1.Service{Name: "other"}},
		"as a further one":  {Services: []v1.FurtherService{{Name: "other"}}},
		"that comes of one": {Services: []v1.FurtherService{{Name: "fresh"}, {Name: "other"}}},
	} {
		cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Service, app.Spec.Services = spec.Service, spec.Services })
		cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonResourceExists)
		is := &corev1.Service{}
		get(t, other, is)
		assert.Equal(t, theirs.ResourceVersion, is.ResourceVersion, name)
		get(t, app, is)
	}
}

// addressesOf lists the addresses that a Service leads to, sorted.
func addressesOf(t *testing.T, namespace, service string) (list []string) {
	t.Helper()
	found := &discoveryv1.EndpointSliceList{}
	cluster.List(t, found, client.InNamespace(namespace), client.MatchingLabels{discoveryv1.LabelServiceName: service})
	for _, slice := range found.Items {
		for _, endpoint := range slice.Endpoints {
			list = append(list, endpoint.Addresses...)
		}
	}
	slices.Sort(list)
	return list
}

func urls(app *v1.AppService) (list []string) {
	for _, endpoint := range app.Status.Endpoints {
		list = append(list, endpoint.URL)
	}
	return list
}

// serviceWrites lists the writes of Services and Ingresses, dry runs left out.
func serviceWrites(requests []harness.Request) (list []string) {
	for _, request := range requests {
		at := strings.LastIndex(request.Path, "/services/")
		if at < 0 {
			at = strings.LastIndex(request.Path, "/ingresses/")
		}
		if at >= 0 && !request.DryRun {
			list = append(list, request.Verb+" "+request.Path[at+1:])
		}
	}
	return list
}
