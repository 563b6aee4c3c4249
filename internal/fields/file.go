package fields

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Name is the file name in the folder of a chart.
const Name = "fields.yaml"

// File is a parsed fields.yaml.
type File struct {
	// Path is the file's name in messages.
	Path string
	// Kind describes a kind that has no Go type; nil if the file does not.
	Kind *Kind
	// Spec is the schema of all fields together, of type object.
	Spec *Schema
}

// Kind holds the properties of a CRD other than its schema.
type Kind struct {
	Description, Title, Plural string
	ShortNames, Categories     []string

	line int
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
	return p
}

// Of parses the fields.yaml of a chart for a kind. It returns nil if the chart has none.
func Of(c *chart.Chart, kind schema.GroupVersionKind) (*File, error) {
	return OfFolder(c, c.Name(), kind)
}

// OfFolder is like Of, with the chart's folder as it appears in messages.
func OfFolder(c *chart.Chart, dir string, kind schema.GroupVersionKind) (*File, error) {
	text, there := textOf(c)
	if !there {
		return nil, nil
	}
	return For(kind, path.Join(dir, Name), text)
}

func textOf(c *chart.Chart) (text []byte, there bool) {
	for _, file := range c.Files {
		if file.Name == Name {
			return file.Data, true
		}
	}
	return nil, false
}

// For parses the text of a fields.yaml for a kind; name is the file's name in messages.
func For(kind schema.GroupVersionKind, name string, text []byte) (*File, error) {
	file, err := Parse(name, text)
	if err != nil {
		return nil, err
	}
	return file, file.fit(kind)
}

// fit checks the fields against the Go type of the kind, if it has one.
func (f *File) fit(kind schema.GroupVersionKind) error {
	core, typed := Core(kind)
	if !typed {
		return nil
	}
	var found Problems
	report := func(line int, text string, args ...any) {
		found = append(found, Problem{f.Path, line, fmt.Sprintf(text, args...)})
	}
	for name, field := range f.Spec.Properties {
		if _, clash := member(core, name); clash {
			report(field.Line, "spec.%s is a field of %s already: take another name", name, kind.Kind)
		}
	}
	if len(f.Spec.Required) > 0 {
		report(f.Spec.LineOf("required"), "there are %ss without a new field, so it cannot be required: give it a default", kind.Kind)
	}
	if f.Kind != nil {
		report(f.Kind.line, "kind: %s is described by its Go type", kind.Kind)
	}
	return found.err()
}

// Paths returns the paths of all leaf fields that the file declares, as in spec.topology.zoneCount or spec.hooks[].name; none for nil.
func (f *File) Paths() []string {
	if f == nil {
		return nil
	}
	return f.Spec.paths("spec")
}

func (s *Schema) paths(at string) []string {
	switch {
	case s.Items != nil:
		return s.Items.paths(at + "[]")
	case len(s.Properties) == 0 && at != "spec":
		return []string{at}
	}
	var list []string
	for _, name := range s.Names() {
		list = append(list, s.Properties[name].paths(at+"."+name)...)
	}
	return list
}
