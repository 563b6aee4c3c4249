package readywhen

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/interpreter"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/utils/lru"
)

// MaxExpression is the maximum length of an expression in bytes.
const MaxExpression = 1 << 10

// cacheSize is the number of cached compiled expressions, with about 20 KiB each, and 300 KiB at worst.
const cacheSize = 64

// expressionError says what is wrong with an expression, and where.
type expressionError struct {
	column int // counted from 1; 0 if it is about all of it
	words  string
}

func (e *expressionError) Error() string {
	if e.column == 0 {
		return e.words
	}
	return fmt.Sprintf("column %d: %s", e.column, e.words)
}

// compiled is an expression that can be evaluated, or the reason why it cannot.
type compiled struct {
	ast     *cel.Ast
	program cel.Program
	err     error
}

// cache holds the expressions compiled last. It is safe for concurrent use.
type cache struct{ entries *lru.Cache }

var programs = cache{lru.New(cacheSize)}

// of returns a compiled expression.
func (c cache) of(expression string) (*compiled, error) {
	if strings.TrimSpace(expression) == "" {
		return nil, &expressionError{words: "empty: leave the annotation out"}
	}
	if len(expression) > MaxExpression { // not kept, either: it may be of any size
		return nil, &expressionError{words: fmt.Sprintf("has %d bytes, at most %d are allowed", len(expression),
			MaxExpression)}
	}
	if known, found := c.entries.Get(expression); found {
		return known.(*compiled), known.(*compiled).err
	}
	fresh := &compiled{}
	fresh.ast, fresh.program, fresh.err = compile(expression)
	c.entries.Add(expression, fresh)
	return fresh, fresh.err
}

// language is the environment of the API server's own rules, as of the version before its newest: an object is called
// self.
var language = sync.OnceValues(func() (*cel.Env, error) {
	base := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	set, err := base.Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        []cel.EnvOption{cel.Variable("self", cel.DynType)},
		ProgramOptions:    []cel.ProgramOption{cel.CostLimit(costLimit), cel.CostTracking(&estimator{})},
	})
	if err != nil {
		return nil, err
	}
	return set.NewExpressionsEnv(), nil
})

// compile parses, bounds and checks an expression, in this order: checking compiles regular expressions.
func compile(expression string) (*cel.Ast, cel.Program, error) {
	env, err := language()
	if err != nil {
		return nil, nil, err
	}
	parsed, issues := env.Parse(expression)
	if issues.Err() != nil {
		return nil, nil, firstOf(issues)
	}
	if err := bounded(parsed); err != nil {
		return nil, nil, err
	}
	checked, issues := env.Check(parsed)
	if issues.Err() != nil {
		return nil, nil, firstOf(issues)
	}
	program, err := env.Program(checked)
	if err != nil {
		return nil, nil, &expressionError{words: err.Error()}
	}
	return checked, program, nil
}

// firstOf returns the first of the issues: the others are often its consequences.
func firstOf(issues *cel.Issues) error {
	list := issues.Errors()
	if len(list) == 0 {
		return issues.Err()
	}
	return at(list[0].Location, list[0].Message)
}

func at(place common.Location, words string) error {
	return &expressionError{column: place.Column() + 1, words: words}
}

// explain returns the error of an evaluation: an absentError if the expression reads a missing value.
func (c *compiled) explain(err error) error {
	if absent := absentOf(c.ast, err); absent != nil {
		return absent
	}
	if _, found := errors.AsType[interpreter.EvalCancelledError](err); found {
		return errors.New("too expensive: use fewer fields or items")
	}
	return fmt.Errorf("cannot be evaluated: %w", err)
}
