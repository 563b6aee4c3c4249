package lint

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/operator-framework/helm-operator-plugins/pkg/watches"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/chart/rbac"
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
