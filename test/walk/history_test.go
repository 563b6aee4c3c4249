//go:build cluster

package walk

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/endstate"
)

// note begins the names of labels and annotations that other writers add beside those that are rendered. They stay.
const note = "walk.example.com/"

// history is all that may differ at the end between a walk and a fresh install, and why. Besides, endstate leaves out what is
// never the same twice.
var history = []struct {
	why  string
	take func(wanted, got map[string]any)
}{
	{"labels and annotations that others add to an object stay", each(func(_ string, object map[string]any) {
		for _, field := range []string{"labels", "annotations"} {
			within(object, func(entries map[string]any) {
				for key := range entries {
					if strings.HasPrefix(key, note) {
						delete(entries, key)
					}
				}
			}, "metadata", field)
		}
	})},
	{"kubectl rollout restart annotates the pod template", each(func(_ string, object map[string]any) {
		within(object, func(annotations map[string]any) {
			delete(annotations, "kubectl.kubernetes.io/restartedAt")
		}, "spec", "template", "metadata", "annotations")
	})},
	{"no annotations are the same as an empty map of them", each(func(_ string, object map[string]any) {
		for _, path := range [][]string{{"metadata"}, {"spec", "template", "metadata"}} {
			within(object, func(metadata map[string]any) {
				for _, field := range []string{"labels", "annotations"} {
					if entries, _ := metadata[field].(map[string]any); len(entries) == 0 {
						delete(metadata, field)
					}
				}
			}, path...)
		}
	})},
	{"a claim that is retained outlives the field that asked for it", endstate.WithoutKept},
	{"a release task that has run stays as it ran: its Job's name is the hash of the fields that have it run again", without("Job", "spec", "template")},
	{"a StatefulSet names the revision that a rollout began with", without("StatefulSet", "status", "currentRevision")},
	{"a StatefulSet names its revision after the whole pod template, with the annotation of a restart", without("StatefulSet", "status", "updateRevision")},
	{"under autoscaling the number of replicas is the autoscaler's, and what it started with is noted", autoscaled},
	{"a rollout that cannot end leaves pods of the version before, where there was one", unfinished},
}

// without takes a field from all objects of a kind.
func without(kind string, path ...string) func(wanted, got map[string]any) {
	return each(func(key string, object map[string]any) {
		if strings.HasPrefix(key, kind+" ") {
			unstructured.RemoveNestedField(object, path...)
		}
	})
}

// each takes history from all objects of both sides.
func each(take func(key string, object map[string]any)) func(wanted, got map[string]any) {
	return func(wanted, got map[string]any) {
		for _, side := range []map[string]any{wanted, got} {
			for key, content := range side {
				if object, ok := content.(map[string]any); ok && key != "status" {
					take(key, object)
				}
			}
		}
	}
}

func within(object map[string]any, do func(map[string]any), path ...string) {
	if nested, found, err := unstructured.NestedFieldNoCopy(object, path...); found && err == nil {
		if content, ok := nested.(map[string]any); ok {
			do(content)
		}
	}
}

// counts are the numbers of pods in a status of any kind.
var counts = []string{
	"readiness", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas", "terminatingReplicas",
	"currentHealthy", "desiredHealthy", "disruptionsAllowed", "expectedPods", "currentReplicas", "desiredReplicas",
}

func autoscaled(wanted, got map[string]any) {
	for _, side := range []map[string]any{wanted, got} {
		if !hasKind(side, "HorizontalPodAutoscaler") {
			return
		}
	}
	withoutCounts(wanted, got)
	for _, side := range []map[string]any{wanted, got} {
		for _, kind := range []string{"Deployment ", "StatefulSet "} {
			within(side, func(workload map[string]any) {
				unstructured.RemoveNestedField(workload, "spec", "replicas")
				unstructured.RemoveNestedField(workload, "metadata", "annotations", v1.AnnotationStartedWith)
			}, kind+name)
		}
		within(side, func(autoscaler map[string]any) { delete(autoscaler, "currentMetrics") }, "HorizontalPodAutoscaler "+name, "status")
		// The words count pods, too, and a size that was changed meanwhile is reported as a problem.
		within(side, func(status map[string]any) {
			delete(status, "conditions")
			withoutProblem(status, v1.ReasonSizeIgnored)
			delete(status, "resources")
			delete(status, "phase")
		}, "status")
	}
}

func withoutProblem(status map[string]any, reason string) {
	var rest []any
	problems, _ := status["problems"].([]any)
	for _, item := range problems {
		if problem, _ := item.(map[string]any); problem["reason"] != reason {
			rest = append(rest, item)
		}
	}
	if delete(status, "problems"); rest != nil {
		status["problems"] = rest
	}
}

func hasKind(side map[string]any, kind string) bool {
	for key := range side {
		if strings.HasPrefix(key, kind+" ") {
			return true
		}
	}
	return false
}

// unfinished leaves out how far pods are where they do not become ready.
func unfinished(wanted, got map[string]any) {
	if phase(wanted) == v1.PhaseRunning || phase(got) == v1.PhaseRunning {
		return // one of them has all that the spec requires: so must the other
	}
	withoutCounts(wanted, got)
	for _, side := range []map[string]any{wanted, got} {
		within(side, func(status map[string]any) {
			delete(status, "phase")
			delete(status, "resources")
			delete(status, "conditions")
			delete(status, "problems")
		}, "status")
	}
}

func phase(side map[string]any) v1.Phase {
	status, _ := side["status"].(map[string]any)
	phase, _ := status["phase"].(string)
	return v1.Phase(phase)
}

func withoutCounts(wanted, got map[string]any) {
	for _, side := range []map[string]any{wanted, got} {
		for key, content := range side {
			object, _ := content.(map[string]any)
			status := object
			if key != "status" {
				status, _ = object["status"].(map[string]any)
			}
			for _, count := range counts {
				delete(status, count)
			}
		}
	}
}

// compared lists how the end of a walk differs from a fresh install beyond history.
func compared(wanted, got map[string]any) []string {
	for _, allowed := range history {
		allowed.take(wanted, got)
	}
	return endstate.Differences("", wanted, got)
}
