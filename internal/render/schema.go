package render

import (
	"bytes"
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
)

// schemas caches each compiled values.schema.json: Helm compiles it in every render, which takes a quarter of the time.
// A schema that does not compile is left to Helm, which returns the reason and may fetch what a schema refers to.
type schemas struct {
	compiled sync.Map // a *jsonschema.Schema by the first byte of its text, nil for one that does not compile
}

// check returns an error if a chart or one of its subcharts refuses the values used. Given are those of the spec.
func (s *schemas) check(c *chart.Chart, given, used chartutil.Values) error {
	found, err := s.misfits(c, used, nil)
	if err != nil || len(found) == 0 {
		return err
	}
	return refusal(given, used, found)
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
	if schema == nil {
		err := chartutil.ValidateAgainstSingleSchema(vals, c.Schema)
		var refused chartutil.JSONSchemaValidationError
		switch {
		case err == nil:
			return nil, nil
		case errors.As(err, &refused):
			return refusedBy(refused), nil
		}
		return nil, &ChartError{At: path.Join(c.ChartFullPath(), "values.schema.json"), Err: err}
	}
	var refused *jsonschema.ValidationError
	switch err := schema.Validate(vals); {
	case err == nil:
		return nil, nil
	case errors.As(err, &refused):
		return misfits(refused), nil
	default:
		return nil, &ChartError{At: path.Join(c.ChartFullPath(), "values.schema.json"), Err: err}
	}
}

// refusedAt matches the path of a refused value in Helm's message; its error type does not export it.
var refusedAt = regexp.MustCompile(`(?m)at '(.*?)': (.*)$`)

// refusedBy lists the values that a schema refuses according to Helm's error.
func refusedBy(err chartutil.JSONSchemaValidationError) []misfit {
	var found []misfit
	for _, match := range refusedAt.FindAllStringSubmatch(err.Error(), -1) {
		steps := strings.Split(match[1], "/")[1:]
		for i, step := range steps {
			steps[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		}
		found = append(found, misfit{path: steps, says: match[2]})
	}
	if found == nil {
		found = []misfit{{says: strings.TrimSpace(err.Error())}}
	}
	return found
}

func (s *schemas) of(c *chart.Chart) *jsonschema.Schema {
	if len(c.Schema) == 0 {
		return nil
	}
	first := &c.Schema[0] // texts are shared by all copies of a chart, and never change
	if known, found := s.compiled.Load(first); found {
		return known.(*jsonschema.Schema)
	}
	schema, err := compile(c.Schema)
	if err != nil {
		schema = nil
	}
	s.compiled.Store(first, schema)
	return schema
}

func compile(text []byte) (*jsonschema.Schema, error) {
	const name = "file:///values.schema.json"
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(name, document); err != nil {
		return nil, err
	}
	return compiler.Compile(name)
}
