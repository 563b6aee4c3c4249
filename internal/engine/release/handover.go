package release

import (
	"context"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/release/plan"
	"github.com/example/appservice-operator/internal/engine/render"
)

// takeOver leaves the replicas of a live workload to the autoscaler, before the workload is rendered without them. It
// returns the workload as written; nil if no write was needed. The number is unchanged. It is the initial number of
// autoscaling, unless the workload was created to be autoscaled and that number was not annotated.
func (a *applier) takeOver(ctx context.Context, change plan.Change) (client.Object, error) {
	if _, yes := plan.Autoscaled(change.Desired); !yes || !plan.UnsettledReplicas(change.Desired, change.Live) {
		return nil, nil
	}
	live, full := kube.Content(change.Live)
	if !full {
		read := identity(change.Live)
		if err := a.live.Get(ctx, client.ObjectKeyFromObject(read), read); err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", kube.KeyOf(read), err)
		}
		live = read.Object // hold has the version of change.Live as a precondition
	}
	replicas, known, _ := unstructured.NestedInt64(live, "spec", "replicas")
	if !known {
		return nil, nil
	}
	startedWith := replicas
	if initial, err := strconv.ParseInt(change.Live.GetAnnotations()[v1.AnnotationInitialReplicas], 10, 32); err == nil {
		startedWith = initial
	}
	held, err := a.hold(ctx, change.Live, replicas, startedWith)
	if err != nil {
		return nil, err
	}
	return held, nil
}

// handOver leaves the replicas of a workload that was just created to the autoscaler.
func (a *applier) handOver(ctx context.Context, desired, created *unstructured.Unstructured) error {
	initial, yes := plan.Autoscaled(desired)
	if !yes {
		return nil
	}
	_, err := a.hold(ctx, created, initial, initial)
	return err
}

// forgetStart removes the annotation with the initial number from a workload that is no longer autoscaled.
func (a *applier) forgetStart(ctx context.Context, desired, written *unstructured.Unstructured) error {
	if _, scales := plan.Autoscaled(desired); scales || !plan.UnsettledReplicas(desired, written) {
		return nil
	}
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil,
		`{"metadata":{"uid":%q,"annotations":{%q:null}}}`, written.GetUID(), v1.AnnotationStartedWith))
	if err := a.session.Patch(ctx, written.DeepCopy(), patch, client.FieldOwner(replicasManager)); err != nil {
		return fmt.Errorf("%s: %w", kube.KeyOf(desired), err)
	}
	return nil
}

// hold leaves the number of replicas to the autoscaler and annotates the initial number, in one write.
func (a *applier) hold(ctx context.Context, live client.Object, replicas,
	startedWith int64) (*unstructured.Unstructured, error) {
	holder := identity(live)
	holder.SetAnnotations(map[string]string{v1.AnnotationStartedWith: strconv.FormatInt(startedWith, 10)})
	holder.Object["spec"] = map[string]any{"replicas": replicas}
	return a.holdAs(ctx, replicasManager, live, holder)
}

// holdAs moves the fields of holder in a live object to another field manager of the operator.
func (a *applier) holdAs(ctx context.Context, manager string, live client.Object,
	holder *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	body, err := render.BodyOf(holder)
	if err != nil {
		return nil, err
	}
	held, err := a.send(ctx, live, body, live, client.FieldOwner(manager))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kube.KeyOf(live), err)
	}
	return held, nil
}

// replicasManager owns the number of replicas of an autoscaled workload, and the annotation with its initial number.
// The operator's field manager must not: a field that it stops rendering would be removed, and the number would fall to
// 1.
const replicasManager = FieldManager + "-replicas"
