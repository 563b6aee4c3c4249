//go:build cluster

package walk

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/endstate"
	"github.com/example/appservice-operator/test/harness"
)

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
	err := eventually(ctx, func() error {
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
	if err := cmp.Or(w.noteStays(ctx), w.witness.err()); err != nil {
		return err
	}
	return w.rests(ctx)
}

// noteStays checks that an object that still exists has kept the label that another client added.
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
	return w.restsWith(ctx, w.app, func(write harness.Request) bool {
		// Messages about pods in trouble and an autoscaler without metrics may change at any time.
		return (w.app.Status.Phase != v1.PhaseRunning || w.spec["autoscaling"] != nil) && strings.HasSuffix(write.Path, "/status")
	})
}

// restsWith does so with a resource, and leaves out some writes.
func (w *walker) restsWith(ctx context.Context, resource client.Object, leftOut func(harness.Request) bool) error {
	if err := quiet(ctx, w.manager.Requests, stillness); err != nil {
		return err
	}
	mark := w.manager.Requests.Mark()
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"example.com/note":"x"}}}`))
	if err := cluster.Client.Patch(ctx, resource, patch); err != nil {
		return err
	}
	if err := quiet(ctx, w.manager.Requests, stillness); err != nil {
		return err
	}
	if writes := slices.DeleteFunc(w.manager.Requests.WritesSince(mark), leftOut); len(writes) > 0 {
		return fmt.Errorf("a reconcile that has nothing to do wrote %v", writes)
	}
	return nil
}
