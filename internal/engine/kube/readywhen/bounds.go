package readywhen

import (
	"fmt"
	"regexp/syntax"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/util/sets"
)

// allowed are the functions that expressions may use. Their results are no larger than their arguments, and their cost
// is charged correctly. That is not true of others in the API server's libraries, which limit both by the schema of
// a CRD: replace, join, format and flatten produce texts and lists of any size, and a quantity may have a billion
// digits.
var allowed = sets.New(strings.Fields(functions)...).Insert(
	operators.Conditional, operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.NotStrictlyFalse,
	operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater,
	operators.GreaterEquals,
	operators.Add, operators.Subtract, operators.Multiply, operators.Divide, operators.Modulo, operators.Negate,
	operators.In, operators.Index, operators.OptIndex, operators.OptSelect)

const functions = `
	size contains startsWith endsWith matches charAt indexOf lastIndexOf lowerAscii upperAscii substring trim
	bool double dyn int string type uint timestamp duration
	getFullYear getMonth getDate getDayOfMonth getDayOfWeek getDayOfYear getHours getMinutes getSeconds getMilliseconds
	hasValue value or orValue`

// maxPatterns is the maximum size of all regular expressions in an expression, as measured by length.
const maxPatterns = 2_000

// bounded returns an error if an expression could grow beyond the object that it is about.
func bounded(parsed *cel.Ast) error {
	tree := parsed.NativeRep()
	walk := &walker{source: tree.SourceInfo()}
	return walk.expression(tree.Expr(), "")
}

type walker struct {
	source   *ast.SourceInfo
	patterns int // their total length so far
}

func (w *walker) refuse(e ast.Expr, words string, args ...any) error {
	return at(w.source.GetStartLocation(e.ID()), fmt.Sprintf(words, args...))
}

// expression walks through e; item is the variable of the innermost all, exists or filter.
func (w *walker) expression(e ast.Expr, item string) error {
	switch e.Kind() {
	case ast.SelectKind:
		return w.expression(e.AsSelect().Operand(), item)
	case ast.CallKind:
		return w.call(e, item)
	case ast.ComprehensionKind:
		return w.comprehension(e, item)
	case ast.ListKind:
		for _, element := range e.AsList().Elements() {
			filtered := element.Kind() == ast.IdentKind && element.AsIdent() == item && e.AsList().Size() == 1
			if element.Kind() != ast.LiteralKind && !filtered {
				return w.refuse(element, "a list may hold constants only: use all, exists or filter instead of map, and || instead of a list of fields")
			}
		}
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			for _, part := range []ast.Expr{entry.AsMapEntry().Key(), entry.AsMapEntry().Value()} {
				if part.Kind() != ast.LiteralKind {
					return w.refuse(part, "a map may hold constants only")
				}
			}
		}
	case ast.StructKind:
		return w.refuse(e, "%s cannot be made here", e.AsStruct().TypeName())
	}
	return nil
}

func (w *walker) call(e ast.Expr, item string) error {
	call := e.AsCall()
	if !allowed.Has(call.FunctionName()) {
		return w.refuse(e, "the function %s cannot be used: its cost has no limit, or it does not exist", call.FunctionName())
	}
	parts := call.Args()
	if call.IsMemberFunction() {
		parts = append([]ast.Expr{call.Target()}, parts...)
	}
	if call.FunctionName() == "matches" && len(parts) > 0 {
		if err := w.pattern(parts); err != nil {
			return err
		}
	}
	for _, part := range parts {
		if err := w.expression(part, item); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) comprehension(e ast.Expr, item string) error {
	c := e.AsComprehension()
	if err := w.expression(c.IterRange(), item); err != nil {
		return err
	}
	for _, part := range []ast.Expr{c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result()} {
		if err := w.expression(part, c.IterVar()); err != nil {
			return err
		}
	}
	return nil
}

// pattern limits the regular expression of a call of matches.
func (w *walker) pattern(parts []ast.Expr) error {
	last := parts[len(parts)-1]
	if last.Kind() != ast.LiteralKind || last.AsLiteral().Type() != types.StringType {
		return w.refuse(last, "a regular expression must be a constant")
	}
	parsed, err := syntax.Parse(string(last.AsLiteral().(types.String)), syntax.Perl)
	if err != nil {
		return w.refuse(last, "%v", err)
	}
	if w.patterns += length(parsed); w.patterns > maxPatterns {
		return w.refuse(last, "the regular expression is too large: let it repeat less")
	}
	return nil
}

// length estimates the number of instructions of a compiled regular expression.
func length(pattern *syntax.Regexp) int {
	total := 1 + len(pattern.Rune)
	for _, part := range pattern.Sub {
		total += length(part)
	}
	if pattern.Op == syntax.OpRepeat {
		total *= max(pattern.Min, pattern.Max, 1)
	}
	return total
}
