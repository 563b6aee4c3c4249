package harness

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// BalancerAddress is the address of Services of type LoadBalancer in test clusters.
	BalancerAddress = "192.0.2.80"
	// NobodysBalancers is a class of load balancers that no controller serves.
	NobodysBalancers = "example.com/nobody"
)

// serveIngressClasses creates the IngressClasses that samples name. No controller serves the Ingresses; they are ready without one.
func (c *Cluster) serveIngressClasses(ctx context.Context) error {
	for _, name := range []string{"nginx", "internal"} {
		class := &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: networkingv1.IngressClassSpec{Controller: "example.com/ingress"}}
		if err := c.Client.Create(ctx, class); client.IgnoreAlreadyExists(err) != nil {
			return fmt.Errorf("cannot make the IngressClass %s: %w", name, err)
		}
	}
	return nil
}

// balance sets the address of a Service of type LoadBalancer.
func (c *Cluster) balance(ctx context.Context, service *corev1.Service) {
	if ptr.Deref(service.Spec.LoadBalancerClass, "") == NobodysBalancers || len(service.Status.LoadBalancer.Ingress) > 0 {
		return
	}
	after := service.DeepCopy()
	after.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: BalancerAddress}}
	_ = c.Client.Status().Patch(ctx, after, client.MergeFrom(service)) // a deleted one needs none
}
