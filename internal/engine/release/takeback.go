package release

import (
	"context"
	"errors"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/jobs"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// takeBack deletes the objects of a refused first release: objects created by this attempt, and objects left by
// earlier attempts that were interrupted before they could delete them. It returns why it was refused. A temporary
// error is not a refusal: the next attempt continues.
func (a *applier) takeBack(ctx context.Context, task Task, created []client.Object, err error) error {
	written := append(a.left(task), created...)
	if len(written) == 0 {
		return err
	}
	if refused := final(err) || Refused(err) && Refused(a.wouldTake(ctx, unwritten(task.Plan, created))); !refused {
		return err
	}
	return errors.Join(err, a.undo(ctx, written))
}

// final reports whether an error is a refusal with a known cause. Any other answer of the API server is one if it is
// repeated: rights and policies take a moment to reach all of its parts.
func final(err error) bool {
	var notOurs *NotOursError
	var refused *plan.RefusedError
	var malformed *MalformedError
	return errors.As(err, &notOurs) || errors.As(err, &refused) || errors.As(err, &malformed)
}

// unwritten returns the part of a plan that is still to be written.
func unwritten(writes *plan.Plan, created []client.Object) *plan.Plan {
	is := func(desired *unstructured.Unstructured) bool {
		return slices.ContainsFunc(created, func(o client.Object) bool { return kube.KeyOf(o) == kube.KeyOf(desired) })
	}
	return &plan.Plan{Create: slices.DeleteFunc(slices.Clone(writes.Create), is), Apply: writes.Apply}
}

// left returns the objects that earlier attempts created. A claim may hold data, of an earlier resource or of pods that
// have run, and generated values may be its password: they stay unless this very attempt created them. So do all
// objects that may have been adopted.
func (a *applier) left(task Task) []client.Object {
	if AdoptionOf(a.owner) != nil {
		return nil
	}
	born := a.owner.GetCreationTimestamp()
	var list []client.Object
	for _, key := range slices.SortedFunc(maps.Keys(task.Snapshot.Objects), kube.Key.Compare) {
		object := task.Snapshot.Objects[key]
		controller := metav1.GetControllerOfNoCopy(object)
		created := object.GetCreationTimestamp()
		if created.Before(&born) || jobs.RunsOnce(object) {
			continue // it existed before the resource, or may have run
		}
		if controller != nil && controller.UID == a.owner.GetUID() && !plan.HoldsData(object) &&
			object.GetDeletionTimestamp() == nil {
			list = append(list, object)
		}
	}
	return list
}

// undo deletes objects, in any version: no other object can have their UIDs.
func (a *applier) undo(ctx context.Context, objects []client.Object) error {
	for _, object := range objects {
		if err := a.delete(ctx, object, ""); err != nil {
			return err
		}
	}
	return nil
}
