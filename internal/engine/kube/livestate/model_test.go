package livestate

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// model is a world of an API server, an informer that lags behind it, and one process that writes and keeps a journal.
// Everybody else writes as well. Each step of it is drawn by lot.
type model struct {
	lot     *rand.Rand
	journal Journal

	versions, uids int
	truth          map[string]*unstructured.Unstructured
	log            []change // all of them, as the API server sends them
	cached         int      // how many of them the informer's store has taken in
	events         []change // what the store took in and the handlers have not been told yet
	store          map[string]*unstructured.Unstructured
	breaks         bool // the watch breaks now and then: the informer lists again, and never shows what came and went

	// noted is the version of each object that this process wrote last and that nobody has deleted since.
	noted map[string]*unstructured.Unstructured
	// untold is the version of the last change by others that the process was neither told of nor wrote over.
	untold map[string]int

	story []string
}

type change struct {
	object  *unstructured.Unstructured
	deleted bool
	at      int // the version of the API server
}

var names = []string{"x", "y"}

func newModel(seed uint64, breaks bool) *model {
	return &model{
		breaks: breaks,
		lot:    rand.New(rand.NewPCG(seed, 0)),
		truth:  map[string]*unstructured.Unstructured{}, store: map[string]*unstructured.Unstructured{},
		noted: map[string]*unstructured.Unstructured{}, untold: map[string]int{},
	}
}

func (m *model) tell(format string, args ...any) {
	m.story = append(m.story, fmt.Sprintf(format, args...))
}

func (m *model) name() string { return names[m.lot.IntN(len(names))] }

// write makes the next version of an object in the API server, a new one where there is none.
func (m *model) write(name string) *unstructured.Unstructured {
	m.versions++
	uid := types.UID("")
	if there := m.truth[name]; there != nil {
		uid = there.GetUID()
	} else {
		m.uids++
		uid = types.UID(fmt.Sprintf("uid-%d", m.uids))
	}
	o := version(uid, fmt.Sprint(m.versions))
	o.SetName(name)
	m.truth[name] = o
	m.log = append(m.log, change{object: o, at: m.versions})
	return o
}

// remove deletes an object from the API server, which sends it once more, in a version of its own or in its last one.
func (m *model) remove(name string) *unstructured.Unstructured {
	there := m.truth[name]
	m.versions++
	last := there.DeepCopy()
	if m.lot.IntN(3) > 0 {
		last.SetResourceVersion(fmt.Sprint(m.versions))
	}
	delete(m.truth, name)
	m.log = append(m.log, change{object: last, deleted: true, at: m.versions})
	return there
}

// others create, change and delete an object.
func (m *model) others() {
	name := m.name()
	there := m.truth[name] != nil
	switch draw := m.lot.IntN(4); {
	case !there && draw == 0:
		m.tell("others create %s", name)
		m.write(name)
	case there && draw < 3:
		m.tell("others change %s", name)
		m.write(name)
	case there:
		m.tell("others delete %s", name)
		m.remove(name)
		delete(m.noted, name)
	default:
		return
	}
	m.untold[name] = m.versions
}

// ours is an action of this process: a few writes.
func (m *model) ours() {
	end := m.journal.Begin(me)
	defer end()
	for range 1 + m.lot.IntN(3) {
		m.one(m.name())
	}
}

// one is a write of this process. Others, and the informer, may be quicker than the answer to the request.
func (m *model) one(name string) {
	if m.truth[name] != nil && m.lot.IntN(4) == 0 {
		m.tell("we delete %s", name)
		gone := m.remove(name)
		delete(m.untold, name)
		delete(m.noted, name)
		m.meanwhile()
		m.journal.Deleted(me, gone)
		return
	}
	var written *unstructured.Unstructured
	if there := m.truth[name]; there != nil && m.lot.IntN(4) == 0 {
		m.tell("we apply %s, which changes nothing", name)
		written = there
	} else {
		m.tell("we write %s", name)
		written = m.write(name)
	}
	delete(m.untold, name)
	m.meanwhile()
	m.tell("we note %s at %s", name, written.GetResourceVersion())
	m.journal.Wrote(me, written)
	if there := m.truth[name]; there != nil && there.GetUID() == written.GetUID() {
		m.noted[name] = written
	}
}

func (m *model) meanwhile() {
	if m.lot.IntN(2) == 0 {
		return
	}
	for range m.lot.IntN(6) {
		if m.lot.IntN(3) == 0 {
			m.others()
		}
		m.deliver()
	}
}

// deliver takes one event into the store, or tells the handlers of one that the store has.
func (m *model) deliver() {
	if len(m.events) > 0 && (m.lot.IntN(2) == 0 || m.cached == len(m.log)) {
		m.handle()
		return
	}
	if m.cached < len(m.log) {
		event := m.log[m.cached]
		m.cached++
		m.take(event)
	}
}

// handle tells the handlers of the next event.
func (m *model) handle() {
	event := m.events[0]
	m.events = m.events[1:]
	echo := m.journal.Seen(me, event.object, event.deleted)
	m.tell("the handlers see %s of %s at %s, deleted: %t, echo: %t", event.object.GetName(), event.object.GetUID(), event.object.GetResourceVersion(), event.deleted, echo)
	if name := event.object.GetName(); !echo && m.untold[name] == event.at {
		delete(m.untold, name)
	}
}

func (m *model) take(event change) {
	m.tell("the store takes in %s at %s, deleted: %t", event.object.GetName(), event.object.GetResourceVersion(), event.deleted)
	if event.deleted {
		delete(m.store, event.object.GetName())
	} else {
		m.store[event.object.GetName()] = event.object
	}
	m.events = append(m.events, event)
}

// relist brings the store up to date at once, as after a watch that broke: what was deleted meanwhile is shown in the last
// version that the store has of it.
func (m *model) relist() {
	m.tell("the watch breaks")
	m.cached = len(m.log)
	for _, name := range names {
		stored, there := m.store[name], m.truth[name]
		switch {
		case there != nil && (stored == nil || stored.GetResourceVersion() != there.GetResourceVersion()):
			m.take(change{object: there, at: m.versions})
		case there == nil && stored != nil:
			m.take(change{object: stored, deleted: true, at: m.versions})
		}
	}
}

func (m *model) snapshot() (shown map[string]client.Object, unconfirmed bool) {
	objects := map[kube.Key]client.Object{}
	for _, object := range m.store {
		objects[kube.KeyOf(object)] = object
	}
	unconfirmed = overlay(m.journal.entriesOf(me), objects)
	out := map[string]client.Object{}
	for key, object := range objects {
		out[key.Name] = object
	}
	return out, unconfirmed
}

// written checks what holds at any time: a snapshot is never behind what this process wrote and nobody deleted.
func (m *model) written() error {
	snapshot, _ := m.snapshot()
	for name, written := range m.noted {
		shown := snapshot[name]
		switch {
		case shown == nil:
			return fmt.Errorf("%s is missing, which was written at %s", name, written.GetResourceVersion())
		case kube.Older(shown, written):
			return fmt.Errorf("%s is shown at %s, behind %s", name, shown.GetResourceVersion(), written.GetResourceVersion())
		}
	}
	return nil
}

// settled checks what holds once everything is delivered. Where the watch broke, the truth may only come out when what
// the journal notes lapses, but then the snapshot has said so.
func (m *model) settled() error {
	for m.cached < len(m.log) || len(m.events) > 0 {
		m.deliver()
	}
	err := m.right()
	if err == nil && !m.breaks {
		for name, at := range m.untold {
			return fmt.Errorf("nobody was told of the change of %s at %d by others", name, at)
		}
	}
	if _, unconfirmed := m.snapshot(); err == nil || !m.breaks || !unconfirmed {
		return err
	}
	m.tell("what is noted lapses")
	for key, e := range m.journal.owners[me] {
		e.at = e.at.Add(-2 * Lapse)
		m.journal.owners[me][key] = e
	}
	return m.right()
}

// right checks that a snapshot tells the truth.
func (m *model) right() error {
	snapshot, _ := m.snapshot()
	for _, name := range names {
		truth, shown := m.truth[name], snapshot[name]
		switch {
		case truth == nil && shown != nil:
			return fmt.Errorf("%s is shown, which is gone", name)
		case truth != nil && shown == nil:
			return fmt.Errorf("%s is missing", name)
		case truth != nil && (shown.GetUID() != truth.GetUID() || shown.GetResourceVersion() != truth.GetResourceVersion()):
			return fmt.Errorf("%s is shown as %s at %s, not %s at %s", name, shown.GetUID(), shown.GetResourceVersion(), truth.GetUID(), truth.GetResourceVersion())
		}
	}
	return nil
}

func (m *model) run(steps int) error {
	for range steps {
		switch draw := m.lot.IntN(10); {
		case draw < 3:
			m.ours()
		case draw < 5:
			m.others()
		case draw == 5 && m.breaks:
			m.relist()
		default:
			m.deliver()
		}
		if err := m.written(); err != nil {
			return err
		}
		if m.lot.IntN(20) == 0 {
			m.tell("everything is delivered")
			if err := m.settled(); err != nil {
				return err
			}
		}
	}
	return m.settled()
}

// Whatever the order of writes and events, a snapshot never lacks what this process wrote, and in the end tells the truth.
func TestSnapshotsAreRightInEveryOrderOfEvents(t *testing.T) {
	for name, breaks := range map[string]bool{"every event comes": false, "the watch breaks now and then": true} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(3000) {
				m := newModel(seed, breaks)
				if err := m.run(60); err != nil {
					t.Fatalf("seed %d: %v, after:\n%s", seed, err, strings.Join(m.story, "\n"))
				}
			}
		})
	}
}
