package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/poll"
)

// addressedPort is the node port of the application whose addresses are tried.
const addressedPort = 30005

// visitEndpoints asks each address that a status names: a node port from here, a name in the cluster from a pod. Pods do not listen on
// the port of the Service, so that only the right port answers.
func visitEndpoints(ctx context.Context, s *suite) {
	plain, headless := web(apps, "addressed", addressedPort), web(apps, "headless", 0)
	headless.Spec.Ports = []v1.Port{{Port: 80, TargetPort: ptr.To(intstr.FromInt32(8080))}}
	headless.Spec.Service = &v1.Service{ServiceSettings: v1.ServiceSettings{ClusterIP: corev1.ClusterIPNone}}
	for app, scopes := range map[*v1.AppService][]v1.EndpointScope{plain: {v1.ScopeCluster, v1.ScopeNode}, headless: {v1.ScopeCluster}} {
		s.createReady(ctx, app)
		try.Do(hasEndpoints(app, scopes))
		for _, endpoint := range app.Status.Endpoints {
			s.visit(ctx, app, endpoint)
		}
		try.Do(s.client.Delete(ctx, app))
	}
}

// hasEndpoints returns an error unless the status names one address of each scope, in that order, and the first as the URL.
func hasEndpoints(app *v1.AppService, scopes []v1.EndpointScope) error {
	list := app.Status.Endpoints
	wrong := len(list) != len(scopes) || len(list) == 0 || app.Status.URL != list[0].URL
	for i := range min(len(list), len(scopes)) {
		wrong = wrong || list[i].Scope != scopes[i]
	}
	if wrong {
		return fmt.Errorf("%s has the URL %q and the endpoints %v, want %v", app.Name, app.Status.URL, list, scopes)
	}
	return nil
}

// visit waits until an address answers. That of a node is asked from here. A name is asked by an application that becomes ready when
// it gets an answer; it has the name in its hosts file, because not every cluster here has DNS.
func (s *suite) visit(ctx context.Context, app *v1.AppService, endpoint v1.Endpoint) {
	if endpoint.Scope == v1.ScopeNode {
		address := strings.Replace(endpoint.URL, "NODE", s.cluster.address, 1)
		try.Do(poll.Until(ctx, func(ctx context.Context) error { _, err := get(ctx, address); return err }))
		return
	}
	address := try.Get(url.Parse(endpoint.URL))
	ip := s.resolve(ctx, app)
	visitor := web(apps, "visitor-of-"+app.Name, 0)
	visitor.Spec.Size = ptr.To[int32](1)
	visitor.Spec.Envs = []corev1.EnvVar{{Name: "VISIT", Value: endpoint.URL}}
	visitor.Spec.HostAliases = []corev1.HostAlias{{IP: ip, Hostnames: []string{address.Hostname()}}}
	visitor.Spec.Probes = &v1.Probes{Readiness: &v1.ReadinessProbe{Probe: v1.Probe{
		HTTPGet: &v1.HTTPGetProbe{Path: "/healthz", Port: ptr.To(intstr.FromInt32(8080))}, PeriodSeconds: ptr.To[int32](1),
	}}}
	s.createReady(ctx, visitor)
	try.Do(s.client.Delete(ctx, visitor))
}

// resolve is what DNS says to the name of a Service: its own address, or that of a pod if it is headless.
func (s *suite) resolve(ctx context.Context, app *v1.AppService) string {
	service := &corev1.Service{}
	try.Do(s.client.Get(ctx, client.ObjectKeyFromObject(app), service))
	if net.ParseIP(service.Spec.ClusterIP) != nil {
		return service.Spec.ClusterIP
	}
	pods := try.Get(s.pods(ctx, app))
	for _, pod := range pods {
		if pod.Status.PodIP != "" {
			return pod.Status.PodIP
		}
	}
	try.Fail("no pod of %s has an address", app.Name)
	return ""
}
