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
	"github.com/example/appservice-operator/internal/engine/kube/jobs"
	"github.com/example/appservice-operator/internal/engine/kube/readywhen"
	"github.com/example/appservice-operator/internal/engine/kube/stage"
)

var (
	comments = regexp.MustCompile(`(?s)\{\{-?\s*/\*.*?\*/\s*-?\}\}`)
	// checkedAnnotations are the annotations whose values are checked, with the rules for them.
	checkedAnnotations = map[string]string{
		v1.AnnotationReadyWhen: RuleReadyWhen, v1.AnnotationReadyMessage: RuleReadyWhen,
		v1.AnnotationRerun: RuleRerun, v1.AnnotationStage: RuleStage,
	}
	// annotationLine matches the indentation and the name of an annotation of the operator.
	annotationLine = regexp.MustCompile(`^( *)["']?(app\.example\.com/[a-z-]+)["']?:(?:\s|$)`)
)

// checkExpressions looks for invalid expressions, lists of fields, and stages that are written literally in templates.
// It reads the text rather than the output for the defaults: that has no lines, lacks what is off by default, and does
// not exist if the chart refuses its defaults. Expressions that a template computes are checked when it is rendered.
func checkExpressions(c *chart.Chart) error {
	for _, file := range slices.Backward(TemplateFiles(c)) {
		lines := strings.Split(file.withoutComments(), "\n")
		for i, line := range lines {
			found := annotationLine.FindStringSubmatch(line)
			if found == nil || checkedAnnotations[found[2]] == "" {
				continue
			}
			if err := checkEntry(c, found[2], entry(lines[i:], len(found[1]))); err != nil {
				rule := checkedAnnotations[found[2]]
				return &Fault{Rule: rule, File: inside(file), Line: i + 1, Column: len(found[1]) + 1,
					Message: fmt.Sprintf("annotation %s: %v", found[2], err), Text: file.Text}
			}
		}
	}
	return nil
}

// withoutComments returns the text of a template without its comments: the rest stays in its lines.
func (t *Template) withoutComments() string {
	return comments.ReplaceAllStringFunc(t.Text,
		func(comment string) string { return strings.Repeat("\n", strings.Count(comment, "\n")) })
}

// entry returns the first line and those that belong to it: they are indented more.
func entry(lines []string, indentation int) string {
	end := 1
	for end < len(lines) && (strings.TrimSpace(lines[end]) == "" ||
		strings.HasPrefix(lines[end], strings.Repeat(" ", indentation+1))) {
		end++
	}
	return strings.Join(lines[:end], "\n")
}

func checkEntry(c *chart.Chart, annotation, text string) error {
	var read map[string]any
	if strings.Contains(text, "{{") || yaml.Unmarshal([]byte(text), &read) != nil {
		return nil // checked after rendering
	}
	expression, isText := read[annotation].(string)
	if !isText {
		return errors.New("not a string: quote it")
	}
	switch annotation {
	case v1.AnnotationRerun:
		return CheckRerun(c, expression)
	case v1.AnnotationStage:
		return stage.CheckName(expression)
	}
	return readywhen.Expression(annotation, expression)
}

// CheckRerun returns an error if a value of the annotation rerun-on-change names something that is no field of the
// chart's spec.
func CheckRerun(c *chart.Chart, value string) error {
	// then the CRD alone defines its spec
	if value == jobs.Rendered || value == "false" || len(c.Values) == 0 && len(c.Schema) == 0 {
		return nil
	}
	var schema struct {
		Properties map[string]any `json:"properties"`
	}
	_ = yaml.Unmarshal(c.Schema, &schema) // Helm reports a schema that is wrong
	for _, field := range jobs.Fields(value) {
		if c.Values[field] == nil && schema.Properties[field] == nil {
			return fmt.Errorf("%q is no field of the spec: name the fields that say what the Job runs, as in image,command,args, or \"true\" for all of the Job", field)
		}
	}
	return nil
}
