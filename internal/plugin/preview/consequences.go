package preview

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/generate"
	"github.com/example/appservice-operator/internal/engine/release/plan"
	"github.com/example/appservice-operator/internal/operator/hosts"
)

// Effect is the type of a consequence.
type Effect string

// The effects.
const (
	// Refused: the API server would refuse the change. Nothing is written, and the objects stay as they are.
	Refused Effect = "refused"
	// Loses: data is lost.
	Loses Effect = "losesData"
	// Restarts: running pods are replaced.
	Restarts Effect = "restartsPods"
	// Stops: a port or host is removed.
	Stops Effect = "goesAway"
	// Keeps: something stays although it is no longer rendered.
	Keeps Effect = "stays"
	// Runs: a Job of the stage `before` runs, before anything else changes.
	Runs Effect = "runsTask"
	// Rests: such a Job does not run.
	Rests Effect = "restsTask"
)

var worstFirst = []Effect{Refused, Loses, Runs, Restarts, Stops, Keeps, Rests}

// Consequence is an effect of a change, described for users.
type Consequence struct {
	Effect Effect `json:"effect"`
	Text   string `json:"text"`
}

// Consequences returns the effects of the changes between two renderings, the worst first. Renderings of the same spec
// delete no data.
func Consequences(old, rendered []*unstructured.Unstructured, changes []Change, sameSpec bool) []Consequence {
	var list []Consequence
	add := func(effect Effect, text string, args ...any) {
		list = append(list, Consequence{effect, fmt.Sprintf(text, args...)})
	}
	if refused := otherKind(changes); refused != nil {
		add(Refused, "refused: %v: %s", refused, refused.Hint())
	}
	for _, change := range changes {
		if change.Old == nil {
			continue
		}
		key := kube.KeyOf(change.Old)
		if change.New != nil {
			if refused := plan.Immutable(change.Old, change.New); refused != nil {
				add(Refused, "refused: %v", refused)
			}
		}
		if plan.RestartsPods([]*unstructured.Unstructured{change.Old}, change.after()) {
			add(Restarts, "%s", restarts(change))
		}
		for _, port := range portsThatGo(change) {
			add(Stops, "%s: port %s is removed", key, port)
		}
		effect, text := dataEffect(change, sameSpec)
		if text != "" {
			add(effect, "%s", text)
		}
	}
	// of all objects together: a host may move from an Ingress to a route
	for _, host := range hostsThatGo(old, rendered) {
		add(Stops, "host %s is removed", host)
	}
	sortWorst(list)
	return list
}

// otherKind returns an error if the operator would not replace a workload by one of another kind; nil if it would.
func otherKind(changes []Change) *plan.OtherKindError {
	var created, deleted []*unstructured.Unstructured
	for _, change := range changes {
		switch {
		case change.Old == nil:
			created = append(created, change.New)
		case change.New == nil:
			deleted = append(deleted, change.Old)
		}
	}
	return plan.KeepsKind(created, deleted)
}

// sortWorst sorts effects, the worst first.
func sortWorst(list []Consequence) {
	slices.SortStableFunc(list, func(a, b Consequence) int {
		return slices.Index(worstFirst, a.Effect) - slices.Index(worstFirst, b.Effect)
	})
}

func (c Change) after() []*unstructured.Unstructured {
	if c.New == nil {
		return nil
	}
	return []*unstructured.Unstructured{c.New}
}

func restarts(change Change) string {
	key := kube.KeyOf(change.Old)
	if change.New == nil {
		return fmt.Sprintf("%s is deleted, with its pods", key)
	}
	text := fmt.Sprintf("pods of %s WILL restart", key)
	if strategy, _, _ := unstructured.NestedString(change.New.Object, "spec", "strategy", "type"); strategy == "Recreate" {
		text += ", all at once: nothing serves meanwhile"
	}
	return text
}

// portsThatGo returns the ports that a Service no longer has, as clients know them.
func portsThatGo(change Change) []string {
	if change.Old.GroupVersionKind().GroupKind() != corev1.SchemeGroupVersion.WithKind("Service").GroupKind() {
		return nil
	}
	stays := portsOf(change.New)
	return slices.DeleteFunc(portsOf(change.Old), func(port string) bool { return slices.Contains(stays, port) })
}

func portsOf(object *unstructured.Unstructured) []string {
	if object == nil {
		return nil
	}
	service := kube.As[corev1.Service](object)
	if service == nil {
		return nil
	}
	var list []string
	for _, port := range service.Spec.Ports {
		text := fmt.Sprint(port.Port)
		if port.Protocol != "" && port.Protocol != corev1.ProtocolTCP {
			text += "/" + string(port.Protocol)
		}
		list = append(list, text)
	}
	return list
}

// hostsThatGo returns the hosts that no route of a resource is for any more.
func hostsThatGo(before, after []*unstructured.Unstructured) []string {
	hostsOf := func(objects []*unstructured.Unstructured) []string {
		var list []string
		for _, object := range objects {
			for _, path := range hosts.RoutePathsOf(object) {
				if path.Host != "" && !slices.Contains(list, path.Host) {
					list = append(list, path.Host)
				}
			}
		}
		return list
	}
	stay := hostsOf(after)
	return slices.DeleteFunc(hostsOf(before), func(host string) bool { return slices.Contains(stay, host) })
}

// dataEffect returns the effect on the data of a PersistentVolumeClaim, or of those of a StatefulSet, that is removed,
// and on the values of a Secret that the operator made.
func dataEffect(change Change, sameSpec bool) (Effect, string) {
	old, key := change.Old, kube.KeyOf(change.Old)
	switch {
	case key.Kind == kube.RetainedKind && change.New == nil && kube.RetainedFor(old) != "":
		return Keeps, fmt.Sprintf("%s stays with its data, though nothing uses it", key)
	case key.Kind == kube.RetainedKind && change.New == nil && sameSpec:
		return Keeps, fmt.Sprintf("%s stays with its data until the spec changes", key)
	case key.Kind == kube.RetainedKind && change.New == nil:
		return Loses, fmt.Sprintf("%s is deleted WITH ITS DATA", key)
	case change.New == nil && !generate.Of(old).None() && kube.RetainedFor(old) != "":
		return Keeps, fmt.Sprintf("%s stays with the values that were generated, though nothing uses it", key)
	case change.New == nil && !generate.Of(old).None() && sameSpec:
		return Keeps, fmt.Sprintf("%s stays with the values that were generated until the spec changes", key)
	case change.New == nil && !generate.Of(old).None():
		return Loses, fmt.Sprintf("%s is deleted WITH THE VALUES that were generated", key)
	case kube.TraitsOf(key.GroupKind).Claims == nil || len(claimTemplates(old)) == 0:
		return "", ""
	case change.New == nil && retention(old, "whenDeleted") == "Delete":
		return Loses, fmt.Sprintf("the claims of %s are deleted WITH THEIR DATA", key)
	case change.New == nil:
		return Keeps, fmt.Sprintf("the claims of %s stay with their data, though nothing uses them", key)
	case retention(change.New, "whenScaled") == "Delete":
		before, set := replicas(old)
		after, stillSet := replicas(change.New)
		if set && stillSet && after < before {
			return Loses, fmt.Sprintf("the claims of %d pods of %s are deleted WITH THEIR DATA", before-after, key)
		}
	}
	return "", ""
}

func claimTemplates(object *unstructured.Unstructured) []any {
	templates, _, _ := unstructured.NestedFieldNoCopy(object.Object,
		kube.TraitsOf(object.GroupVersionKind().GroupKind()).Claims...)
	list, _ := templates.([]any)
	return list
}

func retention(object *unstructured.Unstructured, when string) string {
	text, _, _ := unstructured.NestedString(object.Object, "spec", "persistentVolumeClaimRetentionPolicy", when)
	return text
}

// replicas returns the replicas of a workload, and whether they are set: with autoscaling they are not.
func replicas(object *unstructured.Unstructured) (count int64, set bool) {
	count, set, _ = unstructured.NestedInt64(object.Object, "spec", "replicas")
	return count, set
}
