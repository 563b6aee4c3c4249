package release

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/cluster"
	"github.com/example/appservice-operator/internal/kube"
)

// notedSecrets notes each write of a release record.
type notedSecrets struct {
	typedcorev1.SecretInterface
	owner    client.Object
	observer *cluster.Observer
}

func (s *notedSecrets) Create(ctx context.Context, secret *corev1.Secret, options metav1.CreateOptions) (*corev1.Secret, error) {
	written, err := s.SecretInterface.Create(ctx, secret, options)
	s.note(written, err)
	return written, err
}

func (s *notedSecrets) Update(ctx context.Context, secret *corev1.Secret, options metav1.UpdateOptions) (*corev1.Secret, error) {
	written, err := s.SecretInterface.Update(ctx, secret, options)
	s.note(written, err)
	return written, err
}

func (s *notedSecrets) note(written *corev1.Secret, err error) {
	if err != nil {
		return
	}
	record := &metav1.PartialObjectMetadata{ObjectMeta: *written.ObjectMeta.DeepCopy()}
	record.SetGroupVersionKind(kube.SecretKind)
	s.observer.Wrote(s.owner.GetUID(), record)
}
