//go:build cluster

package contract

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/chart/fields"
	"github.com/example/appservice-operator/test/specs"
	"github.com/example/appservice-operator/test/try"
)

const (
	root     = "../.."
	crdFile  = root + "/config/crd/bases/app.example.com_appservices.yaml"
	chartDir = root + "/helm-charts/appservice"
)

// survey has the result for every field and every value of the chart.
type survey struct {
	fields     []*result
	values     []*result
	spec       specs.Node
	chart      *fields.File // what the chart declares; nil if it declares nothing
	exceptions *exceptions
	// stale are entries of the tables without an effect.
	stale []string
}

// result is that of one field or one value.
type result struct {
	path string
	// moved are the kinds and paths that the field affects.
	moved []string
	// exempt says that the field is an exception, and test names the test that covers it instead, if any does.
	exempt bool
	test   string
	// dead says that the field has no effect.
	dead bool
	err  error
}

// surveyor carries out a survey.
type surveyor struct {
	*specs.Maker
	operator *operator
	survey   *survey
	// kept are the trials and renders of fields, by path, for the values of the chart.
	kept map[string]*kept
}

type kept struct {
	*specs.Trial
	// rendered is the result of the first value that has an effect; chosen is this value.
	rendered []*unstructured.Unstructured
	chosen   any
}

// conduct carries out the survey.
func conduct() (done *survey, err error) {
	err = try.Catch(func() { done = carriedOut() })
	return done, err
}

func carriedOut() *survey {
	o := newOperator()
	schema, _ := try.Get2(specs.ReadSchema(crdFile))
	s := &surveyor{Maker: &specs.Maker{Schema: schema.Properties["spec"]}, operator: o, survey: &survey{}, kept: map[string]*kept{}}
	s.survey.spec = s.Schema
	s.survey.chart = try.Get(fields.Of(o.watch.Chart, o.watch.GroupVersionKind))
	s.Table = try.Get(specs.ReadTable("values.yaml"))
	s.survey.exceptions = readExceptions("exceptions.yaml")
	for _, f := range specs.FieldsOf("", s.Schema) {
		s.survey.fields = append(s.survey.fields, s.field(f))
	}
	s.chartValues()
	s.findStale()
	return s.survey
}

// field tries one field: it must have an effect, and each of its values another one.
func (s *surveyor) field(f specs.Field) *result {
	r := &result{path: f.Path}
	var why exception
	why, r.exempt = s.survey.exceptions.Fields[f.Path]
	r.test = why.Test
	t, err := s.Trial(f)
	if err != nil {
		r.err = err
		return r
	}
	renders, err := s.renders(t)
	if r.exempt && errors.Is(err, errRefused) {
		return r
	}
	if err != nil {
		r.err = err
		return r
	}
	baseline := renders[0]
	for i, rendered := range renders[1:] {
		if moved := difference(baseline, rendered); len(moved) > 0 && r.moved == nil {
			chosen := t.Values[i+len(t.Values)-len(renders)+1]
			r.moved, s.kept[f.Path] = moved, &kept{Trial: t, rendered: rendered, chosen: chosen}
		}
	}
	r.dead = r.moved == nil
	switch {
	case r.exempt && r.dead:
		r.dead = false
	case r.exempt:
		r.err = fmt.Errorf("moves %s: delete the stale exception from exceptions.yaml", strings.Join(r.moved, ", "))
	case r.dead:
		r.err = fmt.Errorf("moves nothing that is rendered: use .Values.%s in a template of the chart, remove the field from api/v1 or fields.yaml, "+
			"give a base in which it matters in values.yaml, or name the reason in exceptions.yaml", f.Path)
	default:
		r.err = distinct(t, renders)
	}
	return r
}

// renders are the rendered specs of a trial, the one without the field first if there is one.
func (s *surveyor) renders(t *specs.Trial) ([][]*unstructured.Unstructured, error) {
	tried := t.With
	if !t.Required {
		tried = append([]map[string]any{t.Without}, t.With...)
	}
	renders := make([][]*unstructured.Unstructured, 0, len(tried))
	for _, spec := range tried {
		rendered, err := s.operator.render(spec, nil)
		if err != nil {
			return nil, fmt.Errorf("%w (tried: %v)", err, spec)
		}
		renders = append(renders, rendered)
	}
	return renders, nil
}

// distinct requires that any two values of a field render differently.
func distinct(t *specs.Trial, renders [][]*unstructured.Unstructured) error {
	renders = renders[len(renders)-len(t.Values):]
	for i := range renders {
		for j := range i {
			if len(difference(renders[i], renders[j])) == 0 {
				return fmt.Errorf("values %v and %v render the same: a template does not use the value", t.Values[j], t.Values[i])
			}
		}
	}
	return nil
}

// summary is the line that the tests end with.
func (s *survey) summary() string {
	covered, dead := 0, 0
	for _, r := range s.fields {
		if r.err == nil && (!r.exempt || r.test != "") {
			covered++
		}
	}
	for _, r := range append(s.fields, s.values...) {
		if r.dead {
			dead++
		}
	}
	return fmt.Sprintf("API fields=%d covered=%d dead=%d", len(s.fields), covered, dead)
}
