package podtemplate

import (
	"maps"
	"slices"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// selecting are the labels of the selector, which cannot change.
var selecting = []string{"app.kubernetes.io/name", "app.kubernetes.io/instance"}

// never are the fields of pods that the API server refuses in a workload, or does not store unchanged, with what to do
// instead.
var never = map[string]string{
	"activeDeadlineSeconds": "the pods of a service run until they are replaced: leave it out",
	"ephemeralContainers":   "only kubectl debug adds them, to running pods: leave it out",
	"serviceAccount":        "an old name that Kubernetes replaces: set spec.serviceAccount.name",
}

// reserved refuses fields that belong to the operator, and fields that would make pods unfit for a service.
func (c *checker) reserved(patch map[string]any) {
	at := place{path: field}
	metadata, _ := patch["metadata"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(metadata)) {
		if name != "labels" && name != "annotations" {
			c.refuse(at.field("metadata").field(name), "not allowed: a patch sets labels and annotations only")
			continue
		}
		entries, _ := metadata[name].(map[string]any)
		if entries == nil {
			c.refuse(at.field("metadata").field(name), "must not be null: the pods are identified by it")
		}
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			if why := reservedKey(key, name == "labels"); why != "" {
				c.refuse(at.field("metadata").field(name).field(key), "%s", why)
			}
		}
	}
	spec, there := patch["spec"].(map[string]any)
	if _, named := patch["spec"]; named && !there {
		c.refuse(at.field("spec"), "must not be null: pods require it")
	}
	c.ofPod(spec, at.field("spec"))
}

// reservedKey returns why a patch may not set a label or an annotation; empty if it may.
func reservedKey(key string, label bool) string {
	switch {
	case !label:
		return kube.ReservedAnnotation(key)
	case slices.Contains(selecting, key):
		return "reserved, because the pods are selected by it: leave it out"
	}
	return kube.ReservedLabel(key)
}

func (c *checker) ofPod(spec map[string]any, at place) {
	for _, name := range slices.Sorted(maps.Keys(never)) {
		if _, there := spec[name]; there {
			c.refuse(at.field(name), "%s", never[name])
		}
	}
	if policy := spec["restartPolicy"]; policy != nil && policy != "Always" {
		c.refuse(at.field("restartPolicy"), "fixed, because pods of a service are always restarted: leave it out")
	}
	if containers, there := spec["containers"]; there && containers == nil {
		c.refuse(at.field("containers"), "must not be null: that would remove the container %s, which is the application",
			mainContainer)
	}
	c.keepsMain(spec["containers"], at.field("containers"))
	first, _ := spec["initContainers"].([]any)
	for i, item := range first {
		if entry, _ := item.(map[string]any); entry["name"] == mainContainer && entry[directive] != deletes {
			c.refuse(at.field("initContainers").entry(i, i).field("name"), "must not be %s: that is the application",
				mainContainer)
		}
	}
}

// keepsMain refuses lists of containers without the main one.
func (c *checker) keepsMain(value any, at place) {
	containers, _ := value.([]any)
	named, replaced := false, -1
	for i, item := range containers {
		entry, _ := item.(map[string]any)
		switch {
		case entry[directive] == replaces:
			replaced = i
		case entry["name"] == mainContainer && entry[directive] == deletes:
			c.refuse(at.entry(i, i).field(directive), "the container %s is the application, and cannot be removed", mainContainer)
			return
		case entry["name"] == mainContainer:
			named = true
		}
	}
	if replaced >= 0 && !named {
		c.refuse(at.entry(replaced, replaced).field(directive),
			"removes the container %s, which is the application: list it, too", mainContainer)
	}
}
