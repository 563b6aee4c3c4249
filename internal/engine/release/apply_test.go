package release

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// holder is what stands in the way of a ConfigMap called web.
type holder struct {
	controller  *metav1.OwnerReference
	annotations map[string]string
	going       bool
}

func (h holder) object(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	o := object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: demo, uid: theirs}}`)
	o.SetAnnotations(h.annotations)
	if h.controller != nil {
		h.controller.Controller = ptr.To(true)
		o.SetOwnerReferences([]metav1.OwnerReference{*h.controller})
	}
	if h.going {
		now := metav1.Now()
		o.SetDeletionTimestamp(&now)
		o.SetFinalizers([]string{"example.com/hold"})
	}
	return o
}

func reference(version, kind, name, uid string) *metav1.OwnerReference {
	return &metav1.OwnerReference{APIVersion: version, Kind: kind, Name: name, UID: types.UID(uid)}
}

var inTheWayCases = map[string]struct {
	holder holder
	want   string // the error; "" where the object is ours
	stale  bool
}{
	"it is ours":                             {holder: holder{controller: reference("app.example.com/v1", "AppService", "web", "owner")}},
	"it is ours and going":                   {holder: holder{controller: reference("app.example.com/v1", "AppService", "web", "owner"), going: true}, want: "caches are behind: ConfigMap web is being deleted", stale: true},
	"it is ours, and somebody took that off": {holder: holder{annotations: map[string]string{postrender.AnnotationStamp: "one"}}},
	"it was rendered for somebody else": {
		holder: holder{annotations: map[string]string{postrender.AnnotationStamp: "two"}},
		want:   `ConfigMap "web" exists and is not managed by this operator`,
	},
	"it is a copy of ours that another kind controls": {
		holder: holder{controller: reference("apps/v1", "Deployment", "web", "x"), annotations: map[string]string{postrender.AnnotationStamp: "one"}},
		want:   `ConfigMap "web" exists and is controlled by Deployment "web"`,
	},
	"nobody controls it":          {holder: holder{}, want: `ConfigMap "web" exists and is not managed by this operator`},
	"another kind controls it":    {holder: holder{controller: reference("apps/v1", "Deployment", "web", "x")}, want: `ConfigMap "web" exists and is controlled by Deployment "web"`},
	"another resource of ours":    {holder: holder{controller: reference("app.example.com/v1", "AppService", "other", "x")}, want: `ConfigMap "web" exists and is controlled by AppService "other"`},
	"an earlier resource of ours": {holder: holder{controller: reference("app.example.com/v1", "AppService", "web", "earlier")}, want: `waiting for Kubernetes to delete leftovers of an earlier resource of this name: ConfigMap "web"`},
	"an AppService of another API group": {
		holder: holder{controller: reference("other.example.org/v1", "AppService", "web", "x")},
		want:   `ConfigMap "web" exists and is controlled by AppService "web"`,
	},
	"an earlier resource of ours, in another version of the API": {
		holder: holder{controller: reference("app.example.com/v1beta1", "AppService", "web", "earlier")},
		want:   `waiting for Kubernetes to delete leftovers of an earlier resource of this name: ConfigMap "web"`,
	},
	"somebody's Helm release": {
		holder: holder{annotations: map[string]string{"meta.helm.sh/release-name": "web"}},
		want:   `ConfigMap "web" exists and is part of Helm release "web", which this operator did not make`,
	},
	"another controller, with Helm's annotation": {
		holder: holder{controller: reference("apps/v1", "Deployment", "x", "x"), annotations: map[string]string{"meta.helm.sh/release-name": "web"}},
		want:   `ConfigMap "web" exists and is controlled by Deployment "x"`,
	},
	"somebody's object that is going": {holder: holder{going: true}, want: `ConfigMap "web" exists and is not managed by this operator`},
}

func TestCheckLooksWhoseObjectIsInTheWay(t *testing.T) {
	for name, test := range inTheWayCases {
		t.Run(name, func(t *testing.T) {
			there := test.holder.object(t)
			s := newServer(t, there)
			a, _ := newApplier(t, s, s)
			plan := &plan.Plan{Create: []*unstructured.Unstructured{owned(t, "ConfigMap", "first", "one"), owned(t, "ConfigMap", "web", "one")}}
			checked, err := a.check(t.Context(), plan)
			if test.want == "" {
				require.NoError(t, err)
				if got, want := checked.String(), "create ConfigMap first; apply ConfigMap web"; got != want {
					t.Errorf("got %q, want %q", got, want)
				}
				if len(checked.Apply) == 1 && checked.Apply[0].Live.GetUID() != "theirs" {
					t.Errorf("got UID %q, want that of the object which is there", checked.Apply[0].Live.GetUID())
				}
			} else if err == nil || err.Error() != test.want {
				t.Errorf("got %v, want %q", err, test.want)
			}
			var stale *StaleError
			if errors.As(err, &stale) != test.stale {
				t.Errorf("got %T, want a StaleError: %t", err, test.stale)
			}
			if len(s.log) != 0 {
				t.Errorf("something was written: %v", s.log)
			}
			if len(plan.Create) != 2 || len(plan.Apply) != 0 {
				t.Errorf("the plan was changed: %s", plan)
			}
		})
	}
}

func TestCheckPassesOnWhatItCannotRead(t *testing.T) {
	s := newServer(t)
	cause := apierrors.NewServiceUnavailable("not now")
	broken := interceptor.NewClient(s.WithWatch, interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
		return cause
	}})
	a, _ := newApplier(t, s, broken)
	_, err := a.check(t.Context(), &plan.Plan{Create: []*unstructured.Unstructured{owned(t, "ConfigMap", "web", "one")}})
	if !errors.Is(err, cause) || !strings.Contains(err.Error(), "cannot look for ConfigMap web") {
		t.Errorf("got %v", err)
	}
}

func TestErrorsNameTheObjectOnce(t *testing.T) {
	key := kube.Key{GroupKind: schema.GroupKind{Kind: "Helm release"}, Name: "web"}
	cause := fmt.Errorf("a cause")
	cases := map[string]struct {
		err  error
		want string
	}{
		"not ours": {&NotOursError{Key: key, Owner: `controlled by Widget "web"`}, `Helm release "web" exists and is controlled by Widget "web"`},
		"previous": {&PreviousError{[]Remnant{{Key: key}}}, `waiting for Kubernetes to delete leftovers of an earlier resource of this name: Helm release "web"`},
		"stale":    {&StaleError{Err: cause}, "caches are behind: a cause"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if got := test.err.Error(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	if !errors.Is(&StaleError{Err: cause}, cause) {
		t.Error("a StaleError hides its cause")
	}
}

// planOfAll creates two objects, applies two and deletes two.
func planOfAll(t *testing.T) (whole *plan.Plan, objects []*unstructured.Unstructured) {
	t.Helper()
	for _, name := range []string{"change-1", "change-2", "old-1", "old-2"} {
		o := owned(t, "ConfigMap", name, "one")
		o.SetUID(types.UID("uid-of-" + name))
		o.SetResourceVersion("999") // what a fake server takes a new object's to be
		objects = append(objects, o)
	}
	whole = plan.Compare([]*unstructured.Unstructured{
		owned(t, "ConfigMap", "new-1", "two"), owned(t, "ConfigMap", "new-2", "two"),
		owned(t, "ConfigMap", "change-1", "two"), owned(t, "ConfigMap", "change-2", "two"),
	}, there(objects[0], objects[1], objects[2], objects[3]))
	return whole, objects
}

var writesOfAll = []string{
	"apply ConfigMap new-1",
	"apply ConfigMap new-2",
	"apply ConfigMap change-1 by force",
	"apply ConfigMap change-2 by force",
	"delete ConfigMap old-1 in the background",
	"delete ConfigMap old-2 in the background",
}

func TestExecuteWritesInOrderAndNotesWhatItWrote(t *testing.T) {
	plan, objects := planOfAll(t)
	s := newServer(t, objects...)
	a, observer := newApplier(t, s, s)
	if _, err := a.execute(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.log, writesOfAll) {
		t.Errorf("got %q, want %q", s.log, writesOfAll)
	}
	inJournal := noted(t, observer)
	for _, name := range []string{"new-1", "new-2", "change-1", "change-2"} {
		live := s.has(t, owned(t, "ConfigMap", name, "two"))
		if live == nil || live.GetAnnotations()["app.example.com/rendered"] != "two" {
			t.Fatalf("%s was not written: %v", name, live)
		}
		written := inJournal[kube.KeyOf(live)]
		switch {
		case written == nil:
			t.Errorf("%s is not in the journal", name)
		case written.GetUID() != live.GetUID() || written.GetUID() == "" || written.GetResourceVersion() != live.GetResourceVersion():
			t.Errorf("%s is in the journal as %s at %s, want %s at %s", name, written.GetUID(), written.GetResourceVersion(), live.GetUID(), live.GetResourceVersion())
		case len(written.GetManagedFields()) != 0:
			t.Errorf("%s is in the journal with its managed fields", name)
		}
	}
	for _, name := range []string{"old-1", "old-2"} {
		if s.has(t, owned(t, "ConfigMap", name, "one")) != nil {
			t.Errorf("%s is still there", name)
		}
		if inJournal[kube.KeyOf(owned(t, "ConfigMap", name, "one"))] != nil {
			t.Errorf("%s is in the journal as if it were there", name)
		}
	}
	if desired := plan.Create[0]; desired.GetUID() != "" || desired.GetResourceVersion() != "" {
		t.Errorf("what was rendered was changed: %v", desired.Object["metadata"])
	}
}

func TestAutoscalersAreCreatedAfterTheirWorkloadsAreLeftToThem(t *testing.T) {
	scaler := owned(t, "HorizontalPodAutoscaler", "web", "two")
	scaler.SetAPIVersion("autoscaling/v2")
	scaler.Object["spec"] = map[string]any{"scaleTargetRef": map[string]any{"kind": "Deployment", "name": "web"}}
	plan, objects := planOfAll(t)
	plan.Create = append([]*unstructured.Unstructured{scaler}, plan.Create...)
	s := newServer(t, objects...)
	a, _ := newApplier(t, s, s)
	created, err := a.execute(t.Context(), plan)
	require.NoError(t, err)
	if want := slices.Insert(slices.Clone(writesOfAll), 4, "apply HorizontalPodAutoscaler web"); !slices.Equal(s.log, want) || len(created) != 3 {
		t.Errorf("got %q, %d created, want %q", s.log, len(created), want)
	}
}

func TestExecuteStopsAtTheFirstRefusal(t *testing.T) {
	for stop, line := range writesOfAll {
		t.Run(line, func(t *testing.T) {
			plan, objects := planOfAll(t)
			s := newServer(t, objects...)
			a, observer := newApplier(t, s, s)
			s.refuse = func(request string) error {
				if request == line {
					return invalid("it")
				}
				return nil
			}
			created, err := a.execute(t.Context(), plan)
			if !apierrors.IsInvalid(err) || !strings.HasPrefix(err.Error(), "ConfigMap ") {
				t.Errorf("got %v, want the refusal, beginning with the object", err)
			}
			if want := writesOfAll[:stop+1]; !slices.Equal(s.log, want) {
				t.Errorf("got %q, want %q", s.log, want)
			}
			if len(created) != min(stop, 2) {
				t.Errorf("got %d created, want %d", len(created), min(stop, 2))
			}
			if got, want := len(noted(t, observer)), min(stop, 4); got != want {
				t.Errorf("the journal shows %d objects, want %d", got, want)
			}
		})
	}
}

// Between the look and the write the object may have become someone else's.
func TestExecuteWritesNothingToAnotherObjectOfTheName(t *testing.T) {
	cases := map[string]struct {
		plan func(live *unstructured.Unstructured) *plan.Plan
	}{
		"an apply": {func(live *unstructured.Unstructured) *plan.Plan {
			return plan.Compare([]*unstructured.Unstructured{owned(t, "ConfigMap", "web", "two")}, there(live))
		}},
		"a delete": {func(live *unstructured.Unstructured) *plan.Plan { return plan.Compare(nil, there(live)) }},
		"a create": {func(*unstructured.Unstructured) *plan.Plan {
			return plan.Compare([]*unstructured.Unstructured{owned(t, "ConfigMap", "web", "two")}, nil)
		}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			looked := owned(t, "ConfigMap", "web", "one")
			looked.SetUID("ours")
			theirs := object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: demo, uid: theirs}, data: {k: v}}`)
			s := newServer(t, theirs)
			a, observer := newApplier(t, s, s)
			var notOurs *NotOursError
			if _, err := a.execute(t.Context(), test.plan(looked)); !apierrors.IsConflict(err) && !errors.As(err, &notOurs) {
				t.Errorf("got %v, want a conflict", err)
			}
			live := s.has(t, theirs)
			if live == nil || live.GetUID() != "theirs" || len(live.GetOwnerReferences()) != 0 {
				t.Errorf("it was touched: %v", live)
			}
			if len(noted(t, observer)) != 0 {
				t.Error("the journal has it")
			}
		})
	}
}

// Between the look and the write another process may have written a newer version.
func TestExecuteWritesNothingOverANewerVersion(t *testing.T) {
	newer := owned(t, "ConfigMap", "web", "three")
	newer.SetUID("ours")
	s := newServer(t, newer)
	looked := s.shown(t, newer)
	looked.SetResourceVersion("1")
	a, _ := newApplier(t, s, s)
	whole := plan.Compare([]*unstructured.Unstructured{owned(t, "ConfigMap", "web", "two")}, there(looked))
	if _, err := a.execute(t.Context(), whole); !apierrors.IsConflict(err) {
		t.Errorf("got %v, want a conflict", err)
	}
	if got := plan.StampOf(s.has(t, newer)); got != "three" {
		t.Errorf("it has the stamp %s", got)
	}
}

func TestACreateOfWhatIsThereUnseenIsAnApply(t *testing.T) {
	unseen := owned(t, "ConfigMap", "web", "one")
	unseen.SetUID("ours")
	s := newServer(t, unseen)
	a, _ := newApplier(t, s, s)
	if _, err := a.execute(t.Context(), plan.Compare([]*unstructured.Unstructured{owned(t, "ConfigMap", "web", "two")}, nil)); err != nil {
		t.Fatal(err)
	}
	if want := []string{"apply ConfigMap web", "apply ConfigMap web by force"}; !slices.Equal(s.log, want) {
		t.Errorf("got %q, want %q", s.log, want)
	}
	if live := s.has(t, unseen); live.GetUID() != "ours" || live.GetAnnotations()["app.example.com/rendered"] != "two" {
		t.Errorf("got %v", live.Object["metadata"])
	}
}

func TestExecuteTakesADeleteForDoneWhereTheObjectIsGone(t *testing.T) {
	gone := owned(t, "ConfigMap", "gone", "one")
	s := newServer(t)
	a, _ := newApplier(t, s, s)
	if _, err := a.execute(t.Context(), plan.Compare(nil, there(gone))); err != nil {
		t.Error(err)
	}
}

// An object that is deleted may get another status meanwhile: controllers write that at any time.
func TestExecuteDeletesWhatHasANewStatus(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(live *unstructured.Unstructured)
		deleted bool
	}{
		"a status": {func(live *unstructured.Unstructured) {
			live.Object["status"] = map[string]any{"currentHealthy": int64(1)}
		}, true},
		"a label of others": {func(live *unstructured.Unstructured) {
			live.SetLabels(map[string]string{v1.LabelManaged: "true", "a": "b"})
		}, true},
		"a spec":   {func(live *unstructured.Unstructured) { live.SetGeneration(2) }, false},
		"no owner": {func(live *unstructured.Unstructured) { live.SetOwnerReferences(nil) }, false},
		"another owner": {func(live *unstructured.Unstructured) {
			live.SetOwnerReferences([]metav1.OwnerReference{*reference("v1", "Other", "o", "theirs")})
		}, false},
		"another stamp": {func(live *unstructured.Unstructured) {
			live.SetAnnotations(map[string]string{postrender.AnnotationStamp: "two"})
		}, false},
		"no managed label": {func(live *unstructured.Unstructured) { live.SetLabels(nil) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			budget := owned(t, "PodDisruptionBudget", "web", "one")
			budget.SetAPIVersion("policy/v1")
			budget.SetUID("budget")
			budget.SetGeneration(1)
			budget.SetLabels(map[string]string{v1.LabelManaged: "true"})
			s := newServer(t, budget)
			seen := s.has(t, budget)
			live := seen.DeepCopy()
			test.change(live)
			require.NoError(t, s.Patch(t.Context(), live, client.MergeFrom(seen.DeepCopy())))
			a, _ := newApplier(t, s, s)
			_, err := a.execute(t.Context(), plan.Compare(nil, there(seen)))
			if gone := s.has(t, budget) == nil; gone != test.deleted || gone != (err == nil) {
				t.Errorf("deleted: %t, error %v, want %t", gone, err, test.deleted)
			}
		})
	}
}

func TestDryRunAsksForEveryWriteAndWritesNothing(t *testing.T) {
	whole, objects := planOfAll(t)
	s := newServer(t, objects...)
	a, observer := newApplier(t, s, s)
	require.NoError(t, a.dryRun(t.Context(), whole))
	want := []string{"try to apply ConfigMap new-1", "try to apply ConfigMap new-2", "try to apply ConfigMap change-1 by force", "try to apply ConfigMap change-2 by force"}
	if !slices.Equal(s.log, want) {
		t.Errorf("got %q, want %q", s.log, want)
	}
	if s.has(t, owned(t, "ConfigMap", "new-1", "two")) != nil || len(noted(t, observer)) != 0 {
		t.Error("a dry run wrote")
	}
	s.log = nil
	if err := a.dryRun(t.Context(), &plan.Plan{Apply: whole.Apply[:1], Delete: whole.Delete}); err != nil || len(s.log) != 0 {
		t.Errorf("before the write of a single object: got %v after %q, want nothing asked", err, s.log)
	}
	s.refuse = func(request string) error {
		if request == want[2] {
			return invalid("change-1")
		}
		return nil
	}
	if err := a.dryRun(t.Context(), whole); !apierrors.IsInvalid(err) {
		t.Errorf("got %v, want the refusal", err)
	}
}
