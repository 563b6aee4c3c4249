//go:build cluster

package walk

import (
	"math/rand/v2"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/example/appservice-operator/test/harness"
)

// role is what a walk is sure to be of.
type role int

const (
	ofAnything role = iota
	// ofReplicas is of an AppService with a StatefulSet.
	ofReplicas
	// ofAutoscaler is of an AppService that is autoscaled in each of its specs.
	ofAutoscaler
	// ofJob is of an AppJob that runs once.
	ofJob
)

// roleOf returns the role of a walk. Any five in a row have all of them.
func roleOf(number uint64) role {
	return []role{ofAnything, ofReplicas, ofAutoscaler, ofJob, ofAnything}[number%5]
}

// volumes are those of each replica. Their templates never change, so a walk has the same ones from the beginning to the end.
var volumes = map[string]any{"perReplica": true, "size": "1Gi", "mountPath": "/each", "storageClassName": "none"}

// keep makes a spec one of the role, whose release task can run.
func (r role) keep(spec map[string]any) map[string]any {
	bind(spec)
	switch r {
	case ofReplicas:
		spec["persistence"] = runtime.DeepCopyJSON(volumes)
		delete(spec, "strategy")
		delete(spec, "commonLabels") // claim templates have them
	case ofAutoscaler:
		bounds, _ := spec["autoscaling"].(map[string]any)
		if _, bounded := bounds["maxReplicas"].(int64); !bounded {
			spec["autoscaling"] = map[string]any{"minReplicas": int64(2), "maxReplicas": int64(4)}
		}
	}
	return spec
}

// bind sets the storage class of the volumes that a release task mounts to the one that test clusters provide.
func bind(spec map[string]any) {
	if release, _ := spec["release"].(map[string]any); release["persistence"] != true {
		return
	}
	mounted, _ := spec["claims"].([]any)
	for _, claim := range append(slices.Clone(mounted), spec["persistence"]) {
		if claim, is := claim.(map[string]any); is {
			claim["storageClassName"] = harness.StaticVolumes
		}
	}
}

// keeping returns a change after which the spec is one of the role.
func (r role) keeping(change func(map[string]any) map[string]any) func(map[string]any) map[string]any {
	return func(spec map[string]any) map[string]any { return r.keep(change(spec)) }
}

// opening are the first steps of a walk: an autoscaler that has scaled sees whether its number stays when the spec changes.
func (r role) opening(count int) []step {
	if r != ofAutoscaler {
		return nil
	}
	scales := writer{name: "an autoscaler scales", do: autoscale}
	list := []step{{text: scales.name, writer: &scales, choice: 1}, {text: "another image", change: func(spec map[string]any) map[string]any {
		spec["image"] = "nginx:1.29"
		return spec
	}}}
	return list[:min(count, len(list))]
}

// someFirst is the spec of a case, made one of the role.
func (g *generator) someFirst(random *rand.Rand, r role) map[string]any {
	for {
		if spec := r.keep(g.someCase(random).change(nil)); g.check(spec) == nil {
			return spec
		}
	}
}
