package render

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	appchart "github.com/example/appservice-operator/internal/chart"
	"github.com/example/appservice-operator/internal/policy"
	"github.com/example/appservice-operator/internal/render/hooks"
	"github.com/example/appservice-operator/internal/render/podtemplate"
	"github.com/example/appservice-operator/internal/render/typecheck"
	"github.com/example/appservice-operator/internal/text"
)

// An error of rendering is the fault of the spec (an InvalidSpecError or a SpecError) or of the chart (a ChartError). A
// hooks.PodSecurityError leaves that open: it has a reason of its own.

// SpecError says that the chart refuses the spec.
type SpecError struct {
	// Message names the fields, or is the chart's message to the author of the spec.
	Message string
	// At is the source of the message, for example "templates/service.yaml line 12"; empty for values.schema.json.
	At string
	// Chart is the name and version of the chart.
	Chart string
	// Column of that line, from 1; 0 if it is not known.
	Column int
	// Excerpt shows the lines there; empty if they are not known.
	Excerpt string
}

// Explain returns the message with the lines around its source.
func (e *SpecError) Explain() string {
	if e.At == "" {
		return e.Message + "\n"
	}
	return fmt.Sprintf("%s: %s\n%s", placed(e.At, e.Column), e.Message, e.Excerpt)
}

func (e *SpecError) Error() string {
	if e.At == "" {
		return e.Message
	}
	return fmt.Sprintf("%s (chart %s, %s)", e.Message, e.Chart, e.At)
}

// ChartError says that the chart is wrong, whatever the spec is.
type ChartError struct {
	// Chart is the name and version of the chart.
	Chart string
	// At is the place of the mistake, for example "templates/service.yaml line 12"; empty if it is not known.
	At string
	// Rule is the rule of internal/cli/lint that is broken; empty for errors of rendering itself.
	Rule string
	// Column of that line, from 1; 0 if it is not known.
	Column int
	// Err is the cause.
	Err error
	// Excerpt shows the lines there, for readers who may see everything that is rendered; empty if they are not known.
	Excerpt string
}

// Explain returns the mistake with the lines around it.
func (e *ChartError) Explain() string {
	return fmt.Sprintf("%s: %s\n%s", placed(cmp.Or(e.At, e.Chart), e.Column), text.Line(e.Err.Error()), e.Excerpt)
}

// placed formats a place as compilers do, for example templates/service.yaml:12:5.
func placed(at string, column int) string {
	text := strings.Replace(at, " line ", ":", 1)
	if column > 0 {
		text += ":" + strconv.Itoa(column)
	}
	return text
}

func (e *ChartError) Error() string {
	where := e.Chart
	if e.At != "" {
		where += ", " + e.At
	}
	return fmt.Sprintf("bug in chart %s (not in your spec): %s", where, text.Line(e.Err.Error()))
}

// Unwrap returns the cause.
func (e *ChartError) Unwrap() error { return e.Err }

// Hint says what to do.
func (e *ChartError) Hint() string {
	return "tell the maintainers of the chart what the message says; an earlier version of the chart, or a spec without what the template is for, may do meanwhile"
}

// Mistake returns the error for a template of a chart whose output is wrong.
func Mistake(c *chart.Chart, template string, err error) error {
	return &ChartError{Chart: title(c), At: within(c, template), Err: err}
}

// title returns name and version of a chart.
func title(c *chart.Chart) string { return c.Name() + " " + c.Metadata.Version }

// blame attributes an error of rendering to the chart, unless the error itself says otherwise.
func (r *Renderer) blame(err error) error {
	var ofSpec *SpecError
	var invalid *InvalidSpecError
	var insecure *hooks.PodSecurityError
	var disallowed *policy.Error
	var ofChart *ChartError
	var ofPatch *podtemplate.Error
	var reserved *hooks.ReservedError
	var image *hooks.ImageError
	var notGranted *hooks.NotGrantedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &reserved):
		return &InvalidSpecError{reserved}
	case errors.As(err, &notGranted):
		return &InvalidSpecError{notGranted}
	case errors.As(err, &ofPatch):
		return &InvalidSpecError{ofPatch}
	case errors.As(err, &invalid), errors.As(err, &insecure), errors.As(err, &disallowed),
		errors.As(err, &image) && image.OfSpec():
		return err
	case errors.As(err, &ofSpec):
		return &SpecError{Message: ofSpec.Message, At: within(r.Chart, ofSpec.At), Chart: title(r.Chart),
			Column: ofSpec.Column, Excerpt: ofSpec.Excerpt}
	case errors.As(err, &ofChart):
		return &ChartError{Chart: title(r.Chart), At: within(r.Chart, ofChart.At), Column: ofChart.Column, Rule: ofChart.Rule,
			Err: ofChart.Err, Excerpt: ofChart.Excerpt}
	}
	return &ChartError{Chart: title(r.Chart), Err: err}
}

// blameObject adds the template that rendered the object which a hook refuses.
func (r *Renderer) blameObject(draft *Draft, err error) error {
	var invalid *hooks.ObjectError
	if !errors.As(err, &invalid) {
		return r.blame(err)
	}
	i := slices.IndexFunc(draft.result.Objects, func(o *unstructured.Unstructured) bool { return o == invalid.Object })
	if i < 0 {
		return r.blame(&ChartError{Err: err})
	}
	fault := &ChartError{At: draft.result.Sources[i], Err: err}
	if misfits, found := errors.AsType[typecheck.Misfits](err); found {
		r.placeField(fault, invalid.Object, misfits[0].Path, draft.run)
	}
	return r.blame(fault)
}

// within returns a place in a chart without the chart's name.
func within(c *chart.Chart, at string) string { return strings.TrimPrefix(at, c.Name()+"/") }

// place matches the place of an error in the messages of text/template, which has no fields for it.
var place = regexp.MustCompile(`(?s)^template: (.+?):(\d+)(?::(\d+))?: (?:executing ".*?" at <(.*?)>: )?(.*)$`)

// templateFault attributes an error of a template to spec or chart. If templates include each other, it names the
// first, which renders an object, and the last, which failed, with its cause.
func templateFault(err error) error {
	var failed template.ExecError
	if unparsed, found := errors.AsType[*appchart.Fault](err); found {
		return &ChartError{Rule: unparsed.Rule, At: line(unparsed.File, strconv.Itoa(unparsed.Line)),
			Err: errors.New(unparsed.Message)}
	}
	if _, exceeded := errors.AsType[*ChartError](err); exceeded {
		return err // it names its template already
	}
	if !errors.As(err, &failed) {
		return &ChartError{Err: err}
	}
	last := innermost(failed)
	outer, inner := place.FindStringSubmatch(failed.Error()), place.FindStringSubmatch(last.Error())
	if outer == nil || inner == nil {
		return &ChartError{Err: err}
	}
	at, cause := line(outer[1], outer[2]), inner[5]
	if refusal, found := errors.AsType[*appchart.Refusal](err); found {
		return &SpecError{Message: text.Line(refusal.Message), At: at, Column: column(outer[3])}
	}
	if strings.HasPrefix(cause, "nil pointer evaluating interface {}") && strings.Contains(inner[4], ".Values.") {
		cause += ": its parent is not set: give that a default in values.yaml, or declare it in fields.yaml"
	}
	if inner[4] != "" {
		cause = fmt.Sprintf("<%s>: %s", inner[4], cause)
	}
	if there := line(inner[1], inner[2]); there != at {
		cause = fmt.Sprintf("in %s: %s", there[strings.Index(there, "/")+1:], cause)
	}
	return &ChartError{At: at, Column: column(outer[3]), Err: errors.New(cause)}
}

// innermost returns the error of the last of the templates that include each other.
func innermost(failed template.ExecError) template.ExecError {
	deepest := failed
	for errors.As(deepest.Err, &failed) {
		deepest = failed
	}
	return deepest
}

func line(file, number string) string { return file + " line " + number }

// column returns the column of text/template, which counts bytes from 0, counted from 1; 0 if there is none.
func column(number string) int {
	before, err := strconv.Atoi(number)
	if err != nil {
		return 0
	}
	return before + 1
}
