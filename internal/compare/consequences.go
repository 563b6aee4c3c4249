package compare

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/hosts"
	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/release"
)

// Effect is what a consequence does, the worst first.
type Effect int

// The effects.
const (
	// Refused: the API server would not take it. Nothing of it is written, and what runs stays as it is.
	Refused Effect = iota
	// Loses: data goes.
	Loses
	// Restarts: pods that run are replaced.
	Restarts
	// Stops: what others can reach is no longer there.
	Stops
	// Keeps: something stays although nothing renders it any more.
	Keeps
)

// names are the effects in JSON.
var names = map[Effect]string{Refused: "refused", Loses: "losesData", Restarts: "restartsPods", Stops: "goesAway", Keeps: "stays"}

// String is the name of the effect, as JSON has it.
func (e Effect) String() string { return names[e] }

// Consequence is something that people have to know of a change, in words.
type Consequence struct {
	Effect Effect
	Text   string
}

// Consequences are what comes of the changes between two renderings, the worst first.
func Consequences(old, rendered []*unstructured.Unstructured, changes []Change) []Consequence {
	var list []Consequence
	add := func(effect Effect, text string, args ...any) {
		list = append(list, Consequence{effect, fmt.Sprintf(text, args...)})
	}
	for _, change := range changes {
		if change.Old == nil {
			continue
		}
		key := kube.KeyOf(change.Old)
		if change.New != nil {
			if refused := release.Immutable(change.Old, change.New); refused != nil {
				add(Refused, "refused: %v", refused)
			}
		}
		if release.RestartsPods([]*unstructured.Unstructured{change.Old}, change.after()) {
			add(Restarts, "%s", restarts(change))
		}
		for _, port := range portsThatGo(change) {
			add(Stops, "%s: port %s goes away", key, port)
		}
		effect, text := fate(change)
		if text != "" {
			add(effect, "%s", text)
		}
	}
	for _, host := range hostsThatGo(old, rendered) {
		add(Stops, "host %s goes away", host)
	}
	slices.SortStableFunc(list, func(a, b Consequence) int { return int(a.Effect) - int(b.Effect) })
	return list
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
		return fmt.Sprintf("%s goes, with its pods", key)
	}
	text := fmt.Sprintf("pods of %s WILL restart", key)
	if strategy, _, _ := unstructured.NestedString(change.New.Object, "spec", "strategy", "type"); strategy == "Recreate" {
		text += ", all at once: nothing serves meanwhile"
	}
	return text
}

// portsThatGo lists the ports of a Service, as clients know them, that are no longer there.
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

// hostsThatGo lists the hosts that nothing of a resource claims any more.
func hostsThatGo(before, after []*unstructured.Unstructured) []string {
	claimed := func(objects []*unstructured.Unstructured) []string {
		var list []string
		for _, object := range objects {
			for _, claim := range hosts.ClaimsOf(object) {
				if claim.Host != "" && !slices.Contains(list, claim.Host) {
					list = append(list, claim.Host)
				}
			}
		}
		return list
	}
	stay := claimed(after)
	return slices.DeleteFunc(claimed(before), func(host string) bool { return slices.Contains(stay, host) })
}

// fate says what becomes of the data of a claim, or of the claims of a StatefulSet, that go.
func fate(change Change) (Effect, string) {
	old, key := change.Old, kube.KeyOf(change.Old)
	switch {
	case key.Kind == kube.RetainedKind && change.New == nil && kube.RetainedFor(old) != "":
		return Keeps, fmt.Sprintf("%s stays with its data, though nothing uses it", key)
	case key.Kind == kube.RetainedKind && change.New == nil:
		return Loses, fmt.Sprintf("%s is deleted WITH ITS DATA", key)
	case kube.TraitsOf(key.GroupKind).Claims == nil || len(claimTemplates(old)) == 0:
		return 0, ""
	case change.New == nil && policy(old, "whenDeleted") == "Delete":
		return Loses, fmt.Sprintf("the claims of %s are deleted WITH THEIR DATA", key)
	case change.New == nil:
		return Keeps, fmt.Sprintf("the claims of %s stay with their data, though nothing uses them", key)
	case policy(change.New, "whenScaled") == "Delete":
		before, said := replicas(old)
		after, saysToo := replicas(change.New)
		if said && saysToo && after < before {
			return Loses, fmt.Sprintf("the claims of %d pods of %s are deleted WITH THEIR DATA", before-after, key)
		}
	}
	return 0, ""
}

func claimTemplates(object *unstructured.Unstructured) []any {
	templates, _, _ := unstructured.NestedFieldNoCopy(object.Object, kube.TraitsOf(object.GroupVersionKind().GroupKind()).Claims...)
	list, _ := templates.([]any)
	return list
}

func policy(object *unstructured.Unstructured, when string) string {
	text, _, _ := unstructured.NestedString(object.Object, "spec", "persistentVolumeClaimRetentionPolicy", when)
	return text
}

// replicas of a workload, and whether it says how many: one that is autoscaled does not.
func replicas(object *unstructured.Unstructured) (count int64, said bool) {
	count, said, _ = unstructured.NestedInt64(object.Object, "spec", "replicas")
	return count, said
}
