package render

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/render/defaults"
)

// What a published chart may not do is refused when its output shows it, not when a template could do it.

// published is the output of a published chart.
type published struct {
	manifests   []manifest
	definitions []string // the names of CustomResourceDefinitions that the cluster does not have
	warnings    []v1.Problem
	calls       []call
}

// executePublished renders a published chart.
func (r *Renderer) executePublished(ctx context.Context, of run) (*published, error) {
	out, err := r.renderSeeded(ctx, of, first)
	if err != nil {
		return nil, r.attribute(of, r.adviseOnHook(ctx, of, err))
	}
	unstable, err := r.unstable(ctx, of, out)
	if err != nil {
		return nil, r.attribute(of, err)
	}
	if unstable != nil {
		unstable.Advice = r.adviseOnRandom(ctx, of, unstable)
		return nil, &InvalidSpecError{unstable}
	}
	if err := r.elsewhere(ctx, of, out); err != nil {
		return nil, err
	}
	runOnce(out.manifests)
	return out, nil
}

// renderSeeded renders a published chart with a seed for its fresh functions.
func (r *Renderer) renderSeeded(ctx context.Context, of run, with seed) (*published, error) {
	enabled, input, err := r.input(of)
	if err != nil {
		return nil, err
	}
	rendered, err := r.engine().render(enabled, input, with)
	if err != nil {
		if action, found := errors.AsType[*ActionError](err); found {
			return nil, &untrustedError{action.Action, templateFault(err)}
		}
		return nil, templateFault(err)
	}
	out := &published{calls: rendered.calls}
	if out.manifests, out.warnings, err = documentsOf(rendered.files); err != nil {
		return nil, err
	}
	if out.manifests, err = withoutHooks(ctx, of.resource, out.manifests); err != nil {
		return nil, err
	}
	out.manifests, out.definitions = withoutDefinitions(out.manifests, of.capabilities)
	for _, lookup := range rendered.lookups {
		warning := v1.Problem{Source: r.inChart(lookup.site), Reason: v1.ReasonLookupEmpty,
			Message: fmt.Sprintf("%s finds nothing: templates cannot read the cluster", lookup.function)}
		if !slices.Contains(out.warnings, warning) {
			out.warnings = append(out.warnings, warning)
		}
	}
	return out, nil
}

// inChart returns a place without the name of the chart and the column: templates/a.yaml:3.
func (r *Renderer) inChart(site string) string {
	site = within(r.Chart, site)
	if at := strings.LastIndexByte(site, ':'); strings.Count(site, ":") > 1 {
		site = site[:at]
	}
	return site
}

// untrustedError says that tpl was given an action that is not the chart's.
type untrustedError struct {
	action string
	err    error // where
}

func (e *untrustedError) Error() string { return e.err.Error() }
func (e *untrustedError) Unwrap() error { return e.err }

// attribute attributes an action to the field of the spec that has it; to the chart if none has.
func (r *Renderer) attribute(of run, err error) error {
	untrusted, found := errors.AsType[*untrustedError](err)
	if !found {
		return err
	}
	if field := fieldWith(of.vals, untrusted.action); field != "" {
		return &InvalidSpecError{notTrusted(field, untrusted.action, r.Platform.Kind)}
	}
	return untrusted.err
}

// UnstableError says that a part of an object differs in each render.
type UnstableError struct {
	Key kube.Key
	// Field of the object.
	Field string
	// Function whose result it is, and where that is called.
	Function, Site string
	// Advice says which value avoids it; empty if none is known.
	Advice string
}

func (e *UnstableError) Error() string {
	return fmt.Sprintf("%s of %s differs in each render: it is made by %s (%s): %s", e.Field, e.Key, e.Function, e.Site,
		cmp.Or(e.Advice, "no single value avoids it"))
}

// unstable renders again if a fresh function was called, with the other seed, and returns the first difference; nil if
// there is none.
func (r *Renderer) unstable(ctx context.Context, of run, out *published) (*UnstableError, error) {
	if len(out.calls) == 0 {
		return nil, nil
	}
	again, err := r.renderSeeded(ctx, of, second)
	if err != nil {
		return nil, err
	}
	found := differences(out.manifests, again.manifests)
	if len(found) == 0 {
		return nil, nil
	}
	unstable := &UnstableError{Key: found[0].key, Field: found[0].field}
	by := call{function: out.calls[0].function, site: out.calls[0].site}
	for _, difference := range found {
		for _, call := range out.calls {
			if len(call.made) > len(by.made) && difference.shows(call.made) {
				unstable.Key, unstable.Field, by = difference.key, difference.field, call
			}
		}
		if by.made != "" {
			break
		}
	}
	unstable.Function, unstable.Site = by.function, r.inChart(by.site)
	return unstable, nil
}

// difference is a field that differs between two renderings.
type difference struct {
	key   kube.Key
	field string
	value any // of the first one
}

// shows reports whether the value has a text in it, also in base64.
func (d difference) shows(text string) bool {
	value := fmt.Sprint(d.value)
	if text == "" || strings.Contains(value, text) {
		return text != ""
	}
	decoded, err := base64.StdEncoding.DecodeString(value)
	return err == nil && strings.Contains(string(decoded), text)
}

// differences lists the fields in which two renderings differ.
func differences(one, other []manifest) (list []difference) {
	for i, manifest := range one {
		key := kube.KeyOf(manifest.object)
		if i >= len(other) || kube.KeyOf(other[i].object) != key {
			return append(list, difference{key, "metadata.name", manifest.object.GetName()})
		}
		list = append(list, differingFields(key, "", manifest.object.Object, other[i].object.Object)...)
	}
	if len(other) > len(one) {
		list = append(list, difference{kube.KeyOf(other[len(one)].object), "metadata.name", other[len(one)].object.GetName()})
	}
	return list
}

func differingFields(key kube.Key, field string, a, b any) (list []difference) {
	switch one := a.(type) {
	case map[string]any:
		if other, is := b.(map[string]any); is {
			for _, name := range slices.Sorted(maps.Keys(one)) {
				list = append(list, differingFields(key, strings.TrimPrefix(field+"."+name, "."), one[name], other[name])...)
			}
			for name := range other {
				if _, there := one[name]; !there {
					list = append(list, difference{key, strings.TrimPrefix(field+"."+name, "."), nil})
				}
			}
			return list
		}
	case []any:
		if other, is := b.([]any); is && len(other) == len(one) {
			for i := range one {
				list = append(list, differingFields(key, fmt.Sprintf("%s[%d]", field, i), one[i], other[i])...)
			}
			return list
		}
	default:
		if a == b {
			return nil
		}
	}
	return []difference{{key, field, a}}
}

// plain returns what a chart renders without a spec.
func (r *Renderer) plain(ctx context.Context, draft *Draft) ([]*unstructured.Unstructured, error) {
	resource := draft.of.Resource.DeepCopy()
	resource.Object["spec"] = map[string]any{}
	in := draft.of
	in.Resource = resource
	layers, err := r.Layers(in.Defaults)
	if err != nil {
		return nil, err
	}
	without := slices.DeleteFunc(layers, func(l defaults.Layer) bool { return l.Source != defaults.ByPlatform })
	again, err := r.draft(ctx, in, without)
	if err != nil {
		return nil, err
	}
	return again.result.Objects, nil
}

// with returns the inputs of the templates with another value at a path.
func (r run) with(path []string, value any) run {
	r.vals = chartutil.Values(setAt(r.vals, path, value))
	return r
}

// setAt returns a copy of a map with a value at a path.
func setAt(in map[string]any, path []string, value any) map[string]any {
	out := maps.Clone(in)
	if out == nil {
		out = map[string]any{}
	}
	if len(path) == 1 {
		out[path[0]] = value
		return out
	}
	below, _ := out[path[0]].(map[string]any)
	out[path[0]] = setAt(below, path[1:], value)
	return out
}
