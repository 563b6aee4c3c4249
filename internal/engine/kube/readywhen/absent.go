package readywhen

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/example/appservice-operator/internal/engine/text"
)

// absentError reports that an expression reads a missing value, which is usual before a controller has written a
// status.
type absentError struct{ path string }

func (e *absentError) Error() string { return e.path + " is not set" }

// CEL has no type for these.
var absences = []string{"no such key: ", "index out of bounds: "}

// absentOf returns the missing value; nil if the error is another.
func absentOf(tree *cel.Ast, err error) *absentError {
	for _, absence := range absences {
		if key, found := strings.CutPrefix(err.Error(), absence); found {
			return &absentError{text.Line(pathTo(tree, err, key))}
		}
	}
	if err.Error() == "optional.none() dereference" {
		return &absentError{"an optional value"}
	}
	return nil
}

// pathTo returns the path of the field or item with a key, for example status.conditions[0], as far as the expression
// shows it.
func pathTo(tree *cel.Ast, err error, key string) string {
	var failed *types.Err
	if !errors.As(err, &failed) {
		return key
	}
	found := key
	ast.PostOrderVisit(tree.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.ID() == failed.NodeID() {
			if path := prefix(e, key); path != "" {
				found = path
			}
		}
	}))
	return found
}

// prefix returns the path of e up to the first step with the key; empty if there is none.
func prefix(e ast.Expr, key string) string {
	operand, step := last(e)
	if operand == nil {
		return ""
	}
	if shorter := prefix(operand, key); shorter != "" {
		return shorter
	}
	if step == key || step == "" {
		return path(operand, key)
	}
	return ""
}

// last splits the last step off a path; the step is empty if it is computed.
func last(e ast.Expr) (operand ast.Expr, step string) {
	if e.Kind() == ast.SelectKind {
		return e.AsSelect().Operand(), e.AsSelect().FieldName()
	}
	if e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.Index {
		if index := e.AsCall().Args()[1]; index.Kind() == ast.LiteralKind {
			step = fmt.Sprint(index.AsLiteral().Value())
		}
		return e.AsCall().Args()[0], step
	}
	return nil, ""
}

// path prints an operand and one more step.
func path(operand ast.Expr, step string) string {
	before := ""
	switch inner, name := last(operand); {
	case inner != nil && name != "":
		before = path(inner, name)
	case inner != nil:
		before = path(inner, "…")
	case operand.Kind() == ast.ComprehensionKind:
		before = "a selection"
		if from, name := last(operand.AsComprehension().IterRange()); from != nil && name != "" {
			before = "a selection of " + path(from, name)
		}
	case operand.Kind() == ast.IdentKind && operand.AsIdent() != "self":
		before = operand.AsIdent()
	case operand.Kind() != ast.IdentKind:
		before = "a value"
	}
	switch {
	case strings.Trim(step, "0123456789") == "":
		return before + "[" + step + "]"
	case strings.ContainsAny(step, "./-"):
		return before + "['" + step + "']"
	case before == "":
		return step
	}
	return before + "." + step
}
