package policy

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/kube"
)

// replicas are the fields, of any kind, that set the number of pods: of workloads, autoscalers, Jobs and KEDA's
// objects.
var replicas = [][]string{
	{"spec", "replicas"},
	{"spec", "maxReplicas"},
	{"spec", "minReplicas"},
	{"spec", "parallelism"},
	{"spec", "jobTemplate", "spec", "parallelism"},
	{"spec", "minReplicaCount"},
	{"spec", "maxReplicaCount"},
	{"spec", "idleReplicaCount"},
	{"spec", "fallback", "replicas"},
}

// kedaMost is KEDA's default for spec.maxReplicaCount.
const kedaMost = 100

func (c *check) sizes() {
	for _, path := range replicas {
		if value, there := c.number(path...); there {
			c.atMost(strings.Join(path, "."), value)
		}
	}
	if _, there := c.number("spec", "maxReplicaCount"); !there && c.object.GetKind() == "ScaledObject" {
		c.atMost("spec.maxReplicaCount", kedaMost)
	}
	if c.object.GetKind() == "PodDisruptionBudget" && !*c.BlockingBudgets {
		c.budget()
	}
}

// budget refuses budgets that allow no disruption, however many pods there are. A number of pods that must stay is
// allowed: there may be more.
func (c *check) budget() {
	const instead = "is false: a budget must let a pod go, else nodes cannot be drained"
	if value, there := c.share("spec", "maxUnavailable"); there && value == 0 {
		c.refuse("spec.maxUnavailable", "0", "blockingBudgets", instead, true)
	}
	found, _, _ := unstructured.NestedFieldNoCopy(c.object.Object, "spec", "minAvailable")
	if text, is := found.(string); is {
		if value, there := c.share("spec", "minAvailable"); there && value >= 100 {
			c.refuse("spec.minAvailable", text, "blockingBudgets", instead, true)
		}
	}
}

// share returns a number, or a percentage.
func (c *check) share(path ...string) (value int64, there bool) {
	if value, there = c.number(path...); there {
		return value, true
	}
	value, err := strconv.ParseInt(strings.TrimSuffix(c.text(path...), "%"), 10, 64)
	return value, err == nil
}

// claims checks claims, and templates of claims.
func (c *check) claims() {
	if c.object.GetKind() == "PersistentVolumeClaim" {
		c.claim("spec", c.object.Object)
	}
	path := kube.TraitsOf(c.object.GroupVersionKind().GroupKind()).Claims
	if path == nil {
		return
	}
	for i, item := range c.list(path...) {
		if template, is := item.(map[string]any); is {
			c.claimTemplate(fmt.Sprintf("%s[%d]", strings.Join(path, "."), i), template)
		}
	}
}

// ephemeral checks the claim templates of ephemeral volumes in a pod template: a claim is created from them for each
// pod.
func (c *check) ephemeral(pod map[string]any) {
	volumes, _, _ := unstructured.NestedFieldNoCopy(pod, "spec", "volumes")
	list, _ := volumes.([]any)
	for _, item := range list {
		volume, _ := item.(map[string]any)
		found, _, _ := unstructured.NestedFieldNoCopy(volume, "ephemeral", "volumeClaimTemplate")
		if template, is := found.(map[string]any); is {
			c.claimTemplate(fmt.Sprintf("volumes[%v].ephemeral.volumeClaimTemplate", volume["name"]), template)
		}
	}
}

func (c *check) claimTemplate(at string, template map[string]any) {
	c.annotations("PersistentVolumeClaim", template)
	c.claim(at+".spec", template)
}

func (c *check) claim(at string, content map[string]any) {
	for _, bound := range []string{"requests", "limits"} {
		found, _, _ := unstructured.NestedFieldNoCopy(content, "spec", "resources", bound, "storage")
		if size, err := resource.ParseQuantity(fmt.Sprint(found)); found != nil && err == nil {
			c.storage(at+".resources."+bound+".storage", size)
		}
	}
}
