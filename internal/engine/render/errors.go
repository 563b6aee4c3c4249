package render

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/text"
)

// An error of rendering is the fault of the spec (an InvalidSpecError or a SpecError) or of the chart (a ChartError). A
// hooks.PodSecurityError leaves that open: it has a reason of its own.

// notFound stands for the value if none of those that are tried helps.
const notFound = "no value was found that avoids it"

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
	// Rule is the rule of internal/plugin/lint that is broken; empty for errors of rendering itself.
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

// documentError says what is wrong with a document in the output of a template.
type documentError struct {
	text string
	err  error
}

func (e *documentError) Error() string { return e.err.Error() }
func (e *documentError) Unwrap() error { return e.err }

// InvalidSpecError says that the spec cannot be translated into values.
type InvalidSpecError struct{ Err error }

func (e *InvalidSpecError) Error() string { return e.Err.Error() }

// Reason returns the reason of Ready.
func (e *InvalidSpecError) Reason() string { return v1.ReasonInvalidSpec }

// Unwrap returns the cause.
func (e *InvalidSpecError) Unwrap() error { return e.Err }

// unquoted returns a message of a YAML parser up to the first text that it quotes.
func unquoted(message string) string {
	if at := strings.IndexAny(message, "'`\""); at >= 0 {
		return strings.TrimSpace(message[:at])
	}
	return message
}
