package lint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	helmchart "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/engine/text"
)

// trial renders cases in different ways, and checks the results.
type trial struct {
	chart        *helmchart.Chart
	subject      Subject
	capabilities *chartutil.Capabilities
	// first and again render the same revision, next a later one. Only first checks objects.
	first, again, next *render.Renderer
	// failures are those of the case being rendered.
	failures  []failure
	selectors map[kube.Key]selector
}

// failure is a violation of a rule by a rendered object.
type failure struct {
	rule  string
	index int // of the object
	path  []any
	// message is printed after the kind and the name of the object.
	message string
	// ends is set if later hooks would report the same failure.
	ends bool
}

func newTrial(loaded *helmchart.Chart, subject Subject) *trial {
	t := &trial{chart: loaded, subject: subject, capabilities: render.Serving(loaded), selectors: map[kube.Key]selector{}}
	t.first, t.again, t.next = t.renderer(t.look), t.renderer(nil), t.renderer(nil)
	t.next.Revision = 2
	return t
}

// renderer returns a renderer like the manager's. The hook, unless nil, runs first, so it sees objects as rendered by
// the templates.
func (t *trial) renderer(hook postrender.Hook) *render.Renderer {
	r := render.For(t.subject.entry(), t.chart)
	r.ClusterScoped = t.clusterScoped
	if hook != nil {
		r.Hooks = append([]postrender.Hook{hook}, r.Hooks...)
	}
	return r
}

func (t *trial) clusterScoped(kind schema.GroupVersionKind) bool {
	foreign, _ := chart.ForeignKinds(t.chart) // a chart with a mistake there does not load
	return outsideNamespaces(kind) || foreign[kind.GroupKind()].ClusterScoped
}

func (t *trial) run(ctx context.Context, found *findings) {
	for _, each := range t.subject.Cases {
		if t.renders(ctx, each, found) {
			t.same(ctx, each, found)
			t.selector(ctx, each.Resource, each.Name, found)
			t.name(ctx, each, found)
		}
	}
	// it renders once for each value, so only a chart without mistakes is worth that
	if len(t.subject.Cases) > 0 && len(*found) == 0 {
		t.vary(ctx, t.subject.Cases[0], found)
	}
}

// renders adds the findings about the objects of a case, and reports whether it renders.
func (t *trial) renders(ctx context.Context, of Case, found *findings) bool {
	t.failures = nil
	_, err := t.first.Render(ctx, of.Resource, t.capabilities)
	for _, each := range t.failures {
		found.add(t.place(ctx, of.Resource, each), of.Name)
	}
	if err != nil && !errors.Is(err, errEnds) {
		found.add(t.failed(err), of.Name)
	}
	return err == nil
}

// errEnds stops rendering if the objects are invalid, before the other hooks run.
var errEnds = errors.New("the objects are not valid")

// look is a hook that collects failures.
func (t *trial) look(_ context.Context, in *postrender.Input, objects []*unstructured.Unstructured) error {
	for i, object := range objects {
		for _, each := range t.object(in.Owner, object) {
			each.index = i
			t.failures = append(t.failures, each)
		}
	}
	if slices.ContainsFunc(t.failures, func(f failure) bool { return f.ends }) {
		return errEnds
	}
	return nil
}

// place returns a failure as a finding with its template and line, which it finds by rendering again.
func (t *trial) place(ctx context.Context, resource *unstructured.Unstructured, of failure) Finding {
	fail := func(_ context.Context, _ *postrender.Input, objects []*unstructured.Unstructured) error {
		return &postrender.ObjectError{Object: objects[of.index], Err: placed(of)}
	}
	_, err := t.renderer(fail).Render(ctx, resource, t.capabilities)
	found := t.failed(err)
	found.Rule = ruleOf(of.rule)
	return found
}

// failed returns the finding for an error of a render. A refused spec is a mistake, too: every case must render.
func (t *trial) failed(err error) Finding {
	found := Finding{Rule: ruleOf(ruleFails), File: "templates", Message: text.Line(err.Error())}
	var ofChart *render.ChartError
	var ofSpec *render.SpecError
	var insecure *postrender.PodSecurityError
	at, column := "", 0
	switch {
	case errors.As(err, &insecure):
		found.Rule = ruleOf(rulePodSecurity)
	case errors.As(err, &ofSpec):
		at, column, found.Excerpt = ofSpec.At, ofSpec.Column, ofSpec.Excerpt
		found.Message = "the case is refused: " + ofSpec.Message
	case errors.As(err, &ofChart):
		at, column, found.Excerpt = ofChart.At, ofChart.Column, ofChart.Excerpt
		found.Message = text.Line(ofChart.Err.Error())
		found.Rule = ruleOf(cmp.Or(ofChart.Rule, ruleFails))
	}
	if file, line, cut := strings.Cut(at, " line "); at != "" {
		found.File = file
		if cut {
			found.Line, _ = strconv.Atoi(line) // it is digits
			found.Column = column
		}
	}
	return found
}

// same adds a finding if a case renders differently the second time, or in a later revision.
func (t *trial) same(ctx context.Context, of Case, found *findings) {
	one, err := t.again.Render(ctx, of.Resource, t.capabilities)
	if err != nil {
		found.add(t.failed(err), of.Name)
		return
	}
	for _, by := range []struct {
		renderer *render.Renderer
		differs  string
	}{{t.first, "two renders of it differ"}, {t.next, "revisions 1 and 2 of it differ"}} {
		other, err := by.renderer.Render(ctx, of.Resource, t.capabilities)
		if err != nil {
			found.add(t.failed(err), of.Name)
			continue
		}
		if one.Digest != other.Digest {
			found.add(Finding{Rule: ruleOf(ruleUnstable), File: differing(one, other),
				Message: by.differs + ": make it depend on the spec only"}, of.Name)
		}
	}
}

// differing returns the template of the first object that differs.
func differing(one, other *render.Result) string {
	for i, body := range one.Bodies {
		if i >= len(other.Bodies) || string(body.JSON()) != string(other.Bodies[i].JSON()) {
			_, file, _ := strings.Cut(one.Sources[i], "/")
			return file
		}
	}
	return "templates"
}

// name adds a finding for each object that has the same name for resources of different names, unless the name is in
// the spec.
func (t *trial) name(ctx context.Context, of Case, found *findings) {
	one, err := t.again.Render(ctx, called(of.Resource, anyName), t.capabilities)
	other, otherErr := t.again.Render(ctx, called(of.Resource, "other"), t.capabilities)
	if err != nil || otherErr != nil {
		return
	}
	for i, key := range one.Keys {
		if contains(of.Resource.Object["spec"], key.Name) || !slices.Contains(other.Keys, key) {
			continue
		}
		_, file, _ := strings.Cut(one.Sources[i], "/")
		found.add(Finding{
			Rule: ruleOf(ruleFixedName), File: file,
			Message: fmt.Sprintf("%s %q has the same name for all resources, so a namespace can have only one of them", key.Kind,
				key.Name),
			Remedy: "begin its name with .Release.Name",
		}, of.Name)
	}
}

// contains reports whether a value is or contains a string.
func contains(value any, text string) bool {
	switch value := value.(type) {
	case string:
		return value == text
	case []any:
		return slices.ContainsFunc(value, func(item any) bool { return contains(item, text) })
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(value)), func(item any) bool { return contains(item, text) })
	}
	return false
}

// called returns a copy of a resource with another name.
func called(resource *unstructured.Unstructured, name string) *unstructured.Unstructured {
	copied := resource.DeepCopy()
	copied.SetName(name)
	return copied
}
