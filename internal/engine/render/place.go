package render

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
)

// place finds the line of the template that a mistake of the chart comes from, if rendering it again shows it.
func (r *Renderer) place(of run, err error) error {
	var fault *ChartError
	var document *documentError
	if refused, found := errors.AsType[*SpecError](err); found {
		if file, number, placed := strings.Cut(refused.At, " line "); placed {
			refused.Excerpt = r.excerpt(file, number, refused.Column)
		}
		return err
	}
	if !errors.As(err, &fault) {
		return err
	}
	if file, number, placed := strings.Cut(fault.At, " line "); placed {
		fault.Excerpt = r.excerpt(file, number, fault.Column)
		return err
	}
	isLimit := fault.Rule == appchart.RuleBounds
	if !isLimit && !errors.As(err, &document) {
		return err
	}
	traced, text := r.trace(of, fault.At)
	if traced == nil {
		return err
	}
	if isLimit {
		r.placeLine(fault, traced, traced.line)
		return fault
	}
	begins := 1
	if at := strings.Index(text, strings.TrimSpace(document.text)); at > 0 {
		begins += strings.Count(text[:at], "\n")
	}
	found, column, message := appchart.YAMLMistake(strings.TrimSpace(document.text))
	if found == 0 {
		found, column = 1, 1
	}
	if message != "" {
		if r.Published.Is() {
			message = unquoted(message)
		}
		fault.Err = errors.New("the rendered text is not YAML: " + message)
	}
	found += begins - 1
	fault.At = line(fault.At, strconv.Itoa(traced.origin(found)))
	fault.Excerpt = "  rendered:\n" + appchart.Excerpt(text, found, column)
	return fault
}

// excerpt returns the lines of a template around a number. If the column is not known, it is that of the first action
// of the line.
func (r *Renderer) excerpt(file, number string, column int) string {
	at, _ := strconv.Atoi(number) // it is digits
	for _, template := range appchart.TemplateFiles(r.Chart) {
		lines := strings.Split(template.Text, "\n")
		if template.Name == file && at > 0 && at <= len(lines) {
			if column == 0 {
				column = max(0, strings.Index(lines[at-1], "{{")) + 1
			}
			return appchart.Excerpt(template.Text, at, column)
		}
	}
	return ""
}

// placeField finds the line of the object's field that a mistake is about.
func (r *Renderer) placeField(fault *ChartError, object *unstructured.Unstructured, path []any, of run) {
	traced, text := r.trace(of, fault.At)
	if traced == nil {
		return
	}
	documents := yaml.NewDecoder(strings.NewReader(text))
	for {
		var document yaml.Node
		if documents.Decode(&document) != nil {
			return
		}
		if len(document.Content) == 0 {
			continue
		}
		root := document.Content[0]
		if textAt(root, "kind") != object.GetKind() || textAt(root, "metadata", "name") != object.GetName() {
			continue
		}
		r.placeLine(fault, traced, traced.origin(lineOf(root, path)))
		return
	}
}

// placeLine records the line of the template that a mistake is on.
func (r *Renderer) placeLine(fault *ChartError, traced *trace, at int) {
	if at < 1 {
		return
	}
	fault.At = line(fault.At, strconv.Itoa(at))
	shown := ""
	if lines := strings.Split(traced.text, "\n"); at <= len(lines) {
		shown = lines[at-1]
	}
	fault.Column = len(shown) - len(strings.TrimLeft(shown, " \t")) + 1
	fault.Excerpt = appchart.Excerpt(traced.text, at, fault.Column)
}

// lineOf returns the line of the deepest field of a path that exists.
func lineOf(node *yaml.Node, path []any) int {
	line := node.Line
	for _, step := range path {
		key, next := appchart.Child(node, fmt.Sprint(step))
		if next == nil {
			return line
		}
		line, node = key.Line, next
	}
	return line
}

func textAt(node *yaml.Node, path ...string) string {
	for _, step := range path {
		if _, node = appchart.Child(node, step); node == nil {
			return ""
		}
	}
	return node.Value
}

// trace renders one file again, and follows which of its lines the output comes from. It returns nil if there is no
// such file.
func (r *Renderer) trace(of run, file string) (*trace, string) {
	enabled, input, err := r.input(of)
	if err != nil {
		return nil, ""
	}
	for _, template := range appchart.TemplateFiles(enabled) {
		if template.Name == file {
			traced := &trace{file: file, text: template.Text}
			rendered, _ := r.engine().of(enabled).execute(enabled, input, first, "", traced)
			return traced, rendered.files[file]
		}
	}
	return nil, ""
}
