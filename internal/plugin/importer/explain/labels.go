package explain

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/example/appservice-operator/internal/plugin/importer/proof"
	"github.com/example/appservice-operator/internal/plugin/importer/read"
	"github.com/example/appservice-operator/internal/plugin/importer/translate"
)

// gather adds one note for each label, because charts set the same labels on all objects.
func (e *explainer) gather() {
	of, was, is := map[string][]string{}, map[string]string{}, map[string]string{}
	var added []string
	for _, d := range e.labels {
		key := labelOf(d.Field)
		switch {
		case d.Old == nil && theOperators(key):
			added = append(added, key)
		case d.Old == nil:
			e.notes.Add(d.Object(), d.Field, "it gets a label that the pods have, as spec.commonLabels is for all objects", "")
		default:
			of[key] = append(of[key], d.Object())
			was[key], is[key] = proof.Brief(d.Old), proof.Brief(d.New)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(of)) {
		on := ", on " + strings.Join(of[key], ", ") + ": "
		switch {
		case key == "helm.sh/chart" || key == "app.kubernetes.io/managed-by":
			e.notes.Add(read.Describe(e.Object), "metadata.labels."+key, was[key]+" becomes "+is[key]+on+"the operator says its own", "nothing to do")
		case is[key] != none:
			e.notes.Add(read.Describe(e.Object), "metadata.labels."+key, was[key]+" becomes "+is[key]+on+"the operator finds its objects by it",
				"change other selectors that use it")
		case key == translate.VersionLabel || key == "heritage" || key == "chart":
			e.notes.Add(read.Describe(e.Object), "metadata.labels."+key, "it is left out"+on+"it would be wrong with the next version", "nothing to do")
		case e.Kind() == read.JobKind:
			e.notes.Add(read.Describe(e.Object), "metadata.labels."+key, "it is left out"+on+"no field sets labels of the objects of an AppJob", "nothing to do")
		case e.OwnLabels(map[string]string{key: was[key]})[key] == "":
			e.notes.Add(read.Describe(e.Object), "metadata.labels."+key, "it is left out"+on+"no field sets labels of this domain", "take another key")
		default:
			e.notes.Add(read.Describe(e.Object), "metadata.labels."+key, "it is left out"+on+"not all objects have it, and the pods",
				"set it for all of them by spec.commonLabels")
		}
	}
	if slices.Sort(added); len(added) > 0 {
		e.notes.Add(read.Describe(e.Object), "metadata.labels", "the operator adds "+strings.Join(slices.Compact(added), ", ")+" to all objects",
			"nothing to do")
	}
}

// ofClaim is a label of the claims of replicas.
var ofClaim = regexp.MustCompile(`^spec\.volumeClaimTemplates\[[^]]*\]\.metadata\.labels\.`)

// labelOf returns the key of a label from its path.
func labelOf(field string) string {
	_, key, _ := strings.Cut(field, "metadata.labels.")
	return key
}

// theOperators reports whether a label is one of those that the operator sets on all objects.
func theOperators(key string) bool {
	return slices.Contains([]string{"app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/managed-by", "helm.sh/chart"}, key)
}
