package fields

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
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

func textOf(c *chart.Chart) (text []byte, found bool) {
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
	report := func(at, text string) { found = append(found, f.problem(at, fmt.Sprintf(text, kind.Kind))) }
	for name := range f.Spec.Properties {
		if Members(core)[name] != nil {
			report(".properties["+name+"]", "%s has this field already: take another name")
		}
	}
	if len(f.Spec.Required) > 0 {
		report(".required", "there are %ss without a new field, so it cannot be required: give it a default")
	}
	if f.Kind != nil {
		report(".kind", "%s is described by its Go type")
	}
	return found.err()
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
