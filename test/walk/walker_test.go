package walk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/endstate"
	"github.com/example/appservice-operator/test/harness"
)

// name of every AppService. It is that of the cases.
const name = "web"

// walker takes one walk.
type walker struct {
	t       *testing.T
	app     *v1.AppService
	fresh   string // the namespace of the fresh install
	manager *harness.Manager

	// spec is what the AppService has, and accepted the last one that the operator did not refuse.
	spec, accepted map[string]any
	refused        bool
	// calm is how the objects were when everything was as desired, nil since something was changed without waiting.
	calm map[string]any
	// raced means that somebody wrote since then, and nobody waited for what comes of it.
	raced bool
	// noted is an object to which somebody added a label.
	noted *unstructured.Unstructured
}

// attempt takes the chosen steps of a plan.
func attempt(t *testing.T, p plan, chosen []int) error {
	w := &walker{t: t, app: &v1.AppService{}, fresh: cluster.Namespace(t)}
	w.app.Namespace, w.app.Name = cluster.Namespace(t), name
	for _, namespace := range []string{w.app.Namespace, w.fresh} {
		if err := makeFixtures(t.Context(), namespace); err != nil {
			return err
		}
	}
	w.startManager()
	defer w.manager.Stop(t)
	ctx := t.Context()
	if err := w.begin(ctx, p.first); err != nil {
		return fmt.Errorf("at the beginning: %w", err)
	}
	for _, i := range chosen {
		if err := w.take(ctx, p.steps[i]); err != nil {
			return fmt.Errorf("step %d, %s: %w", i, p.steps[i].text, err)
		}
	}
	if err := w.end(ctx); err != nil {
		return fmt.Errorf("at the end, with the spec %s: %w", short(w.spec), err)
	}
	taken.add(func(s *statistics) { s.walks++ })
	return nil
}

func (w *walker) startManager() {
	w.manager = cluster.Manager(w.t, w.app.Namespace, func(options *operator.Options, _ *harness.Requests) {
		options.WatchNamespaces = []string{w.app.Namespace, w.fresh}
	})
}

func (w *walker) restartManager() {
	w.manager.Stop(w.t)
	w.startManager()
}

func (w *walker) get(ctx context.Context, object client.Object) error {
	return cluster.Client.Get(ctx, client.ObjectKeyFromObject(w.app), object)
}

func (w *walker) begin(ctx context.Context, spec map[string]any) error {
	if err := create(ctx, w.app.Namespace, spec); err != nil {
		return err
	}
	w.spec = spec
	if err := w.settle(ctx); err != nil {
		return err
	}
	if w.refused {
		return w.revert(ctx, step{})
	}
	return nil
}

// take takes one step.
func (w *walker) take(ctx context.Context, s step) error {
	if s.writer != nil {
		return w.foreign(ctx, s)
	}
	if err := w.becalm(ctx, s.hurry); err != nil {
		return err
	}
	next := s.change(runtime.DeepCopyJSON(w.spec))
	taken.add(func(s *statistics) { s.changes++ })
	if err := w.write(ctx, next); apierrors.IsInvalid(err) {
		taken.add(func(s *statistics) { s.refusedBySchema++ })
		return nil
	} else if err != nil {
		return err
	}
	w.spec = next
	if s.hurry {
		w.calm = nil
		return nil
	}
	if err := w.settle(ctx); err != nil {
		return err
	}
	if w.refused {
		return w.revert(ctx, s)
	}
	w.calm = nil
	return nil
}

// foreign lets somebody else write. What they changed is put right, unless the next step is in a hurry.
func (w *walker) foreign(ctx context.Context, s step) error {
	hurry := s.hurry && !s.writer.alone
	if err := w.becalm(ctx, hurry); err != nil {
		return err
	}
	said, err := s.writer.do(ctx, w, s.choice)
	if apierrors.IsConflict(err) {
		return nil // somebody was faster
	}
	if err != nil || said == "" {
		return err
	}
	w.t.Logf("%s: %s", s.text, said)
	taken.add(func(s *statistics) { s.writes++ })
	if hurry || w.spec["paused"] == true {
		w.calm, w.raced = nil, true
		return nil
	}
	if err := w.settle(ctx); err != nil {
		return fmt.Errorf("%s: %w", said, err)
	}
	if err := w.isAs(ctx, w.calm); err != nil {
		return fmt.Errorf("%s: it is not put right: %w", said, err)
	}
	return nil
}

// becalm notes how the objects are, for a comparison with how they are after a step. A step in a hurry needs none.
func (w *walker) becalm(ctx context.Context, hurry bool) error {
	if hurry || w.calm != nil {
		return nil
	}
	if err := w.settle(ctx); err != nil {
		return err
	}
	if w.refused {
		if err := w.revert(ctx, step{}); err != nil {
			return err
		}
	}
	still := stillness
	if w.raced { // what somebody did in a hurry may still have to be put right
		still = afterRace
	}
	w.raced = false
	err := quiet(ctx, w.manager.Requests, still)
	if err == nil {
		w.calm, err = w.objects(ctx)
	}
	return err
}

// objects are the AppService's, without their status.
func (w *walker) objects(ctx context.Context) (map[string]any, error) {
	state, err := endstate.Of(ctx, cluster.Client, cluster.Client, w.app)
	delete(state, "status")
	for _, object := range state {
		delete(object.(map[string]any), "status")
	}
	return state, err
}

// isAs waits until the objects are like those of a calm time.
func (w *walker) isAs(ctx context.Context, calm map[string]any) error {
	return poll(ctx, func() error {
		now, err := w.objects(ctx)
		if err != nil {
			return err
		}
		if different := compared(runtime.DeepCopyJSON(calm), now); len(different) > 0 {
			return errors.New(strings.Join(different, "\n"))
		}
		return nil
	})
}

// settle waits until the operator has carried out or refused the spec.
func (w *walker) settle(ctx context.Context) error {
	var err error
	w.refused, err = settled(ctx, w.app)
	if err == nil && !w.refused {
		w.accepted = w.spec
	}
	return err
}

func settled(ctx context.Context, app *v1.AppService) (refused bool, err error) {
	err = poll(ctx, func() error {
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(app), app); err != nil {
			return err
		}
		deployed := meta.FindStatusCondition(app.Status.Conditions, v1.ConditionDeployed)
		if deployed == nil || deployed.ObservedGeneration != app.Generation {
			return fmt.Errorf("the status does not speak of generation %d: %s", app.Generation, short(app.Status.Conditions))
		}
		refused = deployed.Status != metav1.ConditionTrue
		if refused && deployed.Reason == v1.ReasonPending && !app.Spec.Paused {
			return fmt.Errorf("not deployed: %s", deployed.Message)
		}
		refused = refused && !app.Spec.Paused
		return nil
	})
	return refused, err
}

// revert goes back to the last spec that was not refused. Nothing that runs was changed meanwhile, what is deleted meanwhile
// returns, and all is as it was.
func (w *walker) revert(ctx context.Context, s step) error {
	w.t.Logf("refused: %s", meta.FindStatusCondition(w.app.Status.Conditions, v1.ConditionDeployed).Message)
	taken.add(func(s *statistics) { s.refused++ })
	if w.calm != nil {
		if err := w.isAs(ctx, w.calm); err != nil {
			return fmt.Errorf("it is refused, and changed what runs: %w", err)
		}
		if s.choice%4 == 0 && w.spec["paused"] != true {
			said, err := deleteObject(ctx, w, s.choice/4)
			if err != nil {
				return err
			}
			if err := w.isAs(ctx, w.calm); err != nil {
				return fmt.Errorf("while it is refused, somebody deletes %s: %w", said, err)
			}
		}
	}
	back := w.accepted
	if back == nil {
		back = map[string]any{"image": "nginx:1.7.9", "size": int64(1), "ports": []any{map[string]any{"port": int64(80)}}}
	}
	if err := w.write(ctx, back); err != nil {
		return err
	}
	w.spec = back
	if err := w.settle(ctx); err != nil {
		return fmt.Errorf("back to what was there before: %w", err)
	}
	if w.refused {
		return fmt.Errorf("back to what was there before, it is refused: %s", short(w.app.Status.Conditions))
	}
	if w.calm == nil {
		return nil
	}
	if err := w.isAs(ctx, w.calm); err != nil {
		return fmt.Errorf("it is not as before: %w", err)
	}
	return nil
}

// write writes a spec.
func (w *walker) write(ctx context.Context, spec map[string]any) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		object := inNamespace(w.app.Namespace, spec)
		current := object.DeepCopy()
		if err := w.get(ctx, current); err != nil {
			return err
		}
		object.SetResourceVersion(current.GetResourceVersion())
		return cluster.Client.Update(ctx, object, client.FieldOwner("kubectl-edit"))
	})
}

// end compares the walk with a fresh install, and sees the operator come to rest.
func (w *walker) end(ctx context.Context) error {
	if w.spec["paused"] != nil {
		awake := runtime.DeepCopyJSON(w.spec)
		delete(awake, "paused")
		if err := w.write(ctx, awake); err != nil {
			return err
		}
		w.spec, w.calm = awake, nil
	}
	if err := w.becalm(ctx, false); err != nil {
		return err
	}
	if err := create(ctx, w.fresh, w.spec); err != nil {
		return err
	}
	fresh := &v1.AppService{ObjectMeta: metav1.ObjectMeta{Namespace: w.fresh, Name: name}}
	if refused, err := settled(ctx, fresh); err != nil || refused {
		return fmt.Errorf("the fresh install is refused: %s, %w", short(fresh.Status.Conditions), err)
	}
	err := poll(ctx, func() error {
		wanted, err := endstate.Of(ctx, cluster.Client, cluster.Client, fresh)
		if err != nil {
			return err
		}
		got, err := endstate.Of(ctx, cluster.Client, cluster.Client, w.app)
		if err != nil {
			return err
		}
		if different := compared(wanted, got); len(different) > 0 {
			return fmt.Errorf("it is not like a fresh install:\n%s", strings.Join(different, "\n"))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := w.noteStays(ctx); err != nil {
		return err
	}
	return w.rests(ctx)
}

// noteStays checks that a label is still there that somebody added to an object that is still there.
func (w *walker) noteStays(ctx context.Context) error {
	if w.noted == nil {
		return nil
	}
	uid := w.noted.GetUID()
	err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(w.noted), w.noted)
	if err != nil || w.noted.GetUID() != uid || w.noted.GetDeletionTimestamp() != nil {
		return client.IgnoreNotFound(err)
	}
	if w.noted.GetLabels()[note+"note"] != "mine" {
		return fmt.Errorf("%s lost a label that somebody added", w.noted.GetKind())
	}
	return nil
}

// rests lets the operator reconcile once more: it has nothing to write.
func (w *walker) rests(ctx context.Context) error {
	if err := quiet(ctx, w.manager.Requests, stillness); err != nil {
		return err
	}
	if err := w.get(ctx, w.app); err != nil {
		return err
	}
	mark := w.manager.Requests.Mark()
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"example.com/note":"x"}}}`))
	if err := cluster.Client.Patch(ctx, w.app, patch); err != nil {
		return err
	}
	if err := quiet(ctx, w.manager.Requests, stillness); err != nil {
		return err
	}
	writes := w.manager.Requests.WritesSince(mark)
	if w.app.Status.Phase != v1.PhaseRunning { // what there is to say of pods in trouble may change by itself
		writes = slices.DeleteFunc(writes, func(write harness.Request) bool { return strings.HasSuffix(write.Path, "/status") })
	}
	if len(writes) > 0 {
		return fmt.Errorf("a reconcile that has nothing to do wrote %v", writes)
	}
	return nil
}
