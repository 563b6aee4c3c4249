package reference

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/digest"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/gateway"
)

// NamespaceKind is the kind whose labels determine what namespaces enforce.
var NamespaceKind = corev1.SchemeGroupVersion.WithKind("Namespace")

// referenceKinds are the kinds that references point to, by name.
var referenceKinds = map[string]schema.GroupVersionKind{
	ConfigMap:             corev1.SchemeGroupVersion.WithKind(ConfigMap),
	Secret:                kube.SecretKind,
	ServiceAccount:        corev1.SchemeGroupVersion.WithKind(ServiceAccount),
	PersistentVolumeClaim: corev1.SchemeGroupVersion.WithKind(PersistentVolumeClaim),
	IngressClass:          networkingv1.SchemeGroupVersion.WithKind(IngressClass),
	StorageClass:          storagev1.SchemeGroupVersion.WithKind(StorageClass),
	Gateway:               gateway.Kind,
	NamespaceKind.Kind:    NamespaceKind,
}

// KindOf returns the kind that references of a name point to, and whether it is cluster-scoped.
func KindOf(name string) (kind schema.GroupVersionKind, clusterScoped bool) {
	switch name {
	case IngressClass, StorageClass, NamespaceKind.Kind:
		clusterScoped = true
	}
	return referenceKinds[name], clusterScoped
}

// Version returns a value that changes whenever anything changes that is read of an object. For a Gateway that is the
// generation: its status changes whenever any route is added or removed.
func Version(object client.Object) string {
	if object.GetObjectKind().GroupVersionKind() == gateway.Kind {
		return strconv.FormatInt(object.GetGeneration(), 10)
	}
	return object.GetResourceVersion()
}

// Strip is the transform of caches that are used for versions and labels of namespaces only: it keeps name, UID,
// version and, for namespaces, the labels: one sets the Pod Security level that they enforce, and the platform's policy
// may select by any.
func Strip(in any) (any, error) {
	object, ok := in.(*metav1.PartialObjectMetadata)
	if !ok {
		return in, nil
	}
	kept := &metav1.PartialObjectMetadata{TypeMeta: object.TypeMeta}
	kept.Name, kept.Namespace, kept.UID, kept.ResourceVersion = object.Name, object.Namespace, object.UID,
		object.ResourceVersion
	kept.Generation = object.Generation
	if object.Kind == NamespaceKind.Kind {
		kept.Labels = object.Labels
	}
	return kept, nil
}

// Dependencies returns the state of objects that others own. It reads their metadata from informers and fetches the
// payload of a ConfigMap, Secret or Gateway that is referred to when its version is new; it keeps only digests or
// listeners of it. It is safe for concurrent use.
type Dependencies struct {
	informers client.Reader
	live      client.Reader

	mu       sync.Mutex
	payloads map[Object]payload // by where the objects are
}

// payload is the part of an object that is kept, in a version.
type payload struct {
	uid     types.UID
	version string
	state   State
}

// NewDependencies returns a reader. The informers hold metadata of all objects of the kinds in question.
func NewDependencies(informers, live client.Reader) *Dependencies {
	return &Dependencies{informers: informers, live: live, payloads: map[Object]payload{}}
}

// Look returns the state of one object that something in a namespace refers to. If the informers do not show it,
// confirm checks with the API server as well.
func (d *Dependencies) Look(ctx context.Context, namespace string, object Object, confirm bool) (State, error) {
	kind, _ := KindOf(object.Kind)
	at := object.From(namespace)
	key := types.NamespacedName{Namespace: at.Namespace, Name: at.Name}
	metadata := kube.Metadata(kind)
	err := d.informers.Get(ctx, key, metadata)
	if confirm && apierrors.IsNotFound(err) { // or the informer is behind
		err = d.live.Get(ctx, key, metadata)
	}
	switch {
	case apierrors.IsNotFound(err):
		d.Forget(at)
		if object.Kind != IngressClass && object.Kind != StorageClass {
			return State{}, nil
		}
		others, err := d.names(ctx, kind)
		return State{Others: others}, err
	case err != nil:
		return State{}, fmt.Errorf("cannot look for %s: %w", object, err)
	case keeps[object.Kind] == nil:
		return State{Found: true}, nil
	}
	d.mu.Lock()
	known := d.payloads[at]
	d.mu.Unlock()
	if version := Version(metadata); known.uid == metadata.UID &&
		(known.version == version || kube.Newer(known.version, version)) {
		return known.state, nil
	}
	return d.fetch(ctx, at, kind)
}

// names lists the objects of a kind, by name.
func (d *Dependencies) names(ctx context.Context, kind schema.GroupVersionKind) ([]string, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := d.informers.List(ctx, list); err != nil {
		return nil, fmt.Errorf("cannot list %s: %w", kind.Kind, err)
	}
	var names []string
	for _, item := range list.Items {
		names = append(names, item.Name)
	}
	slices.Sort(names)
	return names, nil
}

// fetch reads the payload of an object.
func (d *Dependencies) fetch(ctx context.Context, at Object, kind schema.GroupVersionKind) (State, error) {
	object := kube.Object(kind)
	err := d.live.Get(ctx, types.NamespacedName{Namespace: at.Namespace, Name: at.Name}, object)
	if apierrors.IsNotFound(err) {
		d.Forget(at)
		return State{}, nil
	}
	if err != nil {
		return State{}, fmt.Errorf("cannot read %s: %w", at, err)
	}
	read := payload{uid: object.GetUID(), version: Version(object), state: keeps[at.Kind](object)}
	d.mu.Lock()
	defer d.mu.Unlock()
	if known := d.payloads[at]; known.uid == read.uid && read.state.Data != nil &&
		maps.Equal(known.state.Data, read.state.Data) {
		read.state.Version = known.state.Version
	}
	d.payloads[at] = read
	return read.state, nil
}

// Forget drops the memory of an object that is gone.
func (d *Dependencies) Forget(at Object) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.payloads, at)
}

// keeps are the kinds whose payload is read, and the part of it that is kept.
var keeps = map[string]func(*unstructured.Unstructured) State{
	ConfigMap: contentOf,
	Secret:    contentOf,
	Gateway:   func(object *unstructured.Unstructured) State { return State{Found: true, Gateway: gateway.Of(object)} },
}

func contentOf(object *unstructured.Unstructured) State {
	return State{Found: true, Data: digests(object),
		Version: fmt.Sprintf("%s/%s", object.GetUID(), object.GetResourceVersion())}
}

// digests returns a digest of each entry of a ConfigMap or Secret: 32 hexadecimal characters of its SHA-256.
func digests(object *unstructured.Unstructured) map[string]string {
	out := map[string]string{}
	for _, field := range []string{"data", "binaryData"} {
		data, _, _ := unstructured.NestedMap(object.Object, field)
		for key, value := range data {
			out[key] = digest.Of(fmt.Append(nil, value))[:32]
		}
	}
	return out
}

// Labels returns the labels of a namespace. The error is NotFound if the informers do not show it.
func (d *Dependencies) Labels(ctx context.Context, namespace string) (map[string]string, error) {
	metadata := kube.Metadata(NamespaceKind)
	if err := d.informers.Get(ctx, types.NamespacedName{Name: namespace}, metadata); err != nil {
		return nil, err
	}
	return metadata.Labels, nil
}
