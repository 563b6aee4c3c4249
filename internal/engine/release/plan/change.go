package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/postrender"
)

// Change is a rendered object, the identity of the live one, and the difference.
type Change struct {
	Desired *unstructured.Unstructured
	Live    client.Object
	// Field is the path of the first difference, for example spec.replicas; empty if a field is no longer rendered.
	Field string
	// Old and New are the values of that field; empty if they must not be printed.
	Old, New string
	// More is how many more fields differ.
	More int
	// Added says that others added to the part that belongs to the operator alone, which an apply alone would leave.
	Added bool
	// Fills says that the operator makes values of a Secret.
	Fills bool

	rolling rolling
	// onlyOrder says that it is rendered as it was, and differs only in the order of lists.
	onlyOrder bool
}

// rolling reports whether a change of an object restarts the existing pods.
type rolling int

const (
	stays   rolling = iota // they continue to run
	mayRoll                // unknown: only the metadata of large objects is
	rolls                  // they restart
)

// scalesFromZero reports whether a change gives replicas to a workload that has none.
func (c Change) scalesFromZero() bool {
	have, _ := kube.Content(c.Live)
	now, set, _ := unstructured.NestedInt64(have, "spec", "replicas")
	then, _, _ := unstructured.NestedInt64(c.Desired.Object, "spec", "replicas")
	return TemplateOfRunning(c.Desired) != nil && set && now == 0 && then > 0
}

// rollingOf compares the pod template of an object with the live one. Pods of a CronJob end by themselves.
func rollingOf(desired *unstructured.Unstructured, have map[string]any, full bool) rolling {
	template := TemplateOfRunning(desired)
	wanted, has, _ := unstructured.NestedFieldNoCopy(desired.Object, template...)
	if template == nil || !has {
		return stays
	}
	if !full {
		return mayRoll
	}
	live, _, _ := unstructured.NestedFieldNoCopy(have, template...)
	path := "." + strings.Join(template, ".")
	found := &lacks{exclusive: path, ordered: true} // a line that is taken away restarts them, too, and another order
	if found.compare(path, wanted, live); found.first == nil {
		return stays
	}
	return rolls
}

// String returns the object and what differs, for example "Deployment web: spec.replicas 1 → 2 (and 1 more; restarts
// pods)".
func (c Change) String() string {
	text := kube.KeyOf(c.Desired).String()
	switch {
	case c.Old != "" || c.New != "":
		text += fmt.Sprintf(": %s %s → %s", c.Field, c.Old, c.New)
	case c.Field != "":
		text += ": " + c.Field
	}
	var notes []string
	if c.More > 0 {
		notes = append(notes, fmt.Sprintf("and %d more", c.More))
	}
	if c.rolling == rolls {
		notes = append(notes, "restarts pods")
	}
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, "; ") + ")"
	}
	return text
}

func (c Change) onlyRestarts() bool {
	have, full := kube.Content(c.Live)
	if !full {
		return false
	}
	want := c.Desired.DeepCopy()
	for _, name := range []string{v1.AnnotationRestartedAt, postrender.AnnotationReferences,
		v1.AnnotationGeneratedVersion} {
		for _, template := range [][]string{{"spec", "template"}, {"spec", "jobTemplate", "spec", "template"}} {
			path := append(slices.Clone(template), "metadata", "annotations", name)
			if value, found, _ := unstructured.NestedString(have, path...); found {
				_ = unstructured.SetNestedField(want.Object, value, path...)
			} else {
				unstructured.RemoveNestedField(want.Object, path...)
			}
		}
	}
	want.Object["metadata"] = unstamped(want.Object["metadata"])
	found := &lacks{exclusive: exclusiveOf(c.Desired)} // what is no longer rendered counts, too
	found.compare("", want.Object, have)
	return found.first == nil
}

// CompareObject returns the change that leads from a live object to a rendered one; nil if nothing differs.
func CompareObject(desired *unstructured.Unstructured, live client.Object) *Change {
	want := desired.Object
	have, full := kube.Content(live)
	if !full { // an outline is of a version that was verified, unless the stamp differs
		want = nil
	}
	renderedAgain := StampOf(live) != StampOf(desired)
	found := &lacks{exclusive: exclusiveOf(desired)}
	if renderedAgain && want != nil { // differences of metadata come last, and the stamp means nothing to people
		found.compare("", withoutMetadata(want), have)
		found.compare(".metadata", unstamped(want["metadata"]), have["metadata"])
	} else {
		found.compare("", want, have)
	}
	first, missing := found.first, Unfilled(desired, live)
	if first == nil && !renderedAgain && !UnsettledReplicas(desired, live) && missing == "" {
		return nil
	}
	change := &Change{Desired: desired, Live: live, rolling: rollingOf(desired, have, full), Added: found.added,
		Fills: missing != "", onlyOrder: !renderedAgain && first != nil && found.orders == found.fields}
	if first == nil {
		change.Field = missing
		return change
	}
	change.Field, change.More = strings.TrimPrefix(first.path, "."), found.more()
	change.Old, change.New = redacted(desired, change.Field, first.old, first.want)
	return change
}

// exclusiveOf returns the path of the part that belongs to the operator alone, as the comparison writes it; empty if
// there is none.
func exclusiveOf(object *unstructured.Unstructured) string {
	if exclusive := kube.TraitsOf(object.GroupVersionKind().GroupKind()).Exclusive; exclusive != nil {
		return "." + strings.Join(exclusive, ".")
	}
	return ""
}

func withoutMetadata(content map[string]any) map[string]any {
	rest := maps.Clone(content)
	delete(rest, "metadata")
	return rest
}

// unstamped returns metadata without the stamp.
func unstamped(metadata any) map[string]any {
	content, _ := metadata.(map[string]any)
	rest := maps.Clone(content)
	if annotations, ok := rest["annotations"].(map[string]any); ok {
		annotations = maps.Clone(annotations)
		delete(annotations, postrender.AnnotationStamp)
		rest["annotations"] = annotations
	}
	return rest
}
