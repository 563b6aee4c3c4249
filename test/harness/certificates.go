package harness

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NobodysCertificate is the prefix of names of TLS Secrets that never get created.
const NobodysCertificate = "missing"

// certify creates the Secrets that an Ingress names for TLS, as cert-manager does.
func (c *Cluster) certify(ctx context.Context, ingress *networkingv1.Ingress) {
	for _, tls := range ingress.Spec.TLS {
		if tls.SecretName == "" || strings.HasPrefix(tls.SecretName, NobodysCertificate) {
			continue
		}
		_ = c.Client.Create(ctx, &corev1.Secret{ // it exists already, or the tests are over
			ObjectMeta: metav1.ObjectMeta{Namespace: ingress.Namespace, Name: tls.SecretName}, Type: corev1.SecretTypeTLS,
			Data: map[string][]byte{corev1.TLSCertKey: nil, corev1.TLSPrivateKeyKey: nil},
		})
	}
}
