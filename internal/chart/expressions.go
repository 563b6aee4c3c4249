package chart

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/readywhen"
)

var (
	comments = regexp.MustCompile(`(?s)\{\{-?\s*/\*.*?\*/\s*-?\}\}`)
	// expressionLine has the indentation and the name of an annotation.
	expressionLine = regexp.MustCompile(`^( *)["']?(` + regexp.QuoteMeta(v1.AnnotationReadyWhen) + `|` + regexp.QuoteMeta(v1.AnnotationReadyMessage) + `)["']?:(?:\s|$)`)
)

// checkExpressions looks for wrong expressions that stand in the templates as they are. It reads the text rather than what the
// defaults render: that has no lines, lacks what is off by default, and is nothing at all if the chart refuses its defaults. Those
// that a template computes are checked when they are rendered.
func checkExpressions(c *chart.Chart) error {
	for _, template := range c.Templates {
		text := comments.ReplaceAllStringFunc(string(template.Data), func(comment string) string {
			return strings.Repeat("\n", strings.Count(comment, "\n"))
		})
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			found := expressionLine.FindStringSubmatch(line)
			if found == nil {
				continue
			}
			if err := checkEntry(found[2], entry(lines[i:], len(found[1]))); err != nil {
				return fmt.Errorf("%s:%d: annotation %s: %w", path.Join(c.ChartFullPath(), template.Name), i+1, found[2], err)
			}
		}
	}
	for _, dependency := range c.Dependencies() {
		if err := checkExpressions(dependency); err != nil {
			return err
		}
	}
	return nil
}

// entry is the first line and those that belong to it: they are indented more.
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
		return nil // it is what rendering says
	}
	expression, isText := read[annotation].(string)
	if !isText {
		return errors.New("it is no text: quote it")
	}
	return readywhen.Expression(annotation, expression)
}
