//go:build cluster

package walk

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/harness"
)

// name of every AppService. It is that of the cases.
const name = "web"

// walker takes one walk.
type walker struct {
	t       *testing.T
	role    role
	app     *v1.AppService
	witness *witness
	fresh   string // the namespace of the fresh install
	manager *harness.Manager

	// spec is what the AppService has, and accepted the last one that the operator did not refuse.
	spec, accepted map[string]any
	refused        bool
	// calm is how the objects were when everything was as desired, nil since something was changed without waiting.
	calm map[string]any
	// raced means that another client wrote since then, and no step waited for the operator's response.
	raced bool
	// noted is an object to which another client added a label.
	noted *unstructured.Unstructured
}

// attempt takes the chosen steps of a plan.
func attempt(t *testing.T, p plan, chosen []int) error {
	w := &walker{t: t, role: p.role, app: &v1.AppService{}, fresh: cluster.Namespace(t)}
	w.app.Namespace, w.app.Name = cluster.Namespace(t), name
	w.witness = watch(t, w.app.Namespace, p.role)
	for _, namespace := range []string{w.app.Namespace, w.fresh} {
		if err := makeFixtures(t.Context(), namespace); err != nil {
			return err
		}
	}
	w.startManager()
	defer w.manager.Stop(t)
	ctx := t.Context()
	if p.role == ofJob {
		return w.runJobs(ctx, p, chosen)
	}
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
	taken.add(func(s *statistics) { s.ended(p.role) })
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

// foreign has another client write. The operator must repair the change, unless the next step does not wait.
func (w *walker) foreign(ctx context.Context, s step) error {
	hurry := s.hurry && !s.writer.alone
	if err := w.becalm(ctx, hurry); err != nil {
		return err
	}
	said, err := s.writer.do(ctx, w, s.choice)
	if apierrors.IsConflict(err) {
		return nil // another client was faster
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

// write writes a spec.
func (w *walker) write(ctx context.Context, spec map[string]any) error {
	again := func(err error) bool {
		return apierrors.ReasonForError(err) == metav1.StatusReasonUnknown || apierrors.IsConflict(err)
	}
	return retry.OnError(retry.DefaultBackoff, again, func() error { // connections break, too
		object := inNamespace(w.app.Namespace, spec)
		current := object.DeepCopy()
		if err := w.get(ctx, current); err != nil {
			return err
		}
		object.SetResourceVersion(current.GetResourceVersion())
		return cluster.Client.Update(ctx, object, client.FieldOwner("kubectl-edit"))
	})
}
