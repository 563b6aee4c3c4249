package lint

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/operator-framework/helm-operator-plugins/pkg/watches"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/chart/fields"
	"github.com/example/appservice-operator/internal/engine/chart/rbac"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/engine/text"
)

// Case is a resource to render.
type Case struct {
	Name     string
	Resource *unstructured.Unstructured
}

// Subject is a chart to check.
type Subject struct {
	Files fs.FS
	// Dir is the chart's folder in Files.
	Dir       string
	Kind      schema.GroupVersionKind
	Overrides map[string]string
	// Published are the keys of an entry whose chart is served as it was published.
	Published chart.Published
	Cases     []Case
	// Complete is set if there are no other cases: exceptions that these do not need are reported as stale.
	Complete bool
	// Granted are the operator's RBAC rules; nil if they are not checked.
	Granted rbac.Granted
}

// entry returns the entry of watches.yaml that serves the chart, as far as it is known.
func (s *Subject) entry() chart.Watch {
	return chart.Watch{Watch: watches.Watch{GroupVersionKind: s.Kind, OverrideValues: s.Overrides}, Published: s.Published}
}

// Finding is a mistake.
type Finding struct {
	Rule
	// File is its path in the chart.
	File string
	// Line and Column count from 1; 0 if unknown.
	Line, Column int
	Message      string
	// Remedy is how to fix it; empty if the message includes that.
	Remedy string
	// Excerpt contains the lines around the mistake, with a caret.
	Excerpt string
	// Cases are the names of the cases with the mistake; none if it was found without rendering.
	Cases []string
}

// String returns the finding in the text format.
func (f Finding) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s [%s]\n%s", chart.Place(f.File, f.Line, f.Column), f.Message, f.ID, f.Excerpt)
	if f.Remedy != "" {
		fmt.Fprintf(&out, "  hint: %s\n", f.Remedy)
	}
	switch len(f.Cases) {
	case 0:
	case 1:
		fmt.Fprintf(&out, "  in case %s\n", f.Cases[0])
	default:
		fmt.Fprintf(&out, "  in case %s and %d more\n", f.Cases[0], len(f.Cases)-1)
	}
	return out.String()
}

// findings are findings without duplicates.
type findings []Finding

func (f *findings) add(found Finding, cases ...string) {
	for i := range *f {
		same := (*f)[i]
		same.Cases = nil
		if same.String() == found.String() {
			if !slices.Contains((*f)[i].Cases, strings.Join(cases, "")) {
				(*f)[i].Cases = append((*f)[i].Cases, cases...)
			}
			return
		}
	}
	found.Cases = cases
	*f = append(*f, found)
}

func (f *findings) addFault(fault *chart.Fault) {
	found := Finding{
		Rule: ruleOf(cmp.Or(fault.Rule, chart.RuleUnusable)), File: fault.File, Line: fault.Line, Column: fault.Column,
		Message: text.Line(fault.Message), Remedy: fault.Remedy, Excerpt: chart.Excerpt(fault.Text, fault.Line, fault.Column),
	}
	f.add(found)
}

// Check returns the mistakes of a chart, in the order in which they are found. The error is not about the chart's
// rules: for example, its exceptions cannot be read.
func Check(ctx context.Context, subject Subject) ([]Finding, error) {
	exceptions, err := readExceptions(subject.Files, subject.Dir)
	if err != nil {
		return nil, err
	}
	var found findings
	loaded, err := subject.entry().Load(subject.Files, subject.Dir)
	if err != nil {
		found.unloadable(err)
		return found, nil
	}
	if subject.Published.Is() {
		for _, note := range render.CheckPublished(ctx, subject.entry(), loaded) {
			found.add(Finding{Rule: ruleOf(rulePublished), File: "Chart.yaml", Message: note})
		}
	} else if err := found.ofOwn(ctx, loaded, subject); err != nil {
		return nil, err
	}
	return exceptions.from(found, subject.Complete), nil
}

// ofOwn adds the mistakes of a chart that was written for this operator.
func (f *findings) ofOwn(ctx context.Context, loaded *helmchart.Chart, subject Subject) error {
	if err := f.uses(loaded, subject.Kind); err != nil {
		return err
	}
	f.unquoted(loaded)
	f.kinds(loaded, subject)
	newTrial(loaded, subject).run(ctx, f)
	if len(*f) == 0 {
		if err := f.helm(ctx, loaded, subject); err != nil {
			return err
		}
	}
	for _, warning := range chart.Warnings(loaded) {
		f.addFault(warning)
	}
	return nil
}

// unloadable adds why a chart does not load: the faults that an error wraps, or the error itself.
func (f *findings) unloadable(err error) {
	faults := faultsOf(err)
	for _, fault := range faults {
		f.addFault(fault)
	}
	if len(faults) == 0 {
		f.add(Finding{Rule: ruleOf(chart.RuleUnusable), File: "Chart.yaml", Message: err.Error()})
	}
}

func faultsOf(err error) []*chart.Fault {
	switch err := err.(type) { //nolint:errorlint // it unwraps recursively
	case *chart.Fault:
		return []*chart.Fault{err}
	case interface{ Unwrap() []error }:
		var all []*chart.Fault
		for _, each := range err.Unwrap() {
			all = append(all, faultsOf(each)...)
		}
		return all
	case interface{ Unwrap() error }:
		return faultsOf(err.Unwrap())
	}
	return nil
}

// uses adds the values that templates use without a declaration, and the declarations that no template uses.
func (f *findings) uses(loaded *helmchart.Chart, kind schema.GroupVersionKind) error {
	survey, err := fields.Look(loaded, ".", kind)
	if err != nil {
		return err
	}
	for _, each := range []struct {
		rule     string
		problems fields.Problems
	}{
		{chart.RuleUndeclared, survey.Undeclared},
		{ruleUnused, slices.Concat(survey.Unused, survey.Ignored)},
		{ruleIdle, survey.Idle},
		{ruleFieldless, survey.Fieldless},
		{ruleUnseen, survey.Unseen},
	} {
		for _, fault := range faultsOf(chart.Faults(loaded, each.problems)) {
			fault.Rule = each.rule
			f.addFault(fault)
		}
	}
	return nil
}
