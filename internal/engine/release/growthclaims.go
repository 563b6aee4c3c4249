package release

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// The names of claims of replicas are ambiguous, so a workload that grows may find a claim that was created for someone
// else since its own was created. Its controller would mount that one. The number of replicas is kept then: it is
// not written, and an autoscaler that would raise it is deleted until the claim is gone or the resource may adopt it.

// ordinals are those of the replicas of a workload.
type ordinals struct{ first, count int64 }

func ordinalsOf(workload map[string]any) ordinals {
	count, set, _ := unstructured.NestedInt64(workload, "spec", "replicas")
	if !set {
		count = 1
	}
	first, _, _ := unstructured.NestedInt64(workload, "spec", "ordinals", "start")
	return ordinals{first, count}
}

func (r ordinals) have(ordinal int64) bool { return ordinal >= r.first && ordinal < r.first+r.count }

// growing is a workload with claims whose number of replicas may become larger.
type growing struct {
	prefixes  []string
	now, then ordinals
	// marked says that its controller marks the claims that it creates with the UID of the owner.
	marked bool
}

// takes reports whether the workload would newly use a claim that was not created for the owner.
func (g growing) takes(owner, claim client.Object) bool {
	prefix, ordinal, _ := kube.CutOrdinal(claim.GetName())
	return slices.Contains(g.prefixes, prefix) && g.then.have(ordinal) && !g.now.have(ordinal) &&
		ofOthers(owner, claim, g.marked)
}

// ofOthers reports whether a claim of a replica was created for someone else. One without marks is, if those that the
// workload creates have marks.
func ofOthers(owner, claim client.Object, marked bool) bool {
	uid, name := claim.GetLabels()[v1.LabelOwner], kube.RetainedFor(claim)
	switch {
	case controls(owner, claim):
		return false
	case uid != "":
		return uid != string(owner.GetUID())
	case name != "":
		return name != owner.GetName()
	}
	return marked
}

// growsOntoOthers returns a NotOursError if a plan has a workload grow, at once or by an autoscaler, onto a claim that
// was not created for the owner.
func (a *Actor) growsOntoOthers(ctx context.Context, owner *unstructured.Unstructured, plan *plan.Plan) error {
	if AdoptionOf(owner) != nil {
		return nil
	}
	workloads, err := a.growths(ctx, owner, plan)
	if err != nil || !slices.ContainsFunc(workloads, func(g growing) bool { return g.then != g.now }) {
		return err
	}
	claims, err := a.claims(ctx, owner.GetNamespace())
	if err != nil {
		return err
	}
	for _, claim := range claims {
		if slices.ContainsFunc(workloads, func(g growing) bool { return g.takes(owner, claim) }) {
			return inTheWay(owner, kube.KeyOf(claim), claim)
		}
	}
	return nil
}

// growths returns the workloads with claims that a plan writes, or whose autoscalers it writes.
func (a *Actor) growths(ctx context.Context, owner *unstructured.Unstructured,
	writes *plan.Plan) (all []growing, err error) {
	changes, most := slices.Clone(writes.Apply), map[kube.Key]int64{}
	for _, desired := range writes.Create {
		changes = append(changes, plan.Change{Desired: desired})
	}
	for _, change := range slices.Clone(changes) {
		target, limit := scales(change.Desired.Object)
		if target == nil || kube.TraitsOf(target.GroupVersionKind().GroupKind()).Claims == nil {
			continue
		}
		most[kube.KeyOf(target)] = limit
		if !writes.Touches(kube.KeyOf(target)) {
			target.SetNamespace(owner.GetNamespace())
			err := a.live.Get(ctx, client.ObjectKeyFromObject(target), target)
			if client.IgnoreNotFound(err) != nil {
				return nil, fmt.Errorf("cannot read %s: %w", kube.KeyOf(target), err)
			}
			changes = append(changes, plan.Change{Desired: target, Live: target})
		}
	}
	for _, change := range changes {
		prefixes := kube.ClaimPrefixes(change.Desired)
		if len(prefixes) == 0 {
			continue
		}
		g, err := a.growth(ctx, change, most[kube.KeyOf(change.Desired)])
		if err != nil {
			return nil, err
		}
		g.prefixes = prefixes
		all = append(all, g)
	}
	return all, nil
}

// growth returns how many replicas a workload has before a change, and how many it may have after it, if an autoscaler
// that is written may choose so many.
func (a *Actor) growth(ctx context.Context, change plan.Change, most int64) (g growing, err error) {
	g.then = ordinalsOf(started(change.Desired).Object)
	if change.Live != nil {
		content, full := kube.Content(change.Live)
		if !full {
			read := identity(change.Live)
			if err := a.live.Get(ctx, client.ObjectKeyFromObject(read), read); err != nil {
				return g, fmt.Errorf("cannot read %s: %w", kube.KeyOf(read), err)
			}
			content = read.Object
		}
		live := &unstructured.Unstructured{Object: content}
		g.now = ordinalsOf(content)
		g.marked = slices.ContainsFunc(plan.ClaimTemplates(live),
			func(template *unstructured.Unstructured) bool { return template.GetLabels()[v1.LabelOwner] != "" })
		if _, left := plan.Autoscaled(change.Desired); left {
			g.then.count = g.now.count
		}
	}
	g.then.count = max(g.then.count, most)
	return g, nil
}

// scales returns the workload that an autoscaler scales, without a namespace, and the most replicas that it may choose;
// nil for any other object.
func scales(object map[string]any) (workload *unstructured.Unstructured, most int64) {
	target, found, _ := unstructured.NestedStringMap(object, "spec", "scaleTargetRef")
	if !found {
		return nil, 0
	}
	workload = &unstructured.Unstructured{}
	workload.SetAPIVersion(target["apiVersion"])
	workload.SetKind(target["kind"])
	workload.SetName(target["name"])
	for _, field := range []string{"maxReplicas", "maxReplicaCount"} {
		if limit, set, _ := unstructured.NestedInt64(object, "spec", field); set {
			return workload, limit
		}
	}
	return workload, defaultMost
}

// defaultMost is how many replicas a ScaledObject chooses at most if it does not say so.
const defaultMost = 100

// HoldGrowth deletes the autoscaler of a workload that could grow onto a claim which was not created for the owner, and
// returns a NotOursError then: an autoscaler asks nobody. Claims returns those with a prefix, as far as they are known.
func (a *Actor) HoldGrowth(ctx context.Context, owner *unstructured.Unstructured, existing map[kube.Key]client.Object,
	claims func(prefix string) []client.Object) error {
	if AdoptionOf(owner) != nil {
		return nil
	}
	for _, workload := range existing {
		for _, prefix := range kube.ClaimPrefixes(workload) {
			for _, claim := range claims(prefix) {
				if !ofOthers(owner, claim, false) {
					continue
				}
				if err := a.holdBefore(ctx, owner, existing, workload, claim); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// holdBefore deletes the autoscalers by which a workload could grow onto a claim.
func (a *Actor) holdBefore(ctx context.Context, owner *unstructured.Unstructured, existing map[kube.Key]client.Object,
	workload, claim client.Object) error {
	content, _ := kube.Content(workload)
	g := growing{prefixes: kube.ClaimPrefixes(workload), now: ordinalsOf(content)}
	held := &plan.Plan{}
	for _, object := range existing {
		autoscaler, _ := kube.Content(object)
		target, most := scales(autoscaler)
		g.then = ordinals{g.now.first, most}
		if target != nil && kube.KeyOf(target) == kube.KeyOf(workload) && g.takes(owner, claim) {
			held.Delete = append(held.Delete, object)
		}
	}
	if len(held.Delete) == 0 {
		return nil
	}
	return errors.Join(a.Delete(ctx, owner, held), inTheWay(owner, kube.KeyOf(claim), claim))
}

// claims returns the metadata of all claims of a namespace.
func (a *Actor) claims(ctx context.Context, namespace string) (claims []client.Object, err error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kube.RetainedKind + "List"))
	if err := a.live.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("cannot look for claims: %w", err)
	}
	for i := range list.Items {
		list.Items[i].SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kube.RetainedKind))
		claims = append(claims, &list.Items[i])
	}
	return claims, nil
}
