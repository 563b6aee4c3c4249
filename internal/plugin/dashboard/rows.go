package dashboard

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/operator/status"
	"github.com/example/appservice-operator/internal/plugin/tree"
)

// Row is a resource in the list.
type Row struct {
	// ID is KIND.GROUP/NAMESPACE/NAME.
	ID       string `json:"id"`
	Ready    bool   `json:"ready"`
	Phase    string `json:"phase,omitempty"`
	Replicas string `json:"replicas,omitempty"`
	// Reason, Message and Hint of what is wrong, or of the first warning.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	Hint    string `json:"hint,omitempty"`
	// HeldBack names the step that is held back.
	HeldBack string `json:"heldBack,omitempty"`
	// Since is when Ready became what it is.
	Since time.Time `json:"since,omitzero"`
}

// longest is how many characters of a message or a hint are in the list; the page of a resource has all.
const longest = 200

// rowOf returns the row of a resource.
func rowOf(resource *unstructured.Unstructured, now time.Time) Row {
	kind := resource.GroupVersionKind()
	row := Row{
		ID:    kind.Kind + "." + kind.Group + "/" + resource.GetNamespace() + "/" + resource.GetName(),
		Since: resource.GetCreationTimestamp().UTC(),
	}
	current, err := status.Of(resource)
	if err != nil {
		row.Reason, row.Message = "StatusUnreadable", text.Cut(text.Line(err.Error()), longest)
		return row
	}
	row.Phase, row.Replicas, row.HeldBack = string(current.Phase), current.Readiness, tree.HeldBack(current, now)
	if going := kube.DeletionOf(resource); going != nil {
		row.Reason, row.Message = "Deleting", "is being deleted "+going.String()
		return row
	}
	ready := meta.FindStatusCondition(current.Conditions, v1.ConditionReady)
	if current.ObservedGeneration < resource.GetGeneration() || ready == nil {
		row.Reason, row.Message = "Unnoticed", "the operator has not reconciled the latest spec yet"
		return row
	}
	row.Since = ready.LastTransitionTime.UTC()
	row.Ready = ready.Status == metav1.ConditionTrue
	for _, problem := range slices.Backward(current.Problems) { // the first error, or of all if it is ready
		if row.Ready || problem.Type == v1.ProblemError {
			row.Reason, row.Message, row.Hint = problem.Reason, problem.Message, problem.Hint
		}
	}
	if !row.Ready {
		row.Reason, row.Message = ready.Reason, ready.Message
	}
	row.Message, row.Hint = text.Cut(text.Line(row.Message), longest), text.Cut(text.Line(row.Hint), longest)
	return row
}

// first is the first event of a stream.
type first struct {
	Scope string   `json:"scope"`
	Kinds []string `json:"kinds"`
	// Trouble is why the rows may be old.
	Trouble string `json:"trouble,omitempty"`
	Rows    []Row  `json:"rows"`
}

// change is an event for those that listen.
type change struct {
	event string
	data  any
}

// rows is the list. Those that listen get the changes of it.
type rows struct {
	mu        sync.Mutex
	all       map[string]Row
	listeners map[chan change]bool
	// failing has why requests fail, by their path; why is all of it, once each.
	failing map[string]string
	why     string
}

// waiting is how many changes a listener may be behind; its connection ends then, and the browser begins again.
const waiting = 4096

func newRows() *rows {
	return &rows{all: map[string]Row{}, listeners: map[chan change]bool{}, failing: map[string]string{}}
}

// put adds a row, or replaces it. Listeners are told if it differs.
func (r *rows) put(row Row) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all[row.ID] == row {
		return
	}
	r.all[row.ID] = row
	r.tell(change{"row", row})
}

// remove removes a row.
func (r *rows) remove(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, found := r.all[id]; found {
		delete(r.all, id)
		r.tell(change{"gone", id})
	}
}

// trouble keeps why requests for a path fail; empty if they succeed. Listeners are told if the whole differs.
func (r *rows) trouble(path, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.failing, path)
	if why != "" {
		r.failing[path] = text.Cut(text.Line(why), longest)
	}
	if all := strings.Join(slices.Compact(slices.Sorted(maps.Values(r.failing))), "; "); all != r.why {
		r.why = all
		r.tell(change{"trouble", all})
	}
}

func (r *rows) tell(c change) {
	for listener := range r.listeners {
		select {
		case listener <- c:
		default: // it is too far behind
			delete(r.listeners, listener)
			close(listener)
		}
	}
}

// listen returns the list, and a channel of its changes, which is closed if the listener is too slow. Stop ends it.
func (r *rows) listen() (begin first, changes <-chan change, stop func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	begin.Trouble, begin.Rows = r.why, slices.AppendSeq([]Row{}, maps.Values(r.all)) // JSON has [] for none of them
	listener := make(chan change, waiting)
	r.listeners[listener] = true
	return begin, listener, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.listeners, listener)
	}
}
