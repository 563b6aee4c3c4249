package postrender

import (
	"context"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/dependency"
)

// Level is a level of the Pod Security Standards.
type Level = api.Level

// The levels, the loosest first.
const (
	Privileged = api.LevelPrivileged
	Baseline   = api.LevelBaseline
	Restricted = api.LevelRestricted
)

// Source is who asks for a level, in words.
type Source string

// The sources. Where the namespace is not labelled and the chart asks for nothing, the level is Baseline by default.
const (
	ByNamespace Source = "the namespace enforces"
	ByChart     Source = "the chart requires"
	ByDefault   Source = "the operator requires by default"
)

// PodSecurityError says that pods would be below a level of the Pod Security Standards.
type PodSecurityError struct {
	Kind, Name string
	Level      Level
	Source     Source
	// Violations in words, each with the fields.
	Violations []string
}

func (e *PodSecurityError) Error() string {
	return fmt.Sprintf("the pods of %s %q are below the Pod Security Standard %q, which %s: %s", e.Kind, e.Name, e.Level, e.Source, strings.Join(e.Violations, "; "))
}

// Reason is that of Ready.
func (e *PodSecurityError) Reason() string { return v1.ReasonPodSecurityViolation }

// Hint says who may allow it; empty if the pods have to change.
func (e *PodSecurityError) Hint() string {
	if e.Source != ByDefault {
		return ""
	}
	return "change the security context that the message names, or ask the administrator of the namespace for its label " + api.EnforceLevelLabel + ": privileged"
}

// evaluator holds the checks of the newest version of the standards, as the API server's admission plugin does.
var evaluator = sync.OnceValues(func() (policy.Evaluator, error) { return policy.NewEvaluator(policy.DefaultChecks(), nil) })

// PodSecurity locks pods in as the namespace enforces it, where they leave that open, and refuses pods that are below what
// it enforces or below what the chart asks for.
func PodSecurity(_ context.Context, in *Input, objects []*unstructured.Unstructured) error {
	level, source := required(in.PodSecurity, in.Facts.Enforced)
	if level == Privileged {
		return nil
	}
	checks, err := evaluator()
	if err != nil {
		return err
	}
	for _, object := range objects {
		content := dependency.PodTemplate(object)
		if content == nil {
			continue
		}
		if level == Restricted {
			restrict(content)
		}
		var template corev1.PodTemplateSpec
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &template); err != nil {
			return notValid(object, err)
		}
		results := checks.EvaluatePod(api.LevelVersion{Level: level, Version: api.LatestVersion()}, &template.ObjectMeta, &template.Spec)
		refused := &PodSecurityError{Kind: object.GetKind(), Name: object.GetName(), Level: level, Source: source}
		for _, result := range results {
			if !result.Allowed {
				refused.Violations = append(refused.Violations, fmt.Sprintf("%s (%s)", result.ForbiddenReason, result.ForbiddenDetail))
			}
		}
		if len(refused.Violations) > 0 {
			return refused
		}
	}
	return nil
}

// required is the stricter of what the chart asks for and what the namespace enforces. The label of a namespace is the decision of its
// administrator, Privileged too; where nobody decides, it is Baseline.
func required(asked, enforced Level) (Level, Source) {
	switch {
	case asked == "" && enforced == "":
		return Baseline, ByDefault
	case asked == "" || enforced != "" && api.CompareLevels(asked, enforced) <= 0:
		return enforced, ByNamespace
	}
	return asked, ByChart
}

// restrict sets what the level Restricted asks for, where a pod template does not say otherwise.
func restrict(template map[string]any) {
	pod, _, _ := unstructured.NestedFieldNoCopy(template, "spec")
	spec, ok := pod.(map[string]any)
	if !ok {
		return
	}
	context := within(spec, "securityContext")
	unlessSet(context, "runAsNonRoot", true)
	unlessSet(within(context, "seccompProfile"), "type", string(corev1.SeccompProfileTypeRuntimeDefault))
	for _, list := range []string{"initContainers", "containers"} {
		containers, _ := spec[list].([]any)
		for _, item := range containers {
			container, ok := item.(map[string]any)
			if !ok {
				continue
			}
			context := within(container, "securityContext")
			unlessSet(context, "allowPrivilegeEscalation", false)
			within(context, "capabilities")["drop"] = []any{"ALL"}
		}
	}
}

// within gives the map of a field, which it makes where there is none.
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
