package chart

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/readywhen"
)

var (
	comments = regexp.MustCompile(`(?s)\{\{-?\s*/\*.*?\*/\s*-?\}\}`)
	// expressionLine matches the indentation and the name of an annotation.
	expressionLine = regexp.MustCompile(`^( *)["']?(` + regexp.QuoteMeta(v1.AnnotationReadyWhen) + `|` + regexp.QuoteMeta(v1.AnnotationReadyMessage) + `)["']?:(?:\s|$)`)
)

// checkExpressions looks for invalid expressions that are written literally in templates. It reads the text rather than the output
// for the defaults: that has no lines, lacks what is off by default, and does not exist if the chart refuses its defaults.
// Expressions that a template computes are checked when they are rendered.
func checkExpressions(c *chart.Chart) error {
	for _, file := range slices.Backward(TemplateFiles(c)) {
		text := comments.ReplaceAllStringFunc(file.Text, func(comment string) string {
			return strings.Repeat("\n", strings.Count(comment, "\n"))
		})
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			found := expressionLine.FindStringSubmatch(line)
			if found == nil {
				continue
			}
			if err := checkEntry(found[2], entry(lines[i:], len(found[1]))); err != nil {
				return &Fault{Rule: RuleReadyWhen, File: inside(file), Line: i + 1, Column: len(found[1]) + 1, Message: fmt.Sprintf("annotation %s: %v", found[2], err), Text: file.Text}
			}
		}
	}
	return nil
}

// entry returns the first line and those that belong to it: they are indented more.
func entry(lines []string, indentation int) string {
	end := 1
	for end < len(lines) && (strings.TrimSpace(lines[end]) == "" || strings.HasPrefix(lines[end], strings.Repeat(" ", indentation+1))) {
		end++
	}
	return strings.Join(lines[:end], "\n")
}

func checkEntry(annotation, text string) error {
	var read map[string]any
	if strings.Contains(text, "{{") || yaml.Unmarshal([]byte(text), &read) != nil {
		return nil // checked after rendering
	}
	expression, isText := read[annotation].(string)
	if !isText {
		return errors.New("it is not a string: quote it")
	}
	return readywhen.Expression(annotation, expression)
}
