//go:build cluster

package scenario

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/endstate"
)

// state is the state of a namespace: each field by its path, as in "Service web.spec.type".
type state map[string]string

// field returns the value at a path, empty if there is none, or the values at those paths for which "*" stands.
func (s state) field(path string) string {
	before, after, several := strings.Cut(path, "*")
	if !several {
		return s[path]
	}
	var values []string
	for _, known := range slices.Sorted(maps.Keys(s)) {
		if rest, found := strings.CutPrefix(known, before); found && strings.HasSuffix(rest, after) {
			values = append(values, s[known])
		}
	}
	return strings.Join(values, ", ")
}

// stateOf returns the objects of a namespace in a form that can be compared between namespaces.
func stateOf(namespace string, objects map[string]*unstructured.Unstructured) (state, error) {
	names := []string{namespace, "NAMESPACE"}
	uids := map[types.UID]bool{}
	for _, object := range objects {
		uids[object.GetUID()] = true
	}
	// ReplicaSets of a deleted Deployment are left to the garbage collector, which may need minutes after an outage.
	objects = maps.Clone(objects)
	maps.DeleteFunc(objects, func(_ string, object *unstructured.Unstructured) bool {
		controller := metav1.GetControllerOf(object)
		return object.GetKind() == "ReplicaSet" && controller != nil && !uids[controller.UID]
	})
	var replicaSets []*unstructured.Unstructured
	for _, object := range objects {
		switch object.GetKind() {
		case v1.Kind, jobKind:
			names = append(names, string(object.GetUID()), "UID")
		case "Job":
			names = append(names, string(object.GetUID()), "JOB-UID")
		case "ReplicaSet":
			replicaSets = append(replicaSets, object)
		}
	}
	// Their templates are compared; the hash in their names depends on collisions, too.
	slices.SortFunc(replicaSets, func(a, b *unstructured.Unstructured) int { return revisionOf(b) - revisionOf(a) })
	for i, replicaSet := range replicaSets {
		names = append(names, replicaSet.GetLabels()["pod-template-hash"], fmt.Sprintf("HASH-%d", i))
	}
	same := strings.NewReplacer(names...)
	out, moving := state{}, jobGoesOn(objects)
	for key, object := range objects {
		content := object.DeepCopy().Object
		if record, found, _ := unstructured.NestedString(content, "data", "release"); found {
			if release, err := decode(record); err == nil { // one that is damaged is compared as it is
				content["data"] = release
			}
			if moving { // records of earlier releases are updated when it has settled
				unstructured.RemoveNestedField(content, "metadata", "labels", "status")
				unstructured.RemoveNestedField(content, "data", "info", "status")
			}
		}
		metadata, _ := content["metadata"].(map[string]any)
		switch object.GetKind() {
		case "ReplicaSet": // how often it was scaled is not part of the end
			delete(metadata, "generation")
			unstructured.RemoveNestedField(content, "status", "observedGeneration")
		case "Deployment": // a pod that is ending may end sooner or later
			unstructured.RemoveNestedField(content, "status", "terminatingReplicas")
		case "Job": // its pod may end before the Job controller notes that it is resumed
			conditions, _, _ := unstructured.NestedSlice(content, "status", "conditions")
			_ = unstructured.SetNestedSlice(content, slices.DeleteFunc(conditions, isSuspended), "status", "conditions")
		case "PodDisruptionBudget", "HorizontalPodAutoscaler": // their controllers process them sooner or later
			delete(content, "status")
		case v1.Kind, jobKind:
			delete(metadata, "labels") // they name the operator that serves it
			if moving {                // of one that was never ready, the phase reports whether it failed before
				unstructured.RemoveNestedField(content, "status", "phase")
			}
		}
		flatten(out, same, key, content)
	}
	return out, nil
}

// jobGoesOn reports whether an AppJob has not settled yet.
func jobGoesOn(objects map[string]*unstructured.Unstructured) bool {
	app := objects[jobKind+" "+appName]
	if app == nil {
		return false
	}
	phase, _, _ := unstructured.NestedString(app.Object, "status", "phase")
	return phase != string(v1.PhaseRunning)
}

// isSuspended reports whether a condition of a Job is about its suspension.
func isSuspended(condition any) bool {
	fields, _ := condition.(map[string]any)
	return fields["type"] == "Suspended"
}

// revisionOf returns the revision of a Deployment that a ReplicaSet belongs to.
func revisionOf(replicaSet *unstructured.Unstructured) int {
	revision, _ := strconv.Atoi(replicaSet.GetAnnotations()["deployment.kubernetes.io/revision"])
	return revision
}

func flatten(into state, same *strings.Replacer, path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, content := range value {
			if !endstate.Plays.LeavesOut(key, content) {
				flatten(into, same, path+"."+key, content)
			}
		}
		if len(value) == 0 {
			into[same.Replace(path)] = "{}"
		}
	case []any:
		for i, content := range value {
			place := fmt.Sprint(i)
			if condition, yes := content.(map[string]any); yes && strings.HasSuffix(path, ".conditions") {
				place = fmt.Sprint(condition["type"]) // they have no order
			}
			flatten(into, same, path+"["+place+"]", content)
		}
	default:
		into[same.Replace(path)] = endstate.WithoutPorts(same.Replace(fmt.Sprint(value)))
	}
}

// decode reads the payload of a release record as Helm keeps it.
func decode(payload string) (map[string]any, error) {
	data, err := base64.StdEncoding.DecodeString(payload)
	if err != nil {
		return nil, err
	}
	if data, err = base64.StdEncoding.DecodeString(string(data)); err != nil {
		return nil, err
	}
	reader, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if data, err = io.ReadAll(reader); err != nil {
		return nil, err
	}
	out := map[string]any{}
	return out, json.Unmarshal(data, &out)
}

// masked returns the paths in which two runs without faults differ.
func masked(first, second state) map[string]bool {
	mask := map[string]bool{}
	for path := range union(first, second) {
		a, inFirst := first[path]
		b, inSecond := second[path]
		if a != b || inFirst != inSecond {
			mask[path] = true
		}
	}
	return mask
}

// differences lists the fields in which an end differs from the reference, in order.
func differences(want, got state, mask map[string]bool) []string {
	var out []string
	for path := range union(want, got) {
		a, wanted := want[path]
		b, found := got[path]
		switch {
		case mask[path] || a == b && wanted == found:
		case !found:
			out = append(out, fmt.Sprintf("%s: missing, want %q", path, short(a)))
		case !wanted:
			out = append(out, fmt.Sprintf("%s: %q, want none", path, short(b)))
		default:
			out = append(out, fmt.Sprintf("%s: %q, want %q", path, short(b), short(a)))
		}
	}
	slices.Sort(out)
	return out
}

func union(a, b state) state {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

func short(text string) string {
	if len(text) > 160 {
		return text[:160] + " …"
	}
	return text
}

// listed puts the first differences on lines of their own. For a missing or superfluous object, it prints only the name.
func listed(differs []string) string {
	var lines []string
	for _, line := range differs {
		if object, what, named := strings.Cut(line, ".metadata.name: "); named {
			lines = append(lines, object+": "+what)
		}
	}
	for _, line := range differs {
		whole := slices.ContainsFunc(lines, func(object string) bool {
			name, _, _ := strings.Cut(object, ": ")
			return strings.HasPrefix(line, name+".")
		})
		if !whole && len(lines) < 40 {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n    ")
}
