package diagnose

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
)

func balancer() *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web", UID: "s"}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer}}
}

func secured() *networkingv1.Ingress {
	return &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web", UID: "i"},
		Spec:       networkingv1.IngressSpec{TLS: []networkingv1.IngressTLS{{SecretName: "web-tls"}}},
	}
}

func withoutSecret(name string) []reference.Reference {
	return []reference.Reference{{Object: reference.Object{Kind: reference.Secret, Name: name}, By: reference.ByTLS}}
}

func TestWhoWaitsForOthers(t *testing.T) {
	given := balancer()
	given.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "192.0.2.1"}}
	for name, test := range map[string]struct {
		object  client.Object
		missing []reference.Reference
		want    bool
	}{
		"nothing":                                 {nil, nil, false},
		"a Service of the cluster":                {&corev1.Service{}, nil, false},
		"a load balancer without an address":      {balancer(), nil, true},
		"a load balancer with an address":         {given, nil, false},
		"an Ingress whose certificate exists":     {secured(), withoutSecret("other"), false},
		"an Ingress whose certificate is missing": {secured(), withoutSecret("web-tls"), true},
		"a ConfigMap":                             {&corev1.ConfigMap{}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			if _, got := AwaitedOf(test.object, test.missing); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestWhatOthersSayOfWhatWaits(t *testing.T) {
	event := func(kind, message string, after time.Duration) client.Object {
		return &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: "demo", GenerateName: "e", Name: "e" + message[:1]}, Type: kind, Message: message,
			InvolvedObject: corev1.ObjectReference{UID: "s"}, LastTimestamp: metav1.NewTime(time.Unix(0, 0).Add(after)),
		}
	}
	certificate := func(secret string, conditions ...any) client.Object {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": map[string]any{"namespace": "demo", "name": "web"},
			"spec": map[string]any{"secretName": secret}, "status": map[string]any{"conditions": conditions},
		}}
	}
	condition := func(kind, status, reason, message string) any {
		return map[string]any{"type": kind, "status": status, "reason": reason, "message": message}
	}
	for name, test := range map[string]struct {
		object client.Object
		there  []client.Object
		reason string
		effect Effect
		text   string
	}{
		"nobody says anything of a load balancer": {balancer(), nil, "", 0, ""},
		"the cloud refuses one": {
			balancer(), []client.Object{event(corev1.EventTypeNormal, "Ensuring load balancer", 0), event(corev1.EventTypeWarning, "failed: no addresses left in pool", time.Second)},
			v1.ReasonLoadBalancerPending, Lasting, "no load balancer has assigned an address: failed: no addresses left in pool",
		},
		"the cloud tries again": {
			balancer(), []client.Object{event(corev1.EventTypeWarning, "failed", 0), event(corev1.EventTypeNormal, "Ensuring load balancer", time.Second)}, "", 0, "",
		},
		"there is no Certificate":             {secured(), nil, "", 0, ""},
		"a Certificate is for another Secret": {secured(), []client.Object{certificate("other")}, "", 0, ""},
		"a Certificate is on its way": {
			secured(), []client.Object{certificate("web-tls", condition("Ready", "False", "DoesNotExist", "Issuing certificate as Secret does not exist"))},
			v1.ReasonCertificateMissing, Passing, `the certificate is missing: Secret "web-tls" does not exist: Issuing certificate as Secret does not exist`,
		},
		"a Certificate cannot be had": {
			secured(), []client.Object{certificate("web-tls", condition("Ready", "False", "DoesNotExist", "Issuing certificate as Secret does not exist"),
				condition("Issuing", "False", "Failed", "The certificate request has failed to complete and will be retried: Failed to wait for order resource to become ready"))},
			v1.ReasonCertificateMissing, Lasting, `the certificate is missing: Secret "web-tls" does not exist: Failed to wait for order resource to become ready`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			live := fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(test.there...).
				WithIndex(&corev1.Event{}, "involvedObject.uid", func(o client.Object) []string { return []string{string(o.(*corev1.Event).InvolvedObject.UID)} }).Build()
			awaited, waits := AwaitedOf(test.object, withoutSecret("web-tls"))
			if !waits {
				t.Fatal("it does not wait")
			}
			causes, err := awaited.Ask(t.Context(), live)
			switch {
			case err != nil:
				t.Fatal(err)
			case test.reason == "" && len(causes) == 0:
			case len(causes) != 1 || causes[0].Reason != test.reason || causes[0].Effect != test.effect || causes[0].Text() != test.text:
				t.Errorf("got %+v", causes)
			}
		})
	}
}

func TestAWaitIsLookedAtAgain(t *testing.T) {
	now := time.Unix(0, 0)
	awaited, _ := AwaitedOf(balancer(), nil)
	looks := awaited.Follow(nil, now)
	if looks.Due(now) || !looks.Due(now.Add(patience)) {
		t.Error("the first look is not after some patience")
	}
	looks.Done(now.Add(patience), nil)
	if again := awaited.Follow(looks, now.Add(patience)); again != looks || again.Due(now.Add(patience)) {
		t.Error("the schedule is not followed")
	}
	other := balancer()
	other.UID = "other"
	awaited, _ = AwaitedOf(other, nil)
	if awaited.Follow(looks, now) == looks {
		t.Error("another object has the same schedule")
	}
}
