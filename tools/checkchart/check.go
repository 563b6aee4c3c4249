// Package checkchart finds the mistakes of a chart before anybody serves it: it loads the chart as the manager does, and renders golden cases
// strictly, hooks included, twice. "make check-chart" prints what it finds.
//
// Of built-in kinds it knows all fields, their types and the values that Kubernetes marks as the only ones. What only the API server knows, it
// does not find: rules between fields, and the fields of other kinds.
package checkchart

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	helmchart "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example/appservice-operator/internal/chart"
	"github.com/example/appservice-operator/internal/fields"
	"github.com/example/appservice-operator/internal/postrender"
	"github.com/example/appservice-operator/internal/render"
	"github.com/example/appservice-operator/internal/typed"
	"github.com/example/appservice-operator/internal/values"
	"github.com/example/appservice-operator/internal/watches"
)

// Case is a resource to render.
type Case struct {
	Name     string
	Resource *unstructured.Unstructured
}

// Subject is a chart to check.
type Subject struct {
	Files fs.FS
	// Dir of the chart in it.
	Dir       string
	Kind      schema.GroupVersionKind
	Overrides map[string]string
	Cases     []Case
}

// Finding is a mistake.
type Finding struct {
	// Text has the mistake in as many lines as it takes.
	Text string
	// Cases have it; none if it does not take any to find it.
	Cases []string
}

// Checker finds mistakes.
type Checker struct{ enums enums }

// New makes one.
func New() (*Checker, error) {
	known, err := readEnums()
	if err != nil {
		return nil, err
	}
	return &Checker{known}, nil
}

// Check lists the mistakes of a chart, in the order in which they are found.
func (c *Checker) Check(ctx context.Context, subject Subject) []Finding {
	loaded, err := watches.LoadChart(subject.Files, subject.Dir, subject.Kind)
	if err != nil {
		return []Finding{{Text: chart.Explain(err)}}
	}
	var found []Finding
	problems, err := fields.Uses(loaded, ".", subject.Kind)
	if err != nil {
		return []Finding{{Text: chart.Explain(err)}}
	}
	for _, problem := range problems {
		found = append(found, Finding{Text: chart.Explain(chart.Faults(loaded, fields.Problems{problem}))})
	}
	first, second := c.renderer(loaded, subject), c.renderer(loaded, subject)
	for _, example := range subject.Cases {
		text := check(ctx, first, second, example.Resource)
		if text == "" {
			continue
		}
		same := func(f Finding) bool { return f.Text == text }
		if at := slices.IndexFunc(found, same); at >= 0 {
			found[at].Cases = append(found[at].Cases, example.Name)
			continue
		}
		found = append(found, Finding{Text: text, Cases: []string{example.Name}})
	}
	return found
}

// renderer renders as the manager does, and looks at objects as the templates make them.
func (c *Checker) renderer(loaded *helmchart.Chart, subject Subject) *render.Renderer {
	return &render.Renderer{
		Chart:      loaded,
		Translator: values.For(subject.Kind, loaded, subject.Overrides),
		Hooks:      append([]postrender.Hook{c.strict}, postrender.Default()...),
	}
}

// strict is a hook that lets nothing by that the API server would not take.
func (c *Checker) strict(_ context.Context, _ *postrender.Input, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		if misfits := typed.Check(object, c.enums.allowed); len(misfits) > 0 {
			return &postrender.ObjectError{Object: object, Err: fmt.Errorf("is not valid: %w", misfits)}
		}
	}
	return nil
}

// Served is what clusters of cases serve besides the built-in kinds.
var Served = []string{"gateway.networking.k8s.io/v1/HTTPRoute", "keda.sh/v1alpha1/ScaledObject", "monitoring.coreos.com/v1/ServiceMonitor"}

// check renders a case twice, and returns what is wrong.
func check(ctx context.Context, first, second *render.Renderer, resource *unstructured.Unstructured) string {
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.APIVersions = slices.Concat(capabilities.APIVersions, Served)
	one, err := first.Render(ctx, resource, capabilities)
	if err != nil {
		return explain(err)
	}
	other, err := second.Render(ctx, resource, capabilities)
	if err != nil {
		return explain(err)
	}
	if one.Digest == other.Digest {
		return ""
	}
	for i, body := range one.Bodies {
		if i >= len(other.Bodies) || string(body.JSON()) != string(other.Bodies[i].JSON()) {
			_, file, _ := strings.Cut(one.Sources[i], "/")
			return fmt.Sprintf("%s: two renders of it differ\n", file)
		}
	}
	return "two renders differ\n"
}

// explain returns an error in as many lines as it takes. What a spec is refused for is a mistake here, too: a case has to render.
func explain(err error) string {
	var ofSpec *render.SpecError
	if errors.As(err, &ofSpec) {
		return fmt.Sprintf("the case is refused: %v\n", err)
	}
	return chart.Explain(err)
}

// String is the finding as it is printed.
func (f Finding) String() string {
	switch len(f.Cases) {
	case 0:
		return f.Text
	case 1:
		return fmt.Sprintf("%s  in case %s\n", f.Text, f.Cases[0])
	}
	return fmt.Sprintf("%s  in case %s and %d more\n", f.Text, f.Cases[0], len(f.Cases)-1)
}
