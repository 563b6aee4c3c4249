// Package stage says in which stage of a release an object is written: an annotation of the rendered object decides.
// Those of `main` are written once those of `before` are ready, and those of `after` follow.
package stage

import (
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
)

// Stage is a stage of a release.
type Stage string

// The stages, in their order.
const (
	// Before has what must be ready before anything that runs is changed, such as a migration.
	Before Stage = "before"
	// Early has the needs of the stage `before`: missing objects are created with it, existing ones change in `main`.
	Early Stage = "early"
	// Main has everything that does not say anything else.
	Main Stage = "main"
	// After has Jobs that run once and start when the main stage is ready, such as a smoke test.
	After Stage = "after"
)

// Of returns the stage of an object; Main if its annotation names none.
func Of(object client.Object) Stage {
	switch named := Stage(object.GetAnnotations()[v1.AnnotationStage]); named {
	case Before, Early, After:
		return named
	}
	return Main
}

// Makes returns the objects that one of the stage `before` says that it makes, as KIND/NAME; nil for any other object.
func Makes(object client.Object) (made []string) {
	list, set := object.GetAnnotations()[v1.AnnotationMakes]
	if !set || Of(object) != Before {
		return nil
	}
	for entry := range strings.SplitSeq(list, ",") {
		made = append(made, strings.TrimSpace(entry))
	}
	return made
}

// Check returns an error if the annotations of an object name no stage, or nothing that it could make.
func Check(object client.Object) error {
	annotations := object.GetAnnotations()
	if named, set := annotations[v1.AnnotationStage]; set && CheckName(named) != nil {
		return fmt.Errorf("has the annotation %s: %w", v1.AnnotationStage, CheckName(named))
	}
	if _, set := annotations[v1.AnnotationMakes]; set && Of(object) != Before {
		return fmt.Errorf("has the annotation %s and is not of the stage before", v1.AnnotationMakes)
	}
	for _, entry := range Makes(object) {
		if kind, name, found := strings.Cut(entry, "/"); !found || kind == "" || name == "" {
			return fmt.Errorf("has the annotation %s: %q is no object: write Secret/NAME or ConfigMap/NAME",
				v1.AnnotationMakes, entry)
		}
	}
	return nil
}

// CheckName returns an error unless a value of the annotation names a stage.
func CheckName(named string) error {
	switch Stage(named) {
	case Before, Early, Main, After:
		return nil
	}
	return fmt.Errorf("%q, which is no stage: write before, main or after", named)
}

// hooks are the Helm hooks that a stage takes the place of.
var hooks = map[string]Stage{
	"pre-install": Before, "pre-upgrade": Before, "post-install": After, "post-upgrade": After,
}

// OfHook returns the stage that takes the place of a list of Helm hooks, as in pre-install,pre-upgrade; empty if none
// does.
func OfHook(list string) Stage {
	var found Stage
	for _, hook := range strings.Split(list, ",") {
		of := hooks[strings.TrimSpace(hook)]
		if of == "" || found != "" && of != found {
			return ""
		}
		found = of
	}
	return found
}
