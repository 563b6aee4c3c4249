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

// PodSecurityError says that pods would be below a level of the Pod Security Standards.
type PodSecurityError struct {
	Kind, Name string
	Level      Level
	// Enforced says that the namespace asks for the level, rather than the operator.
	Enforced bool
	// Violations in words, each with the fields.
	Violations []string
}

func (e *PodSecurityError) Error() string {
	who := "the operator requires"
	if e.Enforced {
		who = "the namespace enforces"
	}
	return fmt.Sprintf("the pods of %s %q are below the Pod Security Standard %q, which %s: %s", e.Kind, e.Name, e.Level, who, strings.Join(e.Violations, "; "))
}

// Reason is that of Ready.
func (e *PodSecurityError) Reason() string { return v1.ReasonPodSecurityViolation }

// evaluator holds the checks of the newest version of the standards, as the API server's admission plugin does.
var evaluator = sync.OnceValues(func() (policy.Evaluator, error) { return policy.NewEvaluator(policy.DefaultChecks(), nil) })

// PodSecurity locks pods in as the namespace enforces it, where they leave that open, and refuses pods that are below what
// it enforces or below the least level of the operator.
func PodSecurity(_ context.Context, in *Input, objects []*unstructured.Unstructured) error {
	level := stricter(in.PodSecurity, in.Facts.Enforced)
	if level == "" || level == Privileged {
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
		refused := &PodSecurityError{Kind: object.GetKind(), Name: object.GetName(), Level: level, Enforced: in.Facts.Enforced == level}
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

func stricter(a, b Level) Level {
	if a == "" || b != "" && api.CompareLevels(a, b) < 0 {
		return b
	}
	return a
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
