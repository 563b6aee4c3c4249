package render

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
)

// schemas keeps each values.schema.json as it was compiled the first time: Helm compiles it in every render, which takes
// a quarter of the time. What it does not accept is left to Helm, who says why and may fetch what a schema refers to.
type schemas struct {
	compiled sync.Map // a *jsonschema.Schema by the first byte of its text, nil for one that does not compile
}

// check returns an error for values that a chart or one of its subcharts refuses.
func (s *schemas) check(c *chart.Chart, vals chartutil.Values) error {
	if s.accepts(c, vals) {
		return nil
	}
	if err := chartutil.ValidateAgainstSchema(c, vals); err != nil {
		return fmt.Errorf("the values do not fit values.schema.json of chart %w", err)
	}
	return nil
}

func (s *schemas) accepts(c *chart.Chart, vals map[string]any) bool {
	if c.Schema != nil {
		schema := s.of(c)
		if schema == nil || schema.Validate(vals) != nil {
			return false
		}
	}
	for _, dependency := range c.Dependencies() {
		value, found := vals[dependency.Name()]
		if !found || value == nil {
			continue
		}
		if nested, isMap := value.(map[string]any); !isMap || !s.accepts(dependency, nested) {
			return false
		}
	}
	return true
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
