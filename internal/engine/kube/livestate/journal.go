package livestate

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// Journal remembers what this process wrote until the informers show it, so that a stale cache is never mistaken for
// lost objects. It is safe for concurrent use. The zero value is empty and ready.
type Journal struct {
	mu     sync.Mutex
	owners map[types.UID]map[kube.Key]entry
	// events has the newest event of each object since an action of its owner began: an event may overtake the record
	// of the write.
	events map[types.UID]map[kube.Key]event
}

// entry is the last write to one object: its state as the API server returned it, or its UID if it was deleted.
type entry struct {
	written client.Object
	deleted types.UID
	at      time.Time
}

// event is the newest event of an object.
type event struct {
	object  client.Object
	deleted bool
}

// tells reports whether an event covers an entry: the informer shows the version of the entry, or a newer one.
func (t event) tells(e entry) bool {
	if e.written == nil {
		return (t.deleted || isGoing(t.object)) && t.object.GetUID() == e.deleted
	}
	return t.deleted && t.object.GetUID() == e.written.GetUID() || !kube.Older(t.object, e.written)
}

// isGoing reports whether an object was deleted and is held by finalizers: nothing can be made in its place yet.
func isGoing(object client.Object) bool { return object.GetDeletionTimestamp() != nil }

// Lapse is how long a write is remembered at most: if a watch breaks, the event that would end it may never arrive.
// Forgetting too early costs only a read from the API server.
const Lapse = 30 * time.Second

// Begin marks the beginning of an action of an owner; its writes are recorded until the end. From the first request on,
// events are remembered: an event that is newer than a write may arrive before the write is recorded.
func (j *Journal) Begin(owner types.UID) (end func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.events == nil {
		j.events = map[types.UID]map[kube.Key]event{}
	}
	j.events[owner] = map[kube.Key]event{}
	return func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		delete(j.events, owner)
	}
}

// Wrote records an object as the API server returned it after a write. It must not be changed afterwards.
func (j *Journal) Wrote(owner types.UID, object client.Object) {
	j.put(owner, kube.KeyOf(object), entry{written: object})
}

// Deleted records that an object was deleted.
func (j *Journal) Deleted(owner types.UID, object client.Object) {
	j.put(owner, kube.KeyOf(object), entry{deleted: object.GetUID()})
}

// Forget drops everything that is recorded for an owner.
func (j *Journal) Forget(owner types.UID) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.owners, owner)
}

// Seen records a watch event and reports whether it is the echo of a write of this process, which needs no further
// attention.
func (j *Journal) Seen(owner types.UID, object client.Object, deleted bool) (echo bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	key := kube.KeyOf(object)
	if told := j.events[owner]; told != nil {
		told[key] = event{object, deleted}
	}
	noted, found := j.owners[owner][key]
	switch {
	case !found:
		return false
	case noted.written == nil:
		echo = deleted && noted.deleted == object.GetUID()
		if echo || noted.deleted != object.GetUID() || isGoing(object) {
			delete(j.owners[owner], key)
		}
		return echo
	case deleted:
		if !kube.Older(object, noted.written) || object.GetUID() == noted.written.GetUID() {
			delete(j.owners[owner], key)
		}
		return false
	case kube.Older(object, noted.written):
		return true // the event of an earlier write, or of a version replaced by it
	}
	delete(j.owners[owner], key)
	return object.GetResourceVersion() == noted.written.GetResourceVersion()
}

// entriesOf returns the entries of an owner. It is called before the informers are read: they show all that an event
// removes from the journal after that.
func (j *Journal) entriesOf(owner types.UID) map[kube.Key]entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	maps.DeleteFunc(j.owners[owner], func(_ kube.Key, e entry) bool { return time.Since(e.at) > Lapse })
	return maps.Clone(j.owners[owner])
}

// overlay corrects the objects of an owner in the informers by newer writes of this process, and reports whether it
// had to.
func overlay(noted map[kube.Key]entry, objects map[kube.Key]client.Object) (corrected bool) {
	for key, noted := range noted {
		shown, found := objects[key]
		switch {
		case noted.written == nil:
			if found && shown.GetUID() == noted.deleted && !isGoing(shown) {
				delete(objects, key)
				corrected = true
			}
		case !found || kube.Older(shown, noted.written):
			objects[key] = noted.written
			corrected = true
		}
	}
	return corrected
}

func (j *Journal) put(owner types.UID, key kube.Key, e entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if told, found := j.events[owner][key]; found && told.tells(e) {
		delete(j.owners[owner], key)
		return
	}
	if j.owners == nil {
		j.owners = map[types.UID]map[kube.Key]entry{}
	}
	if j.owners[owner] == nil {
		j.owners[owner] = map[kube.Key]entry{}
	}
	e.at = time.Now()
	j.owners[owner][key] = e
}
