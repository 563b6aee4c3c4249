package policy

import (
	"cmp"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
)

// budget refuses budgets that allow no disruption with the least number of pods that there may be, all of them ready. A
// workload of one pod at most is exempt: the pod cannot be evicted without a disruption.
func (c *check) budget(all []*unstructured.Unstructured) {
	const instead = "is false: a budget must let a pod go, else nodes cannot be drained"
	if value, _, found := c.share("spec", "maxUnavailable"); found && value == 0 {
		c.refuse("spec.maxUnavailable", "0", "blockingBudgets", instead, true)
	}
	value, percent, found := c.share("spec", "minAvailable")
	pods, known := c.least(all)
	stay, shown := value, strconv.FormatInt(value, 10)
	if percent {
		stay, shown = (value*pods+99)/100, shown+"%" // as Kubernetes rounds
	}
	if found && (percent && value >= 100 || known && most(all) > 1 && stay > 1 && stay >= pods) {
		c.refuse("spec.minAvailable", shown, "blockingBudgets", instead, true)
	}
}

// share returns a number, or a percentage.
func (c *check) share(path ...string) (value int64, percent, found bool) {
	if value, found = c.number(path...); found {
		return value, false, true
	}
	value, err := strconv.ParseInt(strings.TrimSuffix(c.text(path...), "%"), 10, 32)
	return value, true, err == nil
}

// least returns the least number of pods that a budget is about, as far as that is known: those of the rendered
// workloads that it selects. Earlier versions went by the largest number.
func (c *check) least(all []*unstructured.Unstructured) (pods int64, known bool) {
	if c.choice.earlier {
		return most(all), true
	}
	found, _, _ := unstructured.NestedFieldNoCopy(c.object.Object, "spec", "selector")
	content, _ := found.(map[string]any)
	var by metav1.LabelSelector
	if runtime.DefaultUnstructuredConverter.FromUnstructured(content, &by) != nil {
		return 0, false // the API server refuses it
	}
	selector, err := metav1.LabelSelectorAsSelector(&by)
	if err != nil {
		return 0, false
	}
	for _, object := range all {
		template := reference.PodTemplate(object)
		if template == nil || !kube.TraitsOf(object.GroupVersionKind().GroupKind()).Scales {
			continue
		}
		if labeled, _, _ := unstructured.NestedStringMap(template, "metadata", "labels"); selector.Matches(labels.Set(labeled)) {
			pods, known = pods+fewest(object, all), true
		}
	}
	return pods, known
}

// fewest returns the least number of pods of a workload: its own, or that of its autoscaler.
func fewest(workload *unstructured.Unstructured, all []*unstructured.Unstructured) int64 {
	number := func(of *unstructured.Unstructured, field string, unset int64) int64 {
		if value, there := (&check{object: of}).number("spec", field); there {
			return value
		}
		return unset
	}
	for _, object := range all {
		target, _, _ := unstructured.NestedStringMap(object.Object, "spec", "scaleTargetRef")
		if target["name"] != workload.GetName() || cmp.Or(target["kind"], "Deployment") != workload.GetKind() {
			continue
		}
		switch object.GetKind() {
		case "HorizontalPodAutoscaler":
			return number(object, "minReplicas", 1)
		case "ScaledObject":
			return number(object, "minReplicaCount", 0)
		}
	}
	return number(workload, "replicas", 1)
}

// most returns the largest number of pods that rendered objects may have.
func most(objects []*unstructured.Unstructured) int64 {
	var pods int64
	for _, object := range objects {
		c := &check{object: object}
		path, unset := []string{"spec", "replicas"}, int64(1)
		switch object.GetKind() {
		case "HorizontalPodAutoscaler":
			path = []string{"spec", "maxReplicas"}
		case "ScaledObject":
			path, unset = []string{"spec", "maxReplicaCount"}, kedaMost
		default:
			if kube.TraitsOf(object.GroupVersionKind().GroupKind()).PodTemplate == nil {
				continue
			}
		}
		if value, there := c.number(path...); there {
			unset = value
		}
		pods = max(pods, unset)
	}
	return pods
}
