package diagnose

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/operator/status/reason"
)

// certificates is the kind in which cert-manager reports the progress of a TLS Secret.
var certificates = schema.GroupVersionKind{Group: "cert-manager.io", Version: "v1", Kind: "CertificateList"}

// Awaited is an object that waits for a controller which reports problems elsewhere: a Service for its load balancer,
// or an Ingress for its certificates.
type Awaited struct {
	client.Object
	// secrets are the TLS Secrets that an Ingress waits for.
	secrets []string
}

// AwaitedOf returns the Awaited of an object; false if it waits for nothing. Missing are the references to missing
// objects.
func AwaitedOf(object client.Object, missing []reference.Reference) (*Awaited, bool) {
	switch typed := kube.Typed(object).(type) {
	case *corev1.Service:
		return &Awaited{Object: typed},
			typed.Spec.Type == corev1.ServiceTypeLoadBalancer && len(typed.Status.LoadBalancer.Ingress) == 0
	case *networkingv1.Ingress:
		out := &Awaited{Object: typed}
		for _, tls := range typed.Spec.TLS {
			if slices.ContainsFunc(missing,
				func(r reference.Reference) bool { return r.Kind == reference.Secret && r.Name == tls.SecretName }) {
				out.secrets = append(out.secrets, tls.SecretName)
			}
		}
		return out, len(out.secrets) > 0
	}
	return nil, false
}

// Follow returns the schedule for reading what others report about the object: the known one if it is for the same
// object, else a new one.
func (a *Awaited) Follow(known *PodReads, now time.Time) *PodReads {
	about := subject{uid: a.GetUID()}
	if known == nil || known.subject != about {
		return &PodReads{subject: about, since: now, next: now.Add(patience)}
	}
	return known
}

// Ask reads with one request what others report about the object, and returns why it waits; "" if they do not report
// it.
func (a *Awaited) Ask(ctx context.Context, live client.Reader) ([]Cause, error) {
	if len(a.secrets) > 0 {
		return a.certificates(ctx, live)
	}
	events := &corev1.EventList{}
	if err := live.List(ctx, events, client.InNamespace(a.GetNamespace()),
		client.MatchingFields{"involvedObject.uid": string(a.GetUID())}); err != nil {
		return nil, fmt.Errorf("cannot list events: %w", err)
	}
	var newest *corev1.Event
	for i := range events.Items {
		if event := &events.Items[i]; newest == nil || lastTime(event).After(lastTime(newest)) {
			newest = event
		}
	}
	if newest == nil || newest.Type != corev1.EventTypeWarning {
		return nil, nil
	}
	return []Cause{{
		Reason: v1.ReasonLoadBalancerPending, Source: "Service " + a.GetName(), Effect: Lasting,
		Hint:    reason.Of(v1.ReasonLoadBalancerPending).Hint,
		Message: "no load balancer has assigned an address", Detail: Brief(newest.Message),
	}}, nil
}

// certificates returns what cert-manager reports about the Secrets.
func (a *Awaited) certificates(ctx context.Context, live client.Reader) ([]Cause, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(certificates)
	err := live.List(ctx, list, client.InNamespace(a.GetNamespace()))
	switch {
	// no cert-manager, or the operator may not read its objects
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("cannot list Certificates: %w", err)
	}
	var causes []Cause
	for i := range list.Items {
		certificate := &list.Items[i]
		if name, _, _ := unstructured.NestedString(certificate.Object, "spec",
			"secretName"); slices.Contains(a.secrets, name) {
			causes = append(causes, ofCertificate(certificate, name))
		}
	}
	order(causes)
	return causes, nil
}

// ofCertificate returns the cause that a Certificate reports about its Secret: issuing failed, or is in progress.
func ofCertificate(certificate *unstructured.Unstructured, secret string) Cause {
	cause := Cause{
		Reason: v1.ReasonCertificateMissing, Source: "Certificate " + certificate.GetName(), Effect: Passing,
		Message: fmt.Sprintf("the certificate is missing: Secret %q does not exist", secret),
		Hint:    "see kubectl describe certificate " + certificate.GetName(),
	}
	conditions, _, _ := unstructured.NestedSlice(certificate.Object, "status", "conditions")
	for _, condition := range conditions {
		condition, _ := condition.(map[string]any)
		message, _ := condition["message"].(string)
		if generation, dated := condition["observedGeneration"].(int64); dated && generation < certificate.GetGeneration() {
			continue // it is about an earlier spec
		}
		switch {
		case condition["type"] == "Issuing" && condition["status"] == "False" && condition["reason"] == "Failed":
			cause.Effect, cause.Detail = Lasting,
				Brief(strings.TrimPrefix(message, "The certificate request has failed to complete and will be retried: "))
			return cause
		case condition["type"] == "Ready" && condition["status"] == "False":
			cause.Detail = Brief(message)
		}
	}
	return cause
}
