package render

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/template"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/postrender"
)

// If a published chart does not render, the spec is at fault as soon as it renders without one of its fields.

// executionError says that a template failed.
type executionError struct {
	// err is what the engine said, which may quote values of the spec.
	err error
	// fault attributes it to the chart, or to the spec where the chart refuses it in its own words.
	fault error
}

func (e *executionError) Error() string { return e.fault.Error() }
func (e *executionError) Unwrap() error { return e.fault }

// mostBlamed is how many fields are left out of a spec, one by one, to find the one that a template fails for.
const mostBlamed = 7

// attribute attributes the failure of a template to the field of the spec without which it would not fail; to the chart
// if there is none. Values of the spec are not among what it says.
func (r *Renderer) attribute(ctx context.Context, of run, err error) error {
	failed, found := errors.AsType[*executionError](err)
	if !found {
		return r.attributeDocument(ctx, of, err)
	}
	if untrusted, found := errors.AsType[*ActionError](failed.err); found {
		if field := fieldWith(of.vals, untrusted.Action); field != "" {
			return &InvalidSpecError{notTrusted(field, untrusted.Action, r.Platform.Kind)}
		}
		fault, _ := errors.AsType[*ChartError](failed.fault)
		if fault == nil {
			return failed.fault
		}
		fault.Err = fmt.Errorf("tpl would execute a text that the templates put together, and that is not in the chart: ask the platform "+
			"team for templatesInSpec: true of %s in watches.yaml", r.Platform.Kind.Kind)
		return r.culprit(ctx, of, fault, "")
	}
	fault, isChart := errors.AsType[*ChartError](failed.fault)
	if !isChart || fault.Rule == appchart.RuleBounds {
		return failed.fault
	}
	expression := ""
	if executed, found := errors.AsType[template.ExecError](failed.err); found {
		if match := place.FindStringSubmatch(innermost(executed).Error()); match != nil {
			expression = match[4]
		}
	}
	fault.Err = errors.New(withoutValues(fault.Err.Error()))
	return r.culprit(ctx, of, fault, expression)
}

// attributeDocument is attribute for a template whose output is no object.
func (r *Renderer) attributeDocument(ctx context.Context, of run, err error) error {
	fault, isChart := errors.AsType[*ChartError](err)
	if _, is := errors.AsType[*documentError](err); !isChart || !is {
		return err
	}
	return r.culprit(ctx, of, fault, "")
}

// culprit returns the error for the field of the spec without which a template does not fail; the fault itself if there
// is none.
func (r *Renderer) culprit(ctx context.Context, of run, fault *ChartError, expression string) error {
	field := guilty(of.vals, expression, func(vals map[string]any) bool {
		if ctx.Err() != nil || of.trials.empty() {
			return false
		}
		fewer := of
		fewer.vals = vals
		_, err := r.renderSeeded(ctx, fewer, first, "")
		return err == nil
	})
	return ofField(fault, field)
}

// guilty returns the field of a spec without which it works, as the API spells it; all of the spec if it works only
// without any, and an empty text if it works without none.
func guilty(spec map[string]any, expression string, works func(map[string]any) bool) string {
	bySpec := works(map[string]any{})
	if !bySpec && expression == "" {
		return ""
	}
	for _, path := range suspects(spec, expression) {
		if works(removed(spec, path)) {
			return fieldOf(spec, path)
		}
	}
	if bySpec {
		return "the spec"
	}
	return ""
}

// ofField returns the error for a field of the spec that does not fit the chart; the fault itself if it is no field's.
func ofField(fault *ChartError, field string) error {
	if field == "" {
		return fault
	}
	return &SpecError{Message: field + " does not fit the chart: " + fault.Err.Error(), At: fault.At, Column: fault.Column,
		Chart: fault.Chart}
}

// cheap is the least of a budget that is left by a rendering that may be repeated for each field.
const cheap = 0.9

// attributeObject attributes an object that its kind does not allow to the field of the spec without which it would be
// allowed.
func (r *Renderer) attributeObject(ctx context.Context, draft *Draft, facts postrender.Facts, err error) error {
	fault, isChart := errors.AsType[*ChartError](err)
	spec, _ := draft.of.Resource.Object["spec"].(map[string]any)
	if !isChart || len(spec) == 0 || draft.trials.left < cheap {
		return err
	}
	fits := func(spec map[string]any) bool {
		in, resource := draft.of, *draft.of.Resource
		resource.Object = maps.Clone(resource.Object)
		resource.Object["spec"] = spec
		in.Resource = &resource
		again, err := r.draft(ctx, in, draft.layers)
		if err == nil {
			_, err = r.finish(ctx, again, facts)
		}
		return err == nil
	}
	if field := guilty(spec, "", fits); field != "" {
		return ofField(fault, field)
	}
	return err
}

// valuePath matches the fields of values that an expression names.
var valuePath = regexp.MustCompile(`\.Values((?:\.\w+)+)`)

// suspects lists the fields of a spec that an expression may have failed for: the one that it names and those above it,
// else all fields at the top.
func suspects(spec map[string]any, expression string) (list [][]string) {
	if match := valuePath.FindStringSubmatch(expression); match != nil {
		path := strings.Split(match[1][1:], ".")
		for ; len(path) > 0; path = path[:len(path)-1] {
			if says(spec, path) {
				list = append(list, path)
			}
		}
	}
	if len(list) == 0 {
		for _, name := range slices.Sorted(maps.Keys(spec)) {
			list = append(list, []string{name})
		}
	}
	return list[:min(len(list), mostBlamed)]
}

// removed returns a copy of a map without the value at a path.
func removed(in map[string]any, path []string) map[string]any {
	out := maps.Clone(in)
	if len(path) == 1 {
		delete(out, path[0])
	} else if below, isMap := out[path[0]].(map[string]any); isMap {
		out[path[0]] = removed(below, path[1:])
	}
	return out
}

// harmless matches messages of text/template about an expression that quote no value.
var harmless = regexp.MustCompile(`^(?:in \S+ line \d+: )?(?:<[^>]*>: )?(?:` +
	`can't evaluate field \w+ in type \S+( \{\})?|nil pointer evaluating \S+( \{\})?(\.\w+)*` +
	`|wrong type for value; expected \S+( \{\})?; got \S+( \{\})?|wrong number of args for \w+: want .*` +
	`|error calling \w+|range can't iterate over|map has no entry for key|no template "[^"]*"|template: no template "[^"]*"` +
	`|"\w+" is not a defined function|invalid value; expected \S+)`)

// expressionAt matches the place and the expression of a message.
var expressionAt = regexp.MustCompile(`^(?:in \S+ line \d+: )?(?:<[^>]*>)?`)

// withoutValues returns the message of a template that failed, without any value in it.
func withoutValues(message string) string {
	if said := harmless.FindString(message); said != "" {
		return said
	}
	if begin := expressionAt.FindString(message); begin != "" {
		return strings.TrimSpace(begin) + " cannot be evaluated"
	}
	return "an expression cannot be evaluated"
}
