package health

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
)

const (
	// balancerPatience is the time in which clouds should assign an address, and certificatePatience that of certificate
	// issuers.
	balancerPatience, certificatePatience = 5 * time.Minute, 2 * time.Minute
)

// service is ready at once, unless it requests a load balancer: then it needs an address.
func service(s *corev1.Service, facts Facts) State {
	if s.Spec.Type != corev1.ServiceTypeLoadBalancer || len(s.Status.LoadBalancer.Ingress) > 0 {
		return State{}
	}
	return State{
		Reason:  v1.ReasonLoadBalancerPending,
		Message: "no load balancer has assigned an address",
	}.overdue(s, facts, balancerPatience)
}

// annotationIngressClass names the class of an Ingress where the newer field is not used.
const annotationIngressClass = "kubernetes.io/ingress.class"

// ingress needs its class, which determines its controller, and the certificates that it names. Admission sets the
// default class if none is named.
func ingress(i *networkingv1.Ingress, facts Facts) State {
	if class := i.Spec.IngressClassName; class != nil {
		if others, missing := facts.Missing[reference.Object{Kind: reference.IngressClass, Name: *class}]; missing {
			return missingClass(*class, others)
		}
	}
	var names []string
	for _, tls := range i.Spec.TLS {
		if _, missing := facts.Missing[reference.Object{Kind: reference.Secret, Name: tls.SecretName}]; missing &&
			tls.SecretName != "" && !slices.Contains(names, tls.SecretName) {
			names = append(names, tls.SecretName)
		}
	}
	switch {
	case len(names) == 0 && i.Spec.IngressClassName == nil && i.Annotations[annotationIngressClass] == "":
		return State{
			Verdict: Warned, Reason: v1.ReasonIngressClassMissing,
			Message: "the Ingress has no class, and the cluster has no default class: most controllers ignore it",
		}
	case len(names) == 0:
		return State{}
	}
	return State{
		Reason:  v1.ReasonCertificateMissing,
		Message: fmt.Sprintf("the certificate is missing: Secret %s does not exist", quoted(names)),
	}.overdue(i, facts, certificatePatience)
}

func missingClass(class string, others []string) State {
	state := State{
		Verdict: Stuck,
		Reason:  v1.ReasonDependencyMissing,
		Message: fmt.Sprintf("IngressClass %q does not exist, so no controller serves it; the cluster has none", class),
		Hint:    "install an ingress controller, or leave the class out if the cluster has a default class",
	}
	if len(others) > 0 {
		state.Message = fmt.Sprintf("IngressClass %q does not exist, so no controller serves it; the cluster has %s", class,
			quoted(others))
		state.Hint = "use one of the existing classes, or ask the platform team to install that one"
	}
	return state
}

// quoted lists a few names.
func quoted(names []string) string {
	const most = 5
	var list []string
	for i, name := range names {
		if i == most {
			list = append(list, fmt.Sprintf("%d more", len(names)-most))
			break
		}
		list = append(list, fmt.Sprintf("%q", name))
	}
	return strings.Join(list, ", ")
}
