package livestate

import (
	"context"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// Writer is the only client that writes objects of resources: it records each write in the journal of the Observer, so
// that none can be forgotten. It is safe for concurrent use.
type Writer struct {
	Client client.Client
	// writes release records, whose payload is too large to convert to unstructured content
	Secrets  typedcorev1.SecretsGetter
	Observer *Observer
}

// Begin begins the writes of one action for a resource. End has to be called when the action is over.
func (w *Writer) Begin(owner types.UID) *Session {
	return &Session{writer: w, owner: owner, End: w.Observer.Begin(owner)}
}

// Session is the set of writes of one action for one resource.
type Session struct {
	// End has to be called when the action is over.
	End func()

	writer *Writer
	owner  types.UID
}

// Apply writes an object with server-side apply: body is its JSON. Into identifies the object; afterwards it is as the
// API server returned it, including managed fields, and may still be changed. Dry runs are not recorded.
func (s *Session) Apply(ctx context.Context, into *unstructured.Unstructured, body []byte,
	options ...client.PatchOption) error {
	if err := s.writer.Client.Patch(ctx, into, client.RawPatch(types.ApplyPatchType, body), options...); err != nil {
		return err
	}
	if len((&client.PatchOptions{}).ApplyOptions(options).DryRun) == 0 {
		s.wrote(into)
	}
	return nil
}

// Patch patches an object, which is updated to what the API server returned.
func (s *Session) Patch(ctx context.Context, object client.Object, patch client.Patch,
	options ...client.PatchOption) error {
	if err := s.writer.Client.Patch(ctx, object, patch, options...); err != nil {
		return err
	}
	s.wrote(object)
	return nil
}

// PatchForeign patches an object that is not the resource's: that is not recorded. The object is updated to what the
// API server returned.
func (s *Session) PatchForeign(ctx context.Context, object client.Object, patch client.Patch,
	options ...client.PatchOption) error {
	return s.writer.Client.Patch(ctx, object, patch, options...)
}

// Try returns the result of a patch by a dry run. Nothing is written or recorded.
func (s *Session) Try(ctx context.Context, object client.Object, patch client.Patch,
	options ...client.PatchOption) error {
	return s.writer.Client.Patch(ctx, object, patch, append(options, client.DryRunAll)...)
}

// TryCreate creates an object by a dry run, and updates it to what the API server returned. Nothing is written or
// recorded.
func (s *Session) TryCreate(ctx context.Context, object client.Object) error {
	return s.writer.Client.Create(ctx, object, client.DryRunAll, client.FieldOwner(kube.FieldManager))
}

// Delete deletes an object.
func (s *Session) Delete(ctx context.Context, object client.Object, options ...client.DeleteOption) error {
	err := s.writer.Client.Delete(ctx, object, options...)
	if err == nil || apierrors.IsNotFound(err) {
		s.writer.Observer.Deleted(s.owner, object)
	}
	return err
}

// CreateRecord creates the Secret of a release record.
func (s *Session) CreateRecord(ctx context.Context, secret *corev1.Secret) error {
	written, err := s.writer.Secrets.Secrets(secret.Namespace).Create(ctx, secret,
		metav1.CreateOptions{FieldManager: kube.FieldManager})
	s.wroteRecord(written, err)
	return err
}

// UpdateRecord replaces the Secret of a release record.
func (s *Session) UpdateRecord(ctx context.Context, secret *corev1.Secret) error {
	written, err := s.writer.Secrets.Secrets(secret.Namespace).Update(ctx, secret,
		metav1.UpdateOptions{FieldManager: kube.FieldManager})
	s.wroteRecord(written, err)
	return err
}

// DeleteRecord deletes the Secret of a release record.
func (s *Session) DeleteRecord(ctx context.Context, namespace, name string, uid types.UID) error {
	err := s.writer.Secrets.Secrets(namespace).Delete(ctx, name,
		metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(uid))})
	if err == nil || apierrors.IsNotFound(err) {
		gone := kube.Metadata(kube.SecretKind)
		gone.Namespace, gone.Name, gone.UID = namespace, name, uid
		s.writer.Observer.Deleted(s.owner, gone)
	}
	return err
}

// Record reads the Secret of a release record from the API server: the caches hold only its metadata.
func (s *Session) Record(ctx context.Context, namespace, name string) (*corev1.Secret, error) {
	return s.writer.Secrets.Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
}

func (s *Session) wrote(object client.Object) {
	noted := object
	if content, shared := object.(*unstructured.Unstructured); shared {
		noted = shallow(content)
	}
	noted.SetManagedFields(nil)
	s.writer.Observer.Wrote(s.owner, noted)
}

func (s *Session) wroteRecord(written *corev1.Secret, err error) {
	if err != nil {
		return
	}
	record := &metav1.PartialObjectMetadata{ObjectMeta: *written.ObjectMeta.DeepCopy()}
	record.SetGroupVersionKind(kube.SecretKind)
	record.SetManagedFields(nil)
	s.writer.Observer.Wrote(s.owner, record)
}

// shallow copies the part of an object that may change between two writes: its metadata. The rest is shared.
func shallow(object *unstructured.Unstructured) *unstructured.Unstructured {
	content := maps.Clone(object.Object)
	if metadata, ok := content["metadata"].(map[string]any); ok {
		content["metadata"] = maps.Clone(metadata)
	}
	return &unstructured.Unstructured{Object: content}
}
