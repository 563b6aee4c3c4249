package release

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

func TestAFirstReleaseThatIsRefusedLeavesNothing(t *testing.T) {
	const (
		a, b, tryB = "apply ConfigMap a", "apply ConfigMap b", "try to apply ConfigMap b"
		undoA      = "delete ConfigMap a in the background"
	)
	quota := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "b", errors.New("exceeded quota"))
	later := apierrors.NewTooManyRequests("later", 1)
	always := func(err error) map[string]error { return map[string]error{b: err, tryB: err} }
	left := owned(t, "ConfigMap", "left", "one")
	claim := owned(t, "PersistentVolumeClaim", "data", "one")
	generated := owned(t, "Secret", "generated", "one")
	put(t, generated, "PASSWORD=hex:16", "metadata", "annotations", v1.AnnotationGenerate)
	theirs := object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: theirs, namespace: demo}}`)
	tests := map[string]struct {
		refuse   map[string]error
		released bool // once before, though the record is lost
		left     []*unstructured.Unstructured
		want     []string
		stays    []client.Object
	}{
		"refused, and again when it is asked": {refuse: always(invalid("b")), want: []string{a, b, tryB, undoA}},
		"a quota is used up":                  {refuse: always(quota), want: []string{a, b, tryB, undoA}},
		"the API server has changed its mind": {refuse: map[string]error{b: quota}, want: []string{a, b, tryB}, stays: []client.Object{owned(t, "ConfigMap", "a", "two")}},
		"it has no time":                      {refuse: always(later), want: []string{a, b}, stays: []client.Object{owned(t, "ConfigMap", "a", "two")}},
		"the cause is known": {
			refuse: map[string]error{b: &plan.RefusedError{Why: v1.ReasonNodePortConflict, Err: invalid("b")}}, want: []string{a, b, undoA},
		},
		"an attempt that was interrupted left something": {
			refuse: always(invalid("b")), left: []*unstructured.Unstructured{left, theirs},
			want: []string{a, b, tryB, "delete ConfigMap left in the background", undoA}, stays: []client.Object{theirs},
		},
		"what is left may be the data of an earlier resource": {
			refuse: always(invalid("b")), left: []*unstructured.Unstructured{claim}, want: []string{a, b, tryB, undoA}, stays: []client.Object{claim},
		},
		"and so may be the password that it was made with": {
			refuse: always(invalid("b")), left: []*unstructured.Unstructured{claim, generated}, want: []string{a, b, tryB, undoA}, stays: []client.Object{claim, generated},
		},
		"it was released before": {
			refuse: always(invalid("b")), released: true, left: []*unstructured.Unstructured{left},
			want: []string{a, b}, stays: []client.Object{left, owned(t, "ConfigMap", "a", "two")},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, object := range test.left {
				object.SetUID("uid-of-" + object.GetUID())
			}
			bench := newBench(t, test.left...)
			bench.server.refuse = func(request string) error { return test.refuse[request] }
			task := bench.task(t, plan.Unfinished, nil)
			task.First = !test.released
			for _, object := range test.left {
				task.Snapshot.Objects[kube.KeyOf(object)] = bench.server.shown(t, object)
			}
			if err := bench.act(t, task); err == nil || !errors.Is(err, test.refuse[b]) {
				t.Errorf("got %v, want the refusal", err)
			}
			bench.check(t, test.want, "")
			stays := func(o client.Object) bool {
				return slices.ContainsFunc(test.stays, func(kept client.Object) bool { return kube.KeyOf(kept) == kube.KeyOf(o) })
			}
			for _, object := range append(task.Desired.Objects, test.left...) {
				if there := bench.server.has(t, object) != nil; there != stays(object) {
					t.Errorf("%s %s is there: %t", object.GetKind(), object.GetName(), there)
				}
			}
		})
	}
}

// Another attempt begins with a dry run of all objects: pods would start and stop at each attempt.
func TestARefusedFirstReleaseIsAskedForBeforeItIsWrittenAgain(t *testing.T) {
	b := newBench(t)
	refused := true
	b.server.refuse = func(request string) error {
		if refused && strings.HasSuffix(request, "apply ConfigMap b") {
			return invalid("b")
		}
		return nil
	}
	for attempt, want := range [][]string{
		{"apply ConfigMap a", "apply ConfigMap b", "try to apply ConfigMap b", "delete ConfigMap a in the background"},
		{"try to apply ConfigMap a", "try to apply ConfigMap b"},
	} {
		b.server.log = nil
		task := b.task(t, plan.Absent, nil)
		task.Again = attempt > 0
		if err := b.act(t, task); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "ConfigMap b: ") {
			t.Errorf("got %v, want the refusal of ConfigMap b", err)
		}
		b.check(t, want, "")
	}
	refused = false
	b.server.log = nil
	require.NoError(t, b.act(t, b.task(t, plan.Absent, nil)))
	b.check(t, []string{"apply ConfigMap a", "apply ConfigMap b", "create record 1 deployed"}, "1 deployed")
}

// An attempt that dies while it takes back what it wrote leaves something: the next one takes that back.
func TestWhatIsNotTakenBackIsTakenBackByTheNextAttempt(t *testing.T) {
	b := newBench(t)
	down := apierrors.NewServiceUnavailable("down")
	refuse := map[string]error{
		"apply ConfigMap b": invalid("b"), "try to apply ConfigMap b": invalid("b"), "delete ConfigMap a in the background": down,
	}
	b.server.refuse = func(request string) error { return refuse[request] }
	if err := b.act(t, b.task(t, plan.Absent, nil)); !errors.Is(err, down) || !apierrors.IsInvalid(err) {
		t.Errorf("got %v, want both the refusal and why it could not be taken back", err)
	}
	delete(refuse, "delete ConfigMap a in the background")
	task := b.task(t, plan.Unfinished, nil)
	task.First, task.Again = true, true
	if err := b.act(t, task); !apierrors.IsInvalid(err) {
		t.Errorf("got %v, want the refusal", err)
	}
	if b.server.has(t, task.Desired.Objects[0]) != nil {
		t.Error("ConfigMap a is left over")
	}
}

// An object that is older than the resource was not created for it.
func TestWhatIsOlderThanTheResourceIsNotTakenBack(t *testing.T) {
	a := &applier{owner: owner(t)}
	born := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	a.owner.SetCreationTimestamp(born)
	older, same := owned(t, "ConfigMap", "older", "one"), owned(t, "ConfigMap", "same", "one")
	older.SetCreationTimestamp(metav1.NewTime(born.Add(-time.Second)))
	same.SetCreationTimestamp(born)
	list := a.left(Task{Snapshot: &livestate.Snapshot{Objects: there(older, same)}})
	if len(list) != 1 || list[0].GetName() != "same" {
		t.Errorf("got %v, want the other one alone", list)
	}
}
