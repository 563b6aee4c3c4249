package policy

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/kube"
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

func (c *check) sizes(all []*unstructured.Unstructured) {
	for _, path := range replicas {
		if value, there := c.number(path...); there {
			c.atMost(strings.Join(path, "."), value)
		}
	}
	if _, there := c.number("spec", "maxReplicaCount"); !there && c.object.GetKind() == "ScaledObject" {
		c.atMost("spec.maxReplicaCount", kedaMost)
	}
	if c.object.GetKind() == "PodDisruptionBudget" && !*c.BlockingBudgets {
		c.budget(all)
	}
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
	c.metadata("PersistentVolumeClaim", template)
	c.claim(at+".spec", template)
}

// claim refuses the size of a claim, and that it chooses a volume that exists and may have data.
func (c *check) claim(at string, content map[string]any) {
	spec, _ := content["spec"].(map[string]any)
	if name, there := spec["volumeName"]; there && name != "" && !*c.StaticVolumes && !c.choice.earlier {
		c.refuse(at+".volumeName", fmt.Sprint(name), "staticVolumes", "is false: a claim must not choose an existing volume", true)
	}
	if _, selects := spec["selector"]; selects && !*c.StaticVolumes {
		c.refuse(at+".selector", "", "staticVolumes", "is false: a claim must not choose an existing volume", true)
	}
	if class, there := spec["storageClassName"]; there && class == "" && !*c.StaticVolumes {
		c.refuse(at+".storageClassName", `""`, "staticVolumes", "is false: name a class, or leave it out", true)
	}
	for _, bound := range []string{"requests", "limits"} {
		found, _, _ := unstructured.NestedFieldNoCopy(content, "spec", "resources", bound, "storage")
		if size, err := resource.ParseQuantity(fmt.Sprint(found)); found != nil && err == nil {
			c.storage(at+".resources."+bound+".storage", size)
		}
	}
}
