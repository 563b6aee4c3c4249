package chart

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"helm.sh/helm/v3/pkg/chart"

	"github.com/example/appservice-operator/internal/engine/chart/fields"
	"github.com/example/appservice-operator/internal/engine/text"
)

// Fault is a mistake at a place of a chart.
type Fault struct {
	// Rule is the broken rule.
	Rule string
	// File is its path in the chart, for example templates/cronjob.yaml or charts/sub/values.yaml.
	File string
	// Line and Column count from 1; 0 if they are not known.
	Line, Column int
	// Message says what is wrong there, in one line; it follows the place.
	Message string
	// Remedy says what to do; empty if the message does.
	Remedy string
	// Text of the file.
	Text string
}

// Error returns one line.
func (f *Fault) Error() string {
	message := text.Line(f.Message)
	if f.Remedy != "" {
		message += "; " + f.Remedy
	}
	if f.Line == 0 {
		return f.File + ": " + message
	}
	return fmt.Sprintf("%s:%d %s", f.File, f.Line, message)
}

// Explain returns the mistake with the lines around it and a caret at its column.
func (f *Fault) Explain() string {
	out := Place(f.File, f.Line, f.Column) + ": " + text.Line(f.Message) + "\n" + Excerpt(f.Text, f.Line, f.Column)
	if f.Remedy != "" {
		out += "  hint: " + f.Remedy + "\n"
	}
	return out
}

// Place returns file:line:column, as far as known.
func Place(file string, line, column int) string {
	switch {
	case line == 0:
		return file
	case column == 0:
		return fmt.Sprintf("%s:%d", file, line)
	}
	return fmt.Sprintf("%s:%d:%d", file, line, column)
}

// Excerpt returns a line of a text, numbered, between its neighbors; a caret below it marks the column.
func Excerpt(text string, line, column int) string {
	lines := strings.Split(text, "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	var out strings.Builder
	for number := max(1, line-1); number <= min(len(lines), line+1); number++ {
		shown := strings.TrimRight(strings.ReplaceAll(lines[number-1], "\t", " "), " \r")
		if number == len(lines) && shown == "" && number != line {
			break // what follows the last line end
		}
		fmt.Fprintf(&out, "%s\n", strings.TrimRight(fmt.Sprintf("%5d | %s", number, shown), " "))
		if number == line && column > 0 {
			before := lines[number-1][:min(column-1, len(lines[number-1]))]
			fmt.Fprintf(&out, "      | %s^\n", strings.Repeat(" ", utf8.RuneCountInString(before)))
		}
	}
	return out.String()
}

// Explain returns an error with all its lines: the mistakes of a chart with the lines around them.
func Explain(err error) string {
	if list, isList := err.(interface{ Unwrap() []error }); isList {
		parts := make([]string, 0, len(list.Unwrap()))
		for _, part := range list.Unwrap() {
			parts = append(parts, Explain(part))
		}
		return strings.Join(parts, "")
	}
	var explained interface{ Explain() string }
	if errors.As(err, &explained) {
		return explained.Explain()
	}
	if next := errors.Unwrap(err); next != nil {
		if list, isList := next.(interface{ Unwrap() []error }); isList {
			return Explain(list.(error))
		}
	}
	return err.Error() + "\n"
}

// Faults returns the problems with the fields of a chart as faults.
func Faults(c *chart.Chart, problems fields.Problems) error {
	texts := map[string]string{}
	for _, file := range c.Raw {
		texts[file.Name] = string(file.Data)
	}
	var faults []error
	for _, problem := range problems {
		fault := &Fault{Rule: RuleFields, File: problem.File, Line: problem.Line, Message: problem.Text,
			Text: texts[problem.File]}
		if lines := strings.Split(fault.Text, "\n"); problem.Line > 0 && problem.Line <= len(lines) {
			shown := lines[problem.Line-1]
			fault.Column = len(shown) - len(strings.TrimLeft(shown, " ")) + 1
		}
		faults = append(faults, fault)
	}
	return errors.Join(faults...)
}

// ofFields returns an error of a fields.yaml with the places that it names.
func ofFields(c *chart.Chart, err error) error {
	var problems fields.Problems
	if !errors.As(err, &problems) {
		return err
	}
	return Faults(c, problems)
}
