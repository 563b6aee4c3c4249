package lint

import (
	"context"
	"slices"

	helmchart "helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/chart/fields"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/plugin/lint/usedvalues"
)

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
	compared, err := usedvalues.Compare(loaded, ".", kind)
	if err != nil {
		return err
	}
	for _, each := range []struct {
		rule     string
		problems fields.Problems
	}{
		{chart.RuleUndeclared, compared.Undeclared},
		{ruleUnused, slices.Concat(compared.Unused, compared.Ignored)},
		{ruleIdle, compared.Idle},
		{ruleFieldless, compared.Fieldless},
		{ruleUnseen, compared.Unseen},
	} {
		for _, fault := range faultsOf(chart.Faults(loaded, each.problems)) {
			fault.Rule = each.rule
			f.addFault(fault)
		}
	}
	return nil
}
