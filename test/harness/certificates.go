package harness

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
)

// NobodysCertificate is what the names of Secrets for TLS begin with that nobody makes.
const NobodysCertificate = "missing"

// serveCertificates makes the Secrets that Ingresses name for TLS, until the context ends, as cert-manager does.
func (c *Cluster) serveCertificates(ctx context.Context) error {
	clients, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	factory := informers.NewSharedInformerFactory(clients, 0)
	err = eachOf(factory.Networking().V1().Ingresses().Informer(), func(ingress *networkingv1.Ingress) {
		for _, tls := range ingress.Spec.TLS {
			if tls.SecretName == "" || strings.HasPrefix(tls.SecretName, NobodysCertificate) {
				continue
			}
			_ = c.Client.Create(ctx, &corev1.Secret{ // it is there already, or the tests are over
				ObjectMeta: metav1.ObjectMeta{Namespace: ingress.Namespace, Name: tls.SecretName}, Type: corev1.SecretTypeTLS,
				Data: map[string][]byte{corev1.TLSCertKey: nil, corev1.TLSPrivateKeyKey: nil},
			})
		}
	})
	factory.Start(ctx.Done())
	return err
}
