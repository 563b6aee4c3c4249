package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/cli/conversion"
	"github.com/example/appservice-operator/internal/kube"
)

// mover converts an AppService, step by step. Each step follows from what is in the cluster.
type mover struct {
	*converting
	conversion.Looker
	writer client.Client
	one    subject
	said   string // what it waits for
}

// between is the time between two looks at the cluster while there is nothing to do.
const between = 500 * time.Millisecond

// move takes steps until there is none left, and returns the last state. The error says what it was waiting for.
func (m *mover) move(ctx context.Context) (*conversion.State, error) {
	for applied := false; ; {
		found, err := m.look(ctx, applied)
		if err != nil {
			return nil, m.unfinished(ctx, err)
		}
		step := found.Next(m.Options, applied)
		if step == conversion.Done {
			return found, nil
		}
		if err := m.take(ctx, step, found); err != nil {
			return nil, m.unfinished(ctx, err)
		}
		applied = applied || step == conversion.Apply
	}
}

// look reads the state, and the rest only when nothing else remains.
func (m *mover) look(ctx context.Context, applied bool) (*conversion.State, error) {
	found, err := m.Look(ctx)
	if err == nil && found.Next(m.Options, applied) == conversion.Done && !m.KeepOld {
		err = m.Rest(ctx, found)
	}
	return found, err
}

// unfinished returns an error that says how to continue.
func (m *mover) unfinished(ctx context.Context, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("--timeout=%s is over, %s: the same command continues", m.timeout, cmp.Or(m.said, "and it is not done"))
	case ctx.Err() != nil:
		m.note("the same command continues where this one ended")
		return ctx.Err()
	}
	return fmt.Errorf("%w (the same command continues)", err)
}

// take takes a step.
func (m *mover) take(ctx context.Context, step conversion.Step, found *conversion.State) error {
	switch step {
	case conversion.Orphan:
		return m.delete(ctx, found.App, metav1.DeletePropagationOrphan, " without its objects")
	case conversion.OrphanSet:
		return m.delete(ctx, found.Old.Object(), metav1.DeletePropagationOrphan, " without its pods")
	case conversion.Stop:
		return m.stop(ctx, found.Old)
	case conversion.Apply:
		return m.apply(ctx)
	case conversion.Replace:
		pod := found.Stalest()
		pod.SetGroupVersionKind(podKind)
		return m.delete(ctx, pod, metav1.DeletePropagationBackground, ", to be created again with other claims")
	case conversion.Remove:
		return m.delete(ctx, found.Old.Object(), metav1.DeletePropagationForeground, "")
	case conversion.Clean:
		for _, object := range found.Rest {
			if err := m.delete(ctx, object, metav1.DeletePropagationBackground, ""); err != nil {
				return err
			}
		}
		return nil
	}
	return m.wait(ctx, found.Awaited())
}

var podKind = corev1.SchemeGroupVersion.WithKind("Pod")

// delete deletes an object, if it is still the one that was found. More is what to say beside that.
func (m *mover) delete(ctx context.Context, object client.Object, propagation metav1.DeletionPropagation,
	more string) error {
	key := kube.KeyOf(object)
	err := m.writer.Delete(ctx, object, client.Preconditions{UID: ptr.To(object.GetUID())},
		client.PropagationPolicy(propagation))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return m.did(fmt.Sprintf("%s is deleted%s", key, more))
}

// stop scales a workload to 0. A StatefulSet ends its last replica first.
func (m *mover) stop(ctx context.Context, old *conversion.Workload) error {
	patch := client.RawPatch(types.MergePatchType,
		fmt.Appendf(nil, `{"metadata":{"uid":%q},"spec":{"replicas":0}}`, old.UID))
	if err := m.writer.Patch(ctx, old.Object(), patch, client.FieldOwner(fieldManager)); err != nil {
		return fmt.Errorf("%s: %w", old.Key(), err)
	}
	return m.did(fmt.Sprintf("%s is scaled to 0", old.Key()))
}

// apply applies the AppService of the file.
func (m *mover) apply(ctx context.Context) error {
	desired, err := m.desired()
	if err != nil {
		return err
	}
	if err := m.writer.Apply(ctx, client.ApplyConfigurationFromUnstructured(desired), client.FieldOwner(fieldManager),
		client.ForceOwnership); err != nil {
		return explainRefusal(nameOf(m.one.Unstructured), err)
	}
	return m.did(m.one.name() + " is applied")
}

// did prints what was done.
func (m *mover) did(text string) error {
	_, err := fmt.Fprintln(m.Out, text)
	return err
}

// wait waits a moment, and says once what for.
func (m *mover) wait(ctx context.Context, what string) error {
	if what != m.said {
		_, _ = fmt.Fprintln(m.ErrOut, what)
		m.said = what
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(between):
		return nil
	}
}
