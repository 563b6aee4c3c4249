package crd

import (
	"maps"
	"slices"
	"strings"

	"github.com/example/appservice-operator/internal/engine/chart/fields"
)

// DidYouMean returns a question with the known field that is most similar to an unknown one, as in ": did you mean
// image?"; empty if none is.
func (d *Definition) DidYouMean(unknown string) string {
	at := d.structural
	steps := strings.Split(unknown, ".")
	for _, step := range steps[:len(steps)-1] {
		name, _, indexed := strings.Cut(step, "[")
		property, known := at.Properties[name]
		switch {
		case known:
			at = &property
		case at.AdditionalProperties != nil && at.AdditionalProperties.Structural != nil:
			at = at.AdditionalProperties.Structural
		default:
			return ""
		}
		if indexed && at.Items != nil {
			at = at.Items
		}
	}
	return fields.DidYouMean(steps[len(steps)-1], slices.Sorted(maps.Keys(at.Properties)))
}
