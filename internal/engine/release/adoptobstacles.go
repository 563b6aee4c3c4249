package release

import (
	"context"
	"fmt"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
)

var (
	autoscalers = schema.GroupKind{Group: autoscalingv2.GroupName, Kind: "HorizontalPodAutoscaler"}
	budgets     = schema.GroupKind{Group: policyv1.GroupName, Kind: "PodDisruptionBudget"}
)

// conflicts lists autoscalers and budgets that are not rendered and would still act on adopted workloads: such an
// autoscaler changes rendered fields, or interferes with its own autoscaler, and pods with two budgets cannot
// be evicted.
func (a *applier) conflicts(ctx context.Context, found []*Prospect, rendered []kube.Key) ([]string, error) {
	var list []string
	for _, prospect := range found {
		if prospect.change.Live == nil || !kube.TraitsOf(prospect.Key.GroupKind).Scales {
			continue
		}
		scaling, err := a.scalers(ctx, prospect.Key, rendered)
		if err != nil {
			return nil, err
		}
		budgeting, err := a.budgeters(ctx, prospect, rendered)
		if err != nil {
			return nil, err
		}
		list = slices.Concat(list, scaling, budgeting)
	}
	return list, nil
}

// scalers lists the autoscalers of a workload.
func (a *applier) scalers(ctx context.Context, workload kube.Key, rendered []kube.Key) ([]string, error) {
	found, err := scalersOf(ctx, a.live, a.owner.GetNamespace(), workload)
	if err != nil {
		return nil, err
	}
	var list []string
	for i := range found {
		if key := (kube.Key{GroupKind: autoscalers, Name: found[i].Name}); a.conflicting(key, &found[i], rendered) {
			list = append(list, fmt.Sprintf("%s scales %s, and would continue: delete it, or recreate it with the name %q", key,
				workload, a.owner.GetName()))
		}
	}
	return list, nil
}

func scalersOf(ctx context.Context, live client.Reader, namespace string,
	workload kube.Key) ([]autoscalingv2.HorizontalPodAutoscaler, error) {
	all := &autoscalingv2.HorizontalPodAutoscalerList{}
	if err := live.List(ctx, all, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("cannot look for autoscalers: %w", err)
	}
	return slices.DeleteFunc(all.Items, func(scaler autoscalingv2.HorizontalPodAutoscaler) bool {
		of := scaler.Spec.ScaleTargetRef
		return of.Kind != workload.Kind || of.Name != workload.Name
	}), nil
}

// budgeters lists the budgets for the pods of a workload, if one is rendered for them.
func (a *applier) budgeters(ctx context.Context, workload *Prospect, rendered []kube.Key) ([]string, error) {
	if !slices.ContainsFunc(rendered, func(key kube.Key) bool { return key.GroupKind == budgets }) {
		return nil, nil
	}
	all := &policyv1.PodDisruptionBudgetList{}
	if err := a.live.List(ctx, all, client.InNamespace(a.owner.GetNamespace())); err != nil {
		return nil, fmt.Errorf("cannot look for budgets: %w", err)
	}
	pods, _, _ := unstructured.NestedStringMap(workload.change.Desired.Object, "spec", "template", "metadata", "labels")
	var list []string
	for i := range all.Items {
		budget := &all.Items[i]
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		key := kube.Key{GroupKind: budgets, Name: budget.Name}
		if err == nil && selector.Matches(labels.Set(pods)) && a.conflicting(key, budget, rendered) {
			list = append(list, fmt.Sprintf("%s is for pods of %s, and of pods with two budgets none can be evicted: delete it, or recreate it with the name %q",
				key, workload.Key, a.owner.GetName()))
		}
	}
	return list, nil
}

// conflicting reports whether an object is neither rendered nor the owner's.
func (a *applier) conflicting(key kube.Key, object client.Object, rendered []kube.Key) bool {
	return !slices.Contains(rendered, key) && !metav1.IsControlledBy(object, a.owner)
}
