//go:build cluster

package security

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	v1 "github.com/example/appservice-operator/api/v1"
)

// Services whose names the spec chooses, and Ingresses that name no host.
var _ = register(vectors{
	"another's Service by the name of the first one":  takesOver(trustedService(), `ports: [{port: 80}], service: {name: trusted}`, `Service "trusted" exists`, isOwn("trusted")),
	"another's Service by the name of a further one":  takesOver(trustedService(), `ports: [{port: 80}], services: [{name: trusted}]`, `Service "trusted" exists`, isOwn("trusted")),
	"the Service of another AppService by its name":   namesOthers(`{ports: [{port: 1234}], service: {name: app}}`),
	"the Service of another AppService by a further":  namesOthers(`{ports: [{port: 1234}], service: {name: thief}, services: [{name: app}]}`),
	"an address of MetalLB by a further Service":      further("metallb.io/loadBalancerIPs: 192.0.2.1"),
	"a name in DNS by a further Service":              further("external-dns.alpha.kubernetes.io/hostname: www.example.com"),
	"the hosts that nobody names":                     catchesAll(`{className: nginx, hosts: [], anyHost: {}}`),
	"what no rule matches":                            catchesAll(`{className: internal, hosts: [], defaultBackend: {}}`),
	"everything into a closed network by a rule":      opens(`{networkPolicy: {enabled: true, ingress: [{}]}}`),
	"any address into a closed network by a rule":     opens(`{ports: [{name: http, port: 80}], networkPolicy: {enabled: true, ingress: [{from: [{ipBlock: {cidr: 0.0.0.0/0}}], ports: [{port: http}]}]}}`),
	"an annotation of the workload for another queue": policed(`workloadAnnotations: {kueue.x-k8s.io/priority-class: high}`, "annotation kueue.x-k8s.io/priority-class", is("app", annotated("kueue.x-k8s.io/priority-class"))),
	"an annotation of the workload that is the operator's": {
		does:  applies(`workloadAnnotations: {app.example.com/pod-security: privileged}`),
		harm:  is("app", annotated(v1.AnnotationPodSecurity)),
		guard: "rules of the CRD, and a hook on rendered objects", words: []string{"spec.workloadAnnotations: key "}, fixed: noReserved,
	},
})

func trustedService() *corev1.Service {
	out := &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	out.Name = "trusted"
	return out
}

// isOwn returns nil once a Service leads to the pods of AppService app.
func isOwn(name string) func(*scene) error {
	return is(name, func(s *corev1.Service) bool { return s.Spec.Selector["app.kubernetes.io/instance"] == "app" })
}

// namesOthers is a vector of an AppService thief that tries to get the Service of AppService app of its namespace.
func namesOthers(spec string) vector {
	return vector{
		prepare: func(s *scene) { s.exists("app", `{size: 0, ports: [{port: 80}]}`) },
		does:    func(s *scene) error { return s.tenant.Create(s.Context(), s.appService(s.namespace, "thief", spec)) },
		seen:    func(s *scene) error { return s.conditionOf("thief", v1.ReasonResourceExists) },
		harm:    is("app", func(s *corev1.Service) bool { return s.Spec.Ports[0].Port == 1234 }),
		guard:   "what another AppService controls is never written over",
		off:     func(s *scene) { s.deletes(s.app()) },
	}
}

// further is one about an annotation of a further Service.
func further(annotation string) vector {
	return policed(`{ports: [{port: 80}], services: [{name: app-public, type: LoadBalancer, annotations: {`+annotation+`}}]}`, "annotation",
		is("app-public", anything[*corev1.Service]))
}

// catchesAll is one about an Ingress that is for the hosts of everybody.
func catchesAll(ingress string) vector {
	v := policed("{ports: [{port: 80}], ingress: "+ingress+"}", "", is("app", anything[*networkingv1.Ingress]))
	v.guard, v.words = "wildcardHosts of the policy", []string{"wildcardHosts"}
	return v
}

func annotated(key string) func(*appsv1.Deployment) bool {
	return func(d *appsv1.Deployment) bool { return d.Annotations[key] != "" }
}
