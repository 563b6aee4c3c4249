package specs

import (
	"context"
	"fmt"
	"math"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
)

// Checker validates objects as the API server does: defaults, schema, rules, and no unknown fields.
type Checker struct {
	structural *schema.Structural
	schema     validation.SchemaValidator
	rules      *cel.Validator
}

// NewChecker makes a checker of the CRD in a file.
func NewChecker(file string) (*Checker, error) {
	_, props, err := ReadSchema(file)
	if err != nil {
		return nil, err
	}
	c := &Checker{}
	if c.structural, err = schema.NewStructural(props); err != nil {
		return nil, err
	}
	if c.schema, _, err = validation.NewSchemaValidator(props); err != nil {
		return nil, err
	}
	c.rules = cel.NewValidator(c.structural, true, math.MaxInt64)
	return c, nil
}

// Check validates an object. The object stays as it is.
func (c *Checker) Check(object map[string]any) error {
	object = runtime.DeepCopyJSON(object)
	defaulting.Default(object, c.structural)
	errs := validation.ValidateCustomResource(nil, object, c.schema)
	if len(errs) == 0 && c.rules != nil {
		errs, _ = c.rules.Validate(context.Background(), nil, c.structural, object, nil, math.MaxInt64)
	}
	if len(errs) > 0 {
		return errs.ToAggregate()
	}
	track := schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	if unknown := pruning.PruneWithOptions(object, c.structural, true, track); len(unknown) > 0 {
		return fmt.Errorf("unknown fields: %s", strings.Join(unknown, ", "))
	}
	return nil
}
