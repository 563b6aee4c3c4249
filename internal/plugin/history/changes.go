package history

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// compare sets the changes of a release against the one before; none unless both can be read. Differences of the spec
// count; if there are none, the release has another cause, and the changes of objects are listed.
func (r *Revision) compare(before *Revision) {
	if r.recorded == nil || before.recorded == nil {
		return
	}
	r.Restarts = plan.RestartsPods(before.recorded.Objects, r.recorded.Objects)
	// of the same generation, so the spec is the same: something else made the release
	if r.Failed == "" && r.Generation != 0 && r.Generation == before.Generation {
		r.ChangedBy, r.ChangedAt = byPlatform, r.Released
		if r.Chart != before.Chart {
			r.ChangedBy = byChart
		}
	}
	r.Changes = fieldsOf("spec", before.Spec, r.Spec)
	if r.Spec == nil || before.Spec == nil { // created by an operator that recorded no spec
		r.Changes = fieldsOf("values", before.recorded.Config, r.recorded.Config)
	}
	if by := oneOf(r.ChangedBy, r.Changes); by != r.ChangedBy {
		if r.ChangedBy = by; strings.Contains(by, ", through ") {
			r.ChangedAt = time.Time{} // a scale leaves none
		}
	}
	if r.Chart != before.Chart {
		r.Changes = append(r.Changes, fmt.Sprintf("chart %s → %s", before.Chart, r.Chart))
	}
	if len(r.Changes) == 0 {
		r.Changes = ObjectChanges(before, r)
	}
}

// oneOf returns who made changes of a spec, of two between which its managed fields do not decide: the last one that
// wrote it, and one that wrote its size through the scale subresource at a time that is not known.
func oneOf(changedBy string, changes []string) string {
	writer, scaler, two := strings.Cut(changedBy, "; ")
	sizes := 0
	for _, change := range changes {
		if strings.HasPrefix(change, "spec.size ") || strings.HasPrefix(change, "spec.replicas ") {
			sizes++
		}
	}
	switch {
	case !two || sizes > 0 && sizes < len(changes):
		return changedBy
	case sizes > 0:
		return scaler
	}
	return writer
}

// fieldsOf lists the fields in which two specs differ, or two sets of values.
func fieldsOf(name string, old, now map[string]any) []string {
	if old == nil || now == nil {
		return nil
	}
	content := func(fields map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{name: fields}}
	}
	var list []string
	for _, difference := range plan.Differences(content(old), content(now)) {
		list = append(list, difference.Redacted().String())
	}
	return list
}

// ObjectChanges lists the changes of objects between two releases, as far as both can be read.
func ObjectChanges(before, after *Revision) []string {
	if before.recorded == nil || after.recorded == nil {
		return nil
	}
	var list []string
	old, now := before.recorded.Objects, after.recorded.Objects
	earlier, later := kube.ByKey(old), kube.ByKey(now)
	for _, object := range old {
		if later[kube.KeyOf(object)] == nil {
			list = append(list, fmt.Sprintf("%s is no longer there", kube.KeyOf(object)))
		}
	}
	for _, object := range now {
		was := earlier[kube.KeyOf(object)]
		if was == nil {
			list = append(list, fmt.Sprintf("%s is new", kube.KeyOf(object)))
			continue
		}
		for _, difference := range plan.Differences(was, object) {
			list = append(list, fmt.Sprintf("%s: %s", kube.KeyOf(object), difference.Redacted()))
		}
	}
	return list
}
