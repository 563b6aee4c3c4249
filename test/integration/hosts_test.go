//go:build cluster

package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/harness"
)

// withHost makes an AppService without pods, with an Ingress for a host and path unless the host is empty.
func withHost(namespace, name, host, path string) *v1.AppService {
	app := harness.Seed(namespace, name)
	app.Spec.Size = ptr.To[int32](0)
	if host != "" {
		app.Spec.Ingress = ingressOf(host, path)
	}
	return app
}

func ingressOf(host, path string) *v1.Ingress {
	return &v1.Ingress{Hosts: []v1.IngressHost{{Host: host, Paths: []v1.IngressPath{{Path: path}}}}}
}

func TestWhoServesAHostKeepsIt(t *testing.T) {
	t.Parallel()
	one, two := cluster.Namespace(t), cluster.Namespace(t)
	manager := cluster.Manager(t, one, func(options *operator.Options, _ *harness.Requests) { options.WatchNamespaces = []string{one, two} })
	host := one + ".example.com"
	older, serving := withHost(one, "older", "", ""), withHost(two, "serving", host, "/")
	for _, app := range []*v1.AppService{older, serving} {
		cluster.CreateReady(t, app)
	}

	cluster.Change(t, older, func(app *v1.AppService) {
		app.Spec.Ingress, app.Spec.Image = ingressOf(host, "/login"), "nginx:1.27"
	})
	condition := cluster.Condition(t, older, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonHostConflict)
	if !strings.Contains(condition.Message, host+"/login is already used by another namespace") || strings.Contains(condition.Message, two) {
		t.Errorf("message: %s", condition.Message)
	}
	assert.NoError(t, want("image of who has to wait for the host", deployment(t, older).Spec.Template.Spec.Containers[0].Image, "nginx:1.27"))
	assert.NoError(t, gone(t, one, "older", &networkingv1.Ingress{}))
	manager.Rest(t)
	cluster.Ready(t, serving)

	whole := t
	t.Run("and what else it has is repaired", func(t *testing.T) {
		before := deployment(t, serving)
		deleteIt(t, serving, &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: two, Name: "serving"}})
		deleteIt(t, serving, before)
		returns(t, named(serving, &appsv1.Deployment{}), before.UID)
		hasHost(t, serving, host)
		assert.NoError(t, gone(t, one, "older", &networkingv1.Ingress{}))
	})
	t.Run("also after a restart, and while it is paused", func(t *testing.T) {
		cluster.Change(t, serving, func(app *v1.AppService) { app.Spec.Paused = true })
		cluster.Condition(t, serving, v1.ConditionReady, metav1.ConditionUnknown, v1.ReasonPaused)
		manager.Stop(t)
		manager = cluster.Manager(whole, one, func(options *operator.Options, _ *harness.Requests) { options.WatchNamespaces = []string{one, two} })
		cluster.Change(t, older, func(app *v1.AppService) { app.Spec.Image = "nginx:1.28" })
		cluster.Condition(t, older, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonHostConflict)
		manager.Rest(t)
		assert.NoError(t, gone(t, one, "older", &networkingv1.Ingress{}))
		hasHost(t, serving, host)
	})
	t.Run("until it lets go", func(t *testing.T) {
		cluster.Change(t, serving, func(app *v1.AppService) { app.Spec.Paused, app.Spec.Ingress = false, nil })
		cluster.Ready(t, serving)
		cluster.Ready(t, older)
		hasHost(t, older, host)
	})
}

func TestAppServicesOfANamespaceSwapTheirHosts(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	manager := cluster.Manager(t, namespace)
	host := func(name string) string { return name + "." + namespace + ".example.com" }
	ring := []string{"a", "b", "c"}
	apps := map[string]*v1.AppService{}
	for _, name := range ring {
		apps[name] = withHost(namespace, name, host(name), "/")
		cluster.CreateReady(t, apps[name])
	}
	uid := func(name string) types.UID {
		live := named(apps[name], &networkingv1.Ingress{})
		cluster.Refresh(t, live)
		return live.UID
	}
	for _, round := range [][]string{{"b", "a", "c"}, {"c", "b", "a"}} { // first two of them, then all
		before := map[string]types.UID{}
		for i, name := range ring {
			before[name] = uid(name)
			cluster.Change(t, apps[name], func(app *v1.AppService) { app.Spec.Ingress = ingressOf(host(round[i]), "/") })
		}
		for i, name := range ring {
			hasHost(t, apps[name], host(round[i]))
			cluster.Ready(t, apps[name])
			assert.NoError(t, want("UID of the Ingress of "+name, uid(name), before[name]))
		}
		manager.Rest(t)
	}
}

// hasHost waits until an AppService has an Ingress of its own for a host.
func hasHost(t *testing.T, app *v1.AppService, host string) {
	t.Helper()
	live := named(app, &networkingv1.Ingress{})
	cluster.Becomes(t, app.Name+" serves "+host, live, func() error { return want("host", live.Spec.Rules[0].Host, host) })
}

func TestWhatTwoTenantsMayShareOfAHost(t *testing.T) {
	withForeignKinds(t)
	t.Parallel()
	routeOf := func(host, gateway string, rules ...v1.RouteRule) func(*v1.AppServiceSpec) {
		return func(s *v1.AppServiceSpec) {
			s.Route = &v1.Route{ParentRefs: []v1.RouteParent{{Name: gateway, Namespace: "infra"}}, Rules: rules}
			if host != "" {
				s.Route.Hostnames = []string{host}
			}
		}
	}
	ingressFor := func(host, path string) func(*v1.AppServiceSpec) {
		return func(s *v1.AppServiceSpec) { s.Ingress = ingressOf(host, path) }
	}
	rules := func(match v1.RouteMatch) v1.RouteRule { return v1.RouteRule{Matches: []v1.RouteMatch{match}} }
	cases := map[string]struct {
		serves, wants func(*v1.AppServiceSpec)
		conflict      bool
		beside        bool // in the same namespace
	}{
		"a path below":                      {serves: ingressFor("HOST", "/"), wants: ingressFor("HOST", "/x"), conflict: true},
		"a path beside":                     {serves: ingressFor("HOST", "/x"), wants: ingressFor("HOST", "/y"), conflict: true},
		"a path beside of a shared host":    {serves: ingressFor("shared.HOST", "/x"), wants: ingressFor("shared.HOST", "/y")},
		"a path below of a shared host":     {serves: ingressFor("shared.HOST", "/x"), wants: ingressFor("shared.HOST", "/x/%79"), conflict: true},
		"a path beside in the namespace":    {serves: ingressFor("HOST", "/x"), wants: ingressFor("HOST", "/y"), beside: true},
		"a path below in the namespace":     {serves: ingressFor("HOST", "/"), wants: ingressFor("HOST", "/x"), beside: true},
		"the same in the namespace":         {serves: ingressFor("HOST", "/x"), wants: routeOf("HOST", "public", rules(v1.RouteMatch{Path: "/x"})), beside: true, conflict: true},
		"a host of a wildcard":              {serves: ingressFor("*.HOST", "/"), wants: ingressFor("x.HOST", "/"), conflict: true},
		"all hosts of a gateway":            {serves: routeOf("", "GATEWAY"), wants: routeOf("", "GATEWAY"), conflict: true},
		"a host of a gateway for all hosts": {serves: routeOf("", "GATEWAY"), wants: routeOf("HOST", "GATEWAY")},
		"a wildcard over a host":            {serves: routeOf("x.HOST", "public"), wants: routeOf("*.HOST", "public"), conflict: true},
	}
	one, two := cluster.Namespace(t), cluster.Namespace(t)
	platform := policyOf(t, fmt.Sprintf("default: {wildcardHosts: true, sharedHosts: [%s]}", sharedHosts(one, 20)))
	manager := cluster.Manager(t, one, func(options *operator.Options, _ *harness.Requests) {
		options.WatchNamespaces, options.Policy = []string{one, two}, platform
	})
	number := 0
	for name, test := range cases {
		number++
		words := strings.NewReplacer("HOST", fmt.Sprintf("%d.%s.example.com", number, one), "GATEWAY", fmt.Sprintf("%s-%d", one[:20], number))
		t.Run(name, func(t *testing.T) {
			serving, wanting := withHost(one, fmt.Sprintf("serving-%d", number), "", ""), withHost(two, fmt.Sprintf("wanting-%d", number), "", "")
			if test.beside {
				wanting.Namespace = one
			}
			test.serves(&serving.Spec)
			test.wants(&wanting.Spec)
			for _, app := range []*v1.AppService{serving, wanting} {
				replaced(app, words)
			}
			cluster.CreateReady(t, serving)
			cluster.Create(t, wanting)
			if test.conflict {
				cluster.Condition(t, wanting, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonHostConflict)
				deployment(t, wanting)
				cluster.Change(t, serving, func(app *v1.AppService) { app.Spec.Ingress, app.Spec.Route = nil, nil })
			}
			cluster.Ready(t, wanting)
		})
	}
	manager.Rest(t)
}

// replaced replaces strings in the hosts and gateways of an AppService.
func replaced(app *v1.AppService, words *strings.Replacer) {
	if ingress := app.Spec.Ingress; ingress != nil {
		for i := range ingress.Hosts {
			ingress.Hosts[i].Host = words.Replace(ingress.Hosts[i].Host)
		}
	}
	if route := app.Spec.Route; route != nil {
		for i := range route.Hostnames {
			route.Hostnames[i] = words.Replace(route.Hostnames[i])
		}
		for i := range route.ParentRefs {
			route.ParentRefs[i].Name = words.Replace(route.ParentRefs[i].Name)
		}
	}
}
