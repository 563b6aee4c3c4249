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

// Name is that of the file in the folder of a chart.
const Name = "fields.yaml"

// File is what a chart declares.
type File struct {
	// Path is how messages call the file.
	Path string
	// Kind describes a kind that has no Go type; nil if the file does not.
	Kind *Kind
	// Spec is the schema of all fields together, of type object.
	Spec *Schema
}

// Kind is what a CRD says of a kind besides its schema.
type Kind struct {
	Description, Title, Plural string
	ShortNames, Categories     []string

	line int
}

// Problem is a mistake, with the place where it is.
type Problem struct {
	File string
	Line int
	Text string
}

func (p Problem) Error() string { return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text) }

// Problems are all mistakes of a file, in the order of its lines.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, 0, len(p))
	for _, problem := range p {
		lines = append(lines, problem.Error())
	}
	return strings.Join(lines, "\n")
}

// err returns the mistakes in order; nil if there is none.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	slices.SortFunc(p, func(a, b Problem) int { return cmp.Or(a.Line-b.Line, strings.Compare(a.Text, b.Text)) })
	return p
}

// Of returns what a chart declares for a kind. A chart without the file declares nothing; what it returns then is nil.
func Of(c *chart.Chart, kind schema.GroupVersionKind) (*File, error) {
	return OfFolder(c, c.Name(), kind)
}

// OfFolder is Of for a chart whose folder messages are to name.
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

// For parses the text of a file for a kind; name is how messages call the file.
func For(kind schema.GroupVersionKind, name string, text []byte) (*File, error) {
	file, err := Parse(name, text)
	if err != nil {
		return nil, err
	}
	return file, file.fit(kind)
}

// fit checks what depends on the kind that the fields are for.
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

// Paths are those of all fields that the file declares, as in spec.topology.zoneCount or spec.hooks[].name; none if there is no file.
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
