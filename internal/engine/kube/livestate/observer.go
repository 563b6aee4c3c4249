// Package livestate owns the live state of a resource: one Snapshot of its objects and of its release records, read
// from informers and corrected by the Journal of what this process wrote. The Writer is the only client that writes;
// the Observer never does. The informers hold outlines of Secrets and of large objects; the content of a rendered one
// is fetched if another writer changed it.
package livestate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// controllerIndex finds objects by the UID of their controller, or by the resource that they are retained for.
const controllerIndex = "metadata.controller"

// Snapshot is the live state of one resource. Its objects are shared with the caches: they must not be changed.
type Snapshot struct {
	// Objects that the resource controls, or that are retained for it, except for release records. Secrets and large
	// objects may be outlines. kube.Content and kube.As read the others, whatever they are in the caches.
	Objects map[kube.Key]client.Object
	// Records are the release records that the resource controls, the newest first.
	Records []*Record
	// Record is the newest of them, of the last release; nil if there is none, or if it is lost: then the remaining ones
	// say that another release came after them.
	Record *Record
	// Unconfirmed says that the informers do not show all writes of this process. Their events may never arrive
	// if a watch broke, so the resource has to be reconciled again after Lapse.
	Unconfirmed bool
	// Unseen are the kinds that cannot be read. The snapshot has none of their objects, whether they exist or not.
	Unseen []Unseen

	tracked int // kinds
}

// Unseen is a kind that cannot be read, and why.
type Unseen struct {
	schema.GroupVersionKind
	ClusterScoped bool
	Err           error
}

// Sees returns an error if the snapshot cannot show all of some objects and of the release records: that an object is
// missing in it proves nothing then.
func (s *Snapshot) Sees(keys []kube.Key) error {
	for _, unseen := range s.Unseen {
		if unseen.GroupVersionKind == kube.SecretKind ||
			slices.ContainsFunc(keys, func(key kube.Key) bool { return key.GroupKind == unseen.GroupKind() }) {
			return unseen.Err
		}
	}
	return nil
}

// Object returns an object of the snapshot, nil if there is none.
func (s *Snapshot) Object(group, kind, name string) client.Object {
	return s.Objects[kube.Key{GroupKind: schema.GroupKind{Group: group, Kind: kind}, Name: name}]
}

// tracked is a kind whose objects are part of snapshots.
type tracked struct {
	schema.GroupVersionKind
	clusterScoped bool
	seen          func() error
}

// Observer takes snapshots, with the journal of what this process wrote. It is safe for concurrent use.
type Observer struct {
	Journal

	cache cache.Informers
	index Index // of that cache
	live  client.Reader

	mu      sync.RWMutex
	indexed []schema.GroupVersionKind
	kinds   []tracked
}

// Index finds the objects of informers by an indexed value. kube.Informers is one.
type Index interface {
	AddIndex(kind schema.GroupVersionKind, name string, values func(client.Object) []string) error
	ByIndex(kind schema.GroupVersionKind, name, value string) ([]client.Object, error)
}

// New returns an observer that reads from the informers of a cache by their index and, if these hold only an outline,
// from live.
func New(informers cache.Informers, index Index, live client.Reader) *Observer {
	return &Observer{cache: informers, index: index, live: live}
}

// Track prepares a kind for snapshots and returns the object to watch it with. Include makes it part of them.
func (o *Observer) Track(ctx context.Context, kind schema.GroupVersionKind) (client.Object, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	object := kube.Representation(kind)
	if slices.Contains(o.indexed, kind) {
		return object, nil
	}
	if _, err := o.cache.GetInformer(ctx, object, cache.BlockUntilSynced(false)); err != nil {
		return nil, fmt.Errorf("cannot watch %s: %w", kind.Kind, err)
	}
	if err := o.index.AddIndex(kind, controllerIndex, owners); err != nil {
		return nil, fmt.Errorf("cannot watch %s: %w", kind.Kind, err)
	}
	o.indexed = append(o.indexed, kind)
	return object, nil
}

// Include makes the objects of a tracked kind part of all later snapshots, while seen returns nil: its informer then
// shows all of them.
func (o *Observer) Include(kind schema.GroupVersionKind, clusterScoped bool, seen func() error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !slices.ContainsFunc(o.kinds, func(known tracked) bool { return known.GroupVersionKind == kind }) {
		o.kinds = append(slices.Clone(o.kinds), tracked{kind, clusterScoped, seen})
	}
}

// owners returns the values of the index for an object: its namespace, and what it belongs to. Claims of replicas and
// the workloads that create them have a common one, too.
func owners(object client.Object) (values []string) {
	if owner := ownerOf(object); owner != "" {
		values = append(values, indexed(object.GetNamespace(), owner))
	}
	prefixes := kube.ClaimPrefixes(object)
	if object.GetObjectKind().GroupVersionKind() == claimKind {
		if prefix, _, of := kube.CutOrdinal(object.GetName()); of {
			prefixes = append(prefixes, prefix)
		}
	}
	for _, prefix := range prefixes {
		values = append(values, indexed(object.GetNamespace(), replicated(prefix)))
	}
	return values
}

var claimKind = corev1.SchemeGroupVersion.WithKind(kube.RetainedKind)

// replicated stands for the claims of replicas with a prefix. No UID contains a slash.
func replicated(prefix string) string { return "claims/" + prefix }

// Claims returns the claims of replicas with a prefix that the caches hold: those of any resource.
func (o *Observer) Claims(namespace, prefix string) []client.Object {
	claims, _ := o.index.ByIndex(claimKind, controllerIndex, indexed(namespace, replicated(prefix))) // none if not watched
	return claims
}

// Claiming returns the workloads that use a claim of a replica, by its name, if they have so many replicas.
func (o *Observer) Claiming(claim client.Object) (workloads []client.Object) {
	prefix, _, of := kube.CutOrdinal(claim.GetName())
	o.mu.RLock()
	defer o.mu.RUnlock()
	for _, kind := range o.indexed {
		if of && kube.TraitsOf(kind.GroupKind()).Claims != nil {
			some, _ := o.index.ByIndex(kind, controllerIndex, indexed(claim.GetNamespace(), replicated(prefix)))
			workloads = append(workloads, some...)
		}
	}
	return workloads
}

// indexed returns the index value for what belongs to an owner. An object may name an owner of another namespace.
func indexed(namespace, owner string) string { return namespace + "/" + owner }

// ownerOf returns the UID of the controller of an object, or of the resource that it is retained for, or the name of
// that if an earlier operator marked it; empty if it belongs to none.
func ownerOf(object client.Object) string {
	if owner := metav1.GetControllerOfNoCopy(object); owner != nil {
		return string(owner.UID)
	}
	if name := kube.RetainedFor(object); name != "" {
		return cmp.Or(object.GetLabels()[v1.LabelOwner], retained(name))
	}
	return kube.LabeledOwner(object)
}

// retained stands for a resource that objects are retained for. No UID contains a slash.
func retained(name string) string { return "retained/" + name }

// Snapshot returns the live state of a resource. Wanted objects are read from the API server if the informers hold only
// their outline; nil for none.
func (o *Observer) Snapshot(ctx context.Context, resource client.Object,
	wanted func(outline client.Object) bool) (*Snapshot, error) {
	o.mu.RLock()
	kinds := o.kinds
	o.mu.RUnlock()
	noted := o.entriesOf(resource.GetUID())
	objects := map[kube.Key]client.Object{}
	var unseen []Unseen
	for _, kind := range kinds {
		if err := kind.seen(); err != nil {
			unseen = append(unseen, Unseen{kind.GroupVersionKind, kind.clusterScoped, err})
			continue
		}
		namespace := resource.GetNamespace()
		if kind.clusterScoped {
			namespace = ""
		}
		if err := o.list(namespace, string(resource.GetUID()), kind.GroupVersionKind, objects); err != nil {
			return nil, fmt.Errorf("cannot list %s: %w", kind.Kind, err)
		}
		if kind.Kind != kube.RetainedKind {
			continue
		}
		if err := o.list(namespace, retained(resource.GetName()), kind.GroupVersionKind, objects); err != nil {
			return nil, fmt.Errorf("cannot list %s: %w", kind.Kind, err)
		}
	}
	unconfirmed := overlay(noted, objects)

	snapshot := &Snapshot{Objects: objects, Unconfirmed: unconfirmed, Unseen: unseen, tracked: len(kinds)}
	for key, object := range objects {
		if !IsRecord(object) {
			continue
		}
		delete(objects, key)
		if record := RecordOf(resource, object); record != nil {
			snapshot.Records = append(snapshot.Records, record)
		}
	}
	slices.SortFunc(snapshot.Records, func(a, b *Record) int { return b.Revision - a.Revision })
	if len(snapshot.Records) > 0 && snapshot.Records[0].Status != statusSuperseded {
		snapshot.Record = snapshot.Records[0]
	}
	if wanted == nil {
		return snapshot, nil
	}
	return snapshot, o.Complete(ctx, snapshot, wanted)
}

// Outgrown reports whether more kinds can be read by now than when a snapshot was taken.
func (o *Observer) Outgrown(by *Snapshot) bool {
	o.mu.RLock()
	kinds := o.kinds
	o.mu.RUnlock()
	for at, kind := range kinds {
		had := at < by.tracked && !slices.ContainsFunc(by.Unseen,
			func(unseen Unseen) bool { return unseen.GroupVersionKind == kind.GroupVersionKind })
		if !had && kind.seen() == nil {
			return true
		}
	}
	return false
}

func (o *Observer) list(namespace, owner string, kind schema.GroupVersionKind, into map[kube.Key]client.Object) error {
	found, err := o.index.ByIndex(kind, controllerIndex, indexed(namespace, owner))
	for _, object := range found {
		if metadata, yes := object.(*metav1.PartialObjectMetadata); yes { // informers of metadata do not set the kind
			named := *metadata
			named.SetGroupVersionKind(kind)
			object = &named
		}
		into[kube.KeyOf(object)] = object
	}
	return err
}
