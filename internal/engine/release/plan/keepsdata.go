package plan

import (
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/generate"
)

// HoldsData reports whether an object has what cannot be made again: values that were generated, or a volume.
func HoldsData(object client.Object) bool {
	return kube.KeyOf(object).Kind == kube.RetainedKind || !generate.Of(object).None()
}

// KeepData leaves out of a plan the deletion of objects that hold data: of all, or of those of some keys.
func (p *Plan) KeepData(of ...kube.Key) {
	p.Delete = slices.DeleteFunc(p.Delete, func(o client.Object) bool {
		return HoldsData(o) && (len(of) == 0 || slices.Contains(of, kube.KeyOf(o)))
	})
}

// DeletesData reports whether a plan deletes objects that hold data.
func (p *Plan) DeletesData() bool { return slices.ContainsFunc(p.Delete, HoldsData) }

// KeptData returns the objects that are kept because they hold data, although no release has them: their keys, sorted.
func KeptData(existing map[kube.Key]client.Object, rendered ...kube.Key) (kept []kube.Key) {
	for _, key := range slices.SortedFunc(maps.Keys(existing), kube.Key.Compare) {
		live := existing[key]
		if HoldsData(live) && live.GetDeletionTimestamp() == nil && kube.RetainedFor(live) == "" &&
			!slices.Contains(rendered, key) {
			kept = append(kept, key)
		}
	}
	return kept
}
