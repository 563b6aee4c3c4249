//go:build cluster

package walk

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/endstate"
)

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
	if w.raced { // the operator may still have to repair the last foreign write
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
	return eventually(ctx, func() error {
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
	err = eventually(ctx, func() error {
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
		back = w.role.keep(back)
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
