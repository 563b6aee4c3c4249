package render

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/render/podtemplate"
	"github.com/example/appservice-operator/internal/engine/render/typecheck"
	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/engine/violation"
)

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
	var insecure *postrender.PodSecurityError
	var disallowed *violation.Error
	var ofChart *ChartError
	var ofPatch *podtemplate.Error
	var reserved *postrender.ReservedError
	var image *postrender.ImageError
	var notGranted *postrender.NotGrantedError
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
	var invalid *postrender.ObjectError
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
	if innermost := line(inner[1], inner[2]); innermost != at {
		cause = fmt.Sprintf("in %s: %s", innermost[strings.Index(innermost, "/")+1:], cause)
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
