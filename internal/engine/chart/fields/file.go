package fields

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Name is the file name in the folder of a chart.
const Name = "fields.yaml"

// File is a parsed fields.yaml.
type File struct {
	// Path is the file's name in messages.
	Path string
	// Kind describes a kind that has no Go type; nil if the file does not.
	Kind *Kind
	// Spec is the schema of all fields together, of type object. It may have references and quantities: see Resolved.
	Spec *apiextensionsv1.JSONSchemaProps

	lines map[string]int // by path in the schema, as in .properties[a].type
}

// Kind holds the properties of a CRD other than its schema.
type Kind struct {
	Description string   `json:"description"`
	Title       string   `json:"title"`
	Plural      string   `json:"plural"`
	ShortNames  []string `json:"shortNames"`
	Categories  []string `json:"categories"`
}

// Problem is a mistake with its position. Lines count from 1; 0 if unknown.
type Problem struct {
	File string
	Line int
	Text string
}

func (p Problem) Error() string { return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text) }

// Problems are the mistakes of files as one error.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, 0, len(p))
	for _, problem := range p {
		lines = append(lines, problem.Error())
	}
	return strings.Join(lines, "\n")
}

// err returns the mistakes sorted by line; nil if there are none.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	slices.SortFunc(p, func(a, b Problem) int { return cmp.Or(a.Line-b.Line, strings.Compare(a.Text, b.Text)) })
	return slices.Compact(p)
}

// Paths returns the paths of all leaf fields that the file declares, as in spec.topology.zoneCount or
// spec.hooks[].name; none for nil.
func (f *File) Paths() []string {
	if f == nil {
		return nil
	}
	return paths(f.Spec, "spec")
}

func paths(s *props, at string) []string {
	switch items := Items(s); {
	case items != nil:
		return paths(items, at+"[]")
	case len(s.Properties) == 0 && at != "spec":
		return []string{at}
	}
	var list []string
	for _, name := range Names(s) {
		list = append(list, paths(Property(s, name), at+"."+name)...)
	}
	return list
}

// LineOf returns the line of a field by its path, as in spec.hooks[].name.
func (f *File) LineOf(path string) int {
	at := ""
	for _, step := range strings.Split(path, ".")[1:] {
		name := strings.TrimRight(step, "[]")
		at += ".properties[" + name + "]" + strings.ReplaceAll(step[len(name):], "[]", ".items")
	}
	return f.line(at)
}

// line returns the line of a path, or of the nearest one above it that the file has.
func (f *File) line(path string) int {
	for {
		if line, found := f.lines[path]; found {
			return line
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
}

// problem returns a mistake at a path, which is shown as in spec.hooks[].name.type.
func (f *File) problem(path, text string) Problem {
	shown, _, _ := strings.Cut(path, ".x-kubernetes-validations") // the line says which rule it is
	if strings.HasPrefix(shown, ".properties[") {
		shown = "spec" + asField.Replace(shown)
	}
	return Problem{f.Path, f.line(path), cmp.Or(strings.TrimPrefix(shown, "."), "spec") + ": " + text}
}

// asField replaces paths of schemas by paths of fields.
var asField = strings.NewReplacer(
	".items.properties[", "[].", ".additionalProperties.properties[", ".*.", ".properties[", ".", "]", "",
)

// parser collects mistakes: one pass shows them all.
type parser struct {
	file  *File
	found Problems
}

// report adds a mistake at a path.
func (p *parser) report(at, text string, args ...any) {
	p.found = append(p.found, p.file.problem(at, fmt.Sprintf(text, args...)))
}
