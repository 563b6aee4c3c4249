package render

import (
	"errors"
	"path"
	"slices"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
)

// schemas caches each compiled values.schema.json: Helm compiles it in every render, which takes a quarter of the time,
// and fetches what a schema refers to.
type schemas struct {
	compiled sync.Map // a compiledSchema by the first byte of its text
}

type compiledSchema struct {
	*jsonschema.Schema
	err error // why it does not compile
}

// check returns an error if a chart or one of its subcharts refuses the values used. Given are those of the spec. A
// published chart may have no value for what it requires: the spec has to.
func (s *schemas) check(c *chart.Chart, given, used chartutil.Values, published bool) error {
	found, err := s.misfits(c, used, nil)
	if err != nil || len(found) == 0 {
		return err
	}
	return refusal(given, used, found, published)
}

// misfits lists the values that a chart, whose values are below a path, and its subcharts refuse.
func (s *schemas) misfits(c *chart.Chart, vals map[string]any, prefix []string) ([]misfit, error) {
	found, err := s.validate(c, vals)
	if err != nil {
		return nil, err
	}
	for i := range found {
		found[i].path = slices.Concat(prefix, found[i].path)
	}
	for _, dependency := range c.Dependencies() {
		at := below(prefix, dependency.Name())
		switch nested := vals[dependency.Name()].(type) {
		case nil:
		case map[string]any:
			more, err := s.misfits(dependency, nested, at)
			if err != nil {
				return nil, err
			}
			found = append(found, more...)
		default:
			found = append(found, misfit{path: at, says: "must be a map: the values of a subchart"})
		}
	}
	return found, nil
}

// validate lists the values that the schema of one chart refuses. It returns an error if the schema itself is wrong.
func (s *schemas) validate(c *chart.Chart, vals map[string]any) ([]misfit, error) {
	if c.Schema == nil {
		return nil, nil
	}
	schema := s.of(c)
	err := schema.err
	if err == nil {
		err = schema.Validate(vals)
	}
	var refused *jsonschema.ValidationError
	switch {
	case err == nil:
		return nil, nil
	case errors.As(err, &refused):
		return misfits(refused), nil
	default:
		return nil, &ChartError{At: path.Join(c.ChartFullPath(), "values.schema.json"), Err: err}
	}
}

func (s *schemas) of(c *chart.Chart) compiledSchema {
	if len(c.Schema) == 0 {
		return compiledSchema{err: errors.New("is empty: remove it")}
	}
	first := &c.Schema[0] // texts are shared by all copies of a chart, and never change
	if known, found := s.compiled.Load(first); found {
		return known.(compiledSchema)
	}
	schema, _, err := appchart.CompileSchema(c.Schema)
	compiled := compiledSchema{schema, err}
	s.compiled.Store(first, compiled)
	return compiled
}
