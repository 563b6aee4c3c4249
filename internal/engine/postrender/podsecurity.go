package postrender

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/violation"
)

// Level is a level of the Pod Security Standards.
type Level = api.Level

// The levels, the loosest first.
const (
	Privileged = api.LevelPrivileged
	Baseline   = api.LevelBaseline
	Restricted = api.LevelRestricted
)

// Source describes who requires a level.
type Source string

// The sources. If the namespace has no label and the chart requires nothing, the level is Baseline by default.
const (
	ByNamespace Source = "the namespace enforces"
	ByChart     Source = "the chart requires"
	BySpec      Source = "the spec requests"
	ByDefault   Source = "the operator requires by default"
)

// PodSecurityError reports that pods would violate a level of the Pod Security Standards.
type PodSecurityError struct {
	Kind, Name string
	Level      Level
	Source     Source
	// Violations in words, each with the fields.
	Violations []string
}

func (e *PodSecurityError) Error() string {
	return fmt.Sprintf("the pods of %s %q violate the Pod Security Standard %q, which %s: %s", e.Kind, e.Name, e.Level,
		e.Source, strings.Join(e.Violations, "; "))
}

// Reason returns the reason of Ready.
func (e *PodSecurityError) Reason() string { return v1.ReasonPodSecurityViolation }

// Hint returns who may allow it; empty if the pods have to change.
func (e *PodSecurityError) Hint() string {
	if e.Source != ByDefault {
		return ""
	}
	return "change the security context that the message names, or ask the administrator of the namespace for its label " +
		api.EnforceLevelLabel + ": privileged"
}

// evaluator holds the checks of the newest version of the standards, as the API server's admission plugin does.
var evaluator = sync.OnceValues(
	func() (policy.Evaluator, error) { return policy.NewEvaluator(policy.DefaultChecks(), nil) })

// PodSecurity hardens pods if Restricted is required, as far as they leave that open, and refuses pods that violate the
// level that the namespace enforces, that the chart requires, or that the spec requests and then weakens field by
// field.
func PodSecurity(_ context.Context, in *Input, objects []*unstructured.Unstructured) error {
	checks, err := evaluator()
	if err != nil {
		return err
	}
	for _, object := range objects {
		content, foreign := reference.PodTemplate(object), reference.ForeignPodTemplate(object)
		if content == nil && foreign == nil {
			continue
		}
		profile := Level(object.GetAnnotations()[v1.AnnotationPodSecurity])
		if profile != "" && !profile.Valid() {
			return &ObjectError{object, fmt.Errorf("has the annotation %s: %s, which must be privileged, baseline or restricted",
				v1.AnnotationPodSecurity, profile)}
		}
		asked := required(profile, in.PodSecurity, in.Facts.Enforced)
		if content != nil && asked.Level == Restricted {
			restrict(content)
		}
		if content != nil {
			err = meets(checks, object, content, asked)
		}
		if err == nil && foreign != nil {
			err = in.foreignMeets(checks, object, asked)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// foreignMeets returns an error if the pods of an object of a kind that is not built in violate a level, or cannot be
// read. They are not hardened: their controller may have other defaults. Earlier versions did not look at such kinds,
// so what the recorded release has stays allowed.
func (in *Input) foreignMeets(checks policy.Evaluator, object *unstructured.Unstructured, asked demand) error {
	err := asPods(checks, object, asked)
	if err == nil {
		return nil
	}
	for _, recorded := range in.Facts.Recorded {
		if recorded.GroupVersionKind() != object.GroupVersionKind() || recorded.GetName() != object.GetName() {
			continue
		}
		if !worse(err, asPods(checks, recorded, asked)) {
			in.outdated(violation.Violation{Kind: object.GetKind(), Name: object.GetName(), Path: "spec",
				Refusal: violation.Refusal{Why: err.Error()}})
			return nil
		}
	}
	return err
}

// OutdatedPods returns how recorded pods of kinds that are not built in violate the level that applies to them, which
// earlier versions did not check; nil if they do not. Owner is the resource that they were rendered for.
func OutdatedPods(owner *unstructured.Unstructured, asked, enforced Level,
	recorded []*unstructured.Unstructured) (*violation.Error, error) {
	in := &Input{Owner: owner, PodSecurity: asked, Facts: Facts{Enforced: enforced, Recorded: recorded}}
	builtIn := func(object *unstructured.Unstructured) bool { return reference.ForeignPodTemplate(object) == nil }
	err := PodSecurity(context.Background(), in, slices.DeleteFunc(slices.Clone(recorded), builtIn))
	return in.Outdated, err
}

// worse reports whether an error about pods has more than an earlier one.
func worse(now, before error) bool {
	refused, earlier := (*PodSecurityError)(nil), (*PodSecurityError)(nil)
	return !errors.As(now, &refused) || !errors.As(before, &earlier) || slices.ContainsFunc(refused.Violations,
		func(violation string) bool { return !slices.Contains(earlier.Violations, violation) })
}

// asPods returns an error if the pods of an object of a kind that is not built in violate a level, or cannot be read.
func asPods(checks policy.Evaluator, object *unstructured.Unstructured, asked demand) error {
	template := reference.ForeignPodTemplate(object)
	var pod corev1.PodTemplateSpec
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(template, &pod); err != nil {
		return &PodSecurityError{Kind: object.GetKind(), Name: object.GetName(), Level: asked.Level, Source: asked.Source,
			Violations: []string{fmt.Sprintf("the pod template cannot be read as that of pods: %v", err)}}
	}
	return meets(checks, object, template, asked)
}

// demand is a level and who requires it.
type demand struct {
	Level
	Source
}

// meets returns an error if the pods of an object violate a level.
func meets(checks policy.Evaluator, object *unstructured.Unstructured, content map[string]any, asked demand) error {
	if asked.Level == Privileged {
		return nil
	}
	var template corev1.PodTemplateSpec
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &template); err != nil {
		return notValid(object, err)
	}
	refused := &PodSecurityError{Kind: object.GetKind(), Name: object.GetName(), Level: asked.Level, Source: asked.Source}
	for _, result := range checks.EvaluatePod(api.LevelVersion{Level: asked.Level, Version: api.LatestVersion()},
		&template.ObjectMeta, &template.Spec) {
		if !result.Allowed {
			refused.Violations = append(refused.Violations,
				fmt.Sprintf("%s (%s)", result.ForbiddenReason, result.ForbiddenDetail))
		}
	}
	if len(refused.Violations) == 0 {
		return nil
	}
	return refused
}

// required returns the strictest of the levels that the namespace enforces, the chart requires and the spec requests.
// The label of a namespace is the decision of its administrator, even Privileged; if nothing decides, it is Baseline.
func required(profile, asked, enforced Level) demand {
	strictest := demand{}
	for _, one := range []demand{{enforced, ByNamespace}, {asked, ByChart}, {profile, BySpec}} {
		if one.Level != "" && (strictest.Level == "" || api.CompareLevels(one.Level, strictest.Level) > 0) {
			strictest = one
		}
	}
	if strictest.Level == "" {
		return demand{Baseline, ByDefault}
	}
	return strictest
}

// restrict sets what the level Restricted requires, unless a pod template sets it already.
func restrict(template map[string]any) {
	pod, _, _ := unstructured.NestedFieldNoCopy(template, "spec")
	spec, ok := pod.(map[string]any)
	if !ok {
		return
	}
	context := within(spec, "securityContext")
	unlessSet(context, "runAsNonRoot", true)
	unlessSet(within(context, "seccompProfile"), "type", string(corev1.SeccompProfileTypeRuntimeDefault))
	eachContainer(template, func(container map[string]any) {
		context := within(container, "securityContext")
		unlessSet(context, "allowPrivilegeEscalation", false)
		within(context, "capabilities")["drop"] = []any{"ALL"}
	})
}

// within returns the map of a field, and creates it if there is none.
func within(content map[string]any, field string) map[string]any {
	inner, ok := content[field].(map[string]any)
	if !ok {
		inner = map[string]any{}
		content[field] = inner
	}
	return inner
}

func unlessSet(content map[string]any, field string, value any) {
	if _, set := content[field]; !set {
		content[field] = value
	}
}
