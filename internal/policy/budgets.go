package policy

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/kube"
)

// budget refuses budgets that allow no disruption even when there are as many pods as there may be. A workload of a
// single pod is exempt: the pod cannot be evicted without a disruption.
func (c *check) budget(pods int64) {
	const instead = "is false: a budget must let a pod go, else nodes cannot be drained"
	if value, _, there := c.share("spec", "maxUnavailable"); there && value == 0 {
		c.refuse("spec.maxUnavailable", "0", "blockingBudgets", instead, true)
	}
	value, percent, there := c.share("spec", "minAvailable")
	stay, shown := value, strconv.FormatInt(value, 10)
	if percent {
		stay, shown = (value*pods+99)/100, shown+"%" // as Kubernetes rounds
	}
	if there && (percent && value >= 100 || pods > 1 && stay >= pods) {
		c.refuse("spec.minAvailable", shown, "blockingBudgets", instead, true)
	}
}

// share returns a number, or a percentage.
func (c *check) share(path ...string) (value int64, percent, there bool) {
	if value, there = c.number(path...); there {
		return value, false, true
	}
	value, err := strconv.ParseInt(strings.TrimSuffix(c.text(path...), "%"), 10, 32)
	return value, true, err == nil
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
