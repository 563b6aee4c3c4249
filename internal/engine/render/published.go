package render

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/render/defaults"
	"github.com/example/appservice-operator/internal/engine/values"
)

// A published chart is refused for its output, not for what its templates could do.

// publishedOutput is the output of a published chart.
type publishedOutput struct {
	manifests   []manifest
	definitions []string // the names of CustomResourceDefinitions that the cluster does not have
	warnings    []v1.Problem
	calls       []call
}

// executePublished renders a published chart.
func (r *Renderer) executePublished(ctx context.Context, of run) (*publishedOutput, error) {
	out, err := r.renderSeeded(ctx, of, first, "")
	if err != nil {
		return nil, r.attribute(ctx, of, r.adviseOnHook(ctx, of, err))
	}
	unstable, err := r.unstable(ctx, of, out)
	if err != nil {
		return nil, r.attribute(ctx, of, err)
	}
	if unstable != nil {
		unstable.Advice = r.adviseOnRandom(ctx, of, unstable)
		return nil, &InvalidSpecError{unstable}
	}
	if err := r.elsewhere(ctx, of, out); err != nil {
		return nil, err
	}
	text, _ := json.Marshal(of.vals) // it was JSON
	for _, one := range out.manifests {
		if err := forged(one.object, string(text)); err != nil {
			named := postrender.Reserved(ctx, &postrender.Input{Owner: of.resource}, []*unstructured.Unstructured{one.object})
			return nil, &InvalidSpecError{cmp.Or(named, err)}
		}
	}
	runOnce(out.manifests)
	return out, nil
}

// renderSeeded renders a published chart with a seed for its fresh functions, or for the call at one site only.
func (r *Renderer) renderSeeded(ctx context.Context, of run, with seed, only string) (*publishedOutput, error) {
	rendered, err := r.texts(of, with, only)
	if err != nil {
		return nil, err
	}
	out := &publishedOutput{calls: rendered.calls}
	all, warnings, err := documentsOf(rendered.files)
	if err != nil {
		return nil, err
	}
	if err := checkHooks(ctx, of.resource, all); err != nil {
		return nil, err
	}
	out.warnings = warnings
	out.manifests, out.definitions = withoutDefinitions(withoutHooks(all), of.capabilities)
	for _, lookup := range rendered.lookups {
		warning := v1.Problem{Source: r.inChart(lookup.site), Reason: v1.ReasonLookupEmpty,
			Message: fmt.Sprintf("%s finds nothing: templates cannot read the cluster", lookup.function)}
		if !slices.Contains(out.warnings, warning) {
			out.warnings = append(out.warnings, warning)
		}
	}
	return out, nil
}

// texts returns what the templates of a published chart render with a seed.
func (r *Renderer) texts(of run, with seed, only string) (texts, error) {
	enabled, input, err := r.input(of)
	if err != nil {
		return texts{}, err
	}
	rendered, err := r.engine().render(enabled, input, with, only)
	of.trials.spend(rendered.cost)
	if err != nil {
		return texts{}, &executionError{err, templateFault(err)}
	}
	return rendered, nil
}

// inChart returns a place without the name of the chart and the column: templates/a.yaml:3.
func (r *Renderer) inChart(site string) string {
	site = within(r.Chart, site)
	if at := strings.LastIndexByte(site, ':'); strings.Count(site, ":") > 1 {
		site = site[:at]
	}
	return site
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
		cmp.Or(e.Advice, notFound))
}

// unstable renders again if a fresh function was called, with the other seed, and returns the first difference; nil if
// there is none.
func (r *Renderer) unstable(ctx context.Context, of run, out *publishedOutput) (*UnstableError, error) {
	if len(out.calls) == 0 {
		return nil, nil
	}
	again, err := r.renderSeeded(ctx, of, second, "")
	if err != nil {
		return nil, err
	}
	found := differences(out.manifests, again.manifests)
	if len(found) == 0 {
		return nil, nil
	}
	unstable := &UnstableError{Key: found[0].key, Field: found[0].field}
	var tried []call
	for _, each := range out.calls {
		if slices.Contains(tried, each) || len(tried) == mostTrials || of.trials.empty() {
			continue
		}
		tried = append(tried, each)
		again, err := r.renderSeeded(ctx, of, second, each.site)
		if err == nil && slices.Contains(differences(out.manifests, again.manifests), found[0]) {
			unstable.Function, unstable.Site = each.function, r.inChart(each.site)
			return unstable, nil
		}
	}
	likely := max(0, slices.IndexFunc(out.calls, func(c call) bool { return !strings.Contains(c.site, "/tests/") }))
	unstable.Function, unstable.Site = out.calls[likely].function, r.inChart(out.calls[likely].site)
	return unstable, nil
}

// difference is a field that differs between two renderings.
type difference struct {
	key   kube.Key
	field string
}

// differences lists the fields in which two renderings differ.
func differences(one, other []manifest) (list []difference) {
	for i, manifest := range one {
		key := kube.KeyOf(manifest.object)
		if i >= len(other) || kube.KeyOf(other[i].object) != key {
			return append(list, difference{key, "metadata.name"})
		}
		list = append(list, differingFields(key, "", manifest.object.Object, other[i].object.Object)...)
	}
	if len(other) > len(one) {
		list = append(list, difference{kube.KeyOf(other[len(one)].object), "metadata.name"})
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
					list = append(list, difference{key, strings.TrimPrefix(field+"."+name, ".")})
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
	return []difference{{key, field}}
}

// plain returns what a chart renders without a spec, hooks left out: what is random there may differ.
func (r *Renderer) plain(ctx context.Context, draft *Draft) ([]*unstructured.Unstructured, error) {
	resource := draft.resource.DeepCopy()
	resource.Object["spec"] = map[string]any{}
	platform, err := r.Layers(defaults.Text{})
	if err != nil {
		return nil, err
	}
	under, _ := r.Under(resource, platform)
	vals, _, err := values.Read(ctx, r.Translator, under)
	if err != nil {
		return nil, err
	}
	rendered, err := r.texts(run{resource: resource, vals: vals, capabilities: draft.capabilities}, first, "")
	if err != nil {
		return nil, err
	}
	manifests, _, err := documentsOf(rendered.files)
	if err != nil {
		return nil, err
	}
	var list []*unstructured.Unstructured
	for _, one := range withoutHooks(manifests) {
		list = append(list, one.object)
	}
	return list, nil
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
