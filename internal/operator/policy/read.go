package policy

import (
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/example/appservice-operator/internal/engine/chart/fields"
)

// Read parses the text of a policy file; name is its name in messages. The error is fields.Problems, with all problems
// and their lines.
func Read(name string, text []byte) (*Policy, error) {
	file, err := parse(name, text)
	if err != nil {
		return nil, err
	}
	return compile(name, text, file), nil
}

// parse reads a file strictly.
func parse(name string, text []byte) (*File, error) {
	r := &reader{name: name}
	file := &File{}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fields.NotYAML(name, err)
	}
	if len(document.Content) > 0 {
		r.read(document.Content[0], reflect.ValueOf(file).Elem(), "")
	}
	if len(r.found) > 0 {
		return nil, r.found
	}
	return file, nil
}

// reader collects all mistakes in one pass.
type reader struct {
	name  string
	found fields.Problems
}

func (r *reader) report(line int, text string, args ...any) {
	r.found = append(r.found, fields.Problem{File: r.name, Line: line, Text: fmt.Sprintf(text, args...)})
}

// checked is a list whose entries may be invalid.
type checked interface{ check(item string) error }

// read decodes a node into a value, by the value's type.
func (r *reader) read(node *yaml.Node, into reflect.Value, at string) {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if text, is := into.Addr().Interface().(encoding.TextUnmarshaler); is {
		if err := text.UnmarshalText([]byte(node.Value)); err != nil { // only a scalar has a text
			r.report(node.Line, "%s: %v", at, err)
		}
		return
	}
	switch into.Kind() {
	case reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		r.read(node, into.Elem(), at)
	case reflect.Struct:
		known := map[string]reflect.Value{}
		for _, field := range reflect.VisibleFields(into.Type()) {
			if !field.Anonymous {
				known[nameOf(field)] = into.FieldByIndex(field.Index)
			}
		}
		r.pairs(node, at, func(key, value *yaml.Node, below string) {
			field, there := known[key.Value]
			if !there {
				r.report(key.Line, "%s is not known%s", below, fields.DidYouMean(key.Value, slices.Sorted(maps.Keys(known))))
				return
			}
			r.read(value, field, below)
		})
	case reflect.Map:
		into.Set(reflect.MakeMap(into.Type()))
		r.pairs(node, at, func(key, value *yaml.Node, below string) {
			item := reflect.New(into.Type().Elem()).Elem()
			r.read(value, item, below)
			into.SetMapIndex(reflect.ValueOf(key.Value), item)
		})
	case reflect.Slice:
		r.list(node, into, at)
	default:
		r.scalar(node, into, at)
	}
}

func (r *reader) scalar(node *yaml.Node, into reflect.Value, at string) {
	switch {
	case node.Kind != yaml.ScalarNode || node.Tag == "!!null":
		r.report(node.Line, "%s: must be a %s", at, spoken[into.Kind()])
	case into.Kind() == reflect.String:
		into.SetString(node.Value)
	case node.Decode(into.Addr().Interface()) != nil, into.Kind() == reflect.Int64 && into.Int() < 0:
		r.report(node.Line, "%s: must be a %s, not %s", at, spoken[into.Kind()], node.Value)
	}
}

var spoken = map[reflect.Kind]string{reflect.String: "text", reflect.Bool: "boolean: true or false",
	reflect.Int64: "whole number, at least 0"}

func (r *reader) list(node *yaml.Node, into reflect.Value, at string) {
	if node.Kind != yaml.SequenceNode {
		r.report(node.Line, "%s: must be a list; [] allows nothing", at)
		return
	}
	into.Set(reflect.MakeSlice(into.Type(), len(node.Content), len(node.Content)))
	rules, isChecked := into.Interface().(checked)
	if isChecked && len(node.Content) > 0 &&
		!slices.ContainsFunc(node.Content, func(item *yaml.Node) bool { return !strings.HasPrefix(item.Value, refuses) }) {
		r.report(node.Line, `%s: the list allows nothing: begin with "+", for what the list is laid over, or "*"`, at)
	}
	for i, item := range node.Content {
		below := fmt.Sprintf("%s[%d]", at, i)
		before := len(r.found)
		r.read(item, into.Index(i), below)
		if entry, is := into.Index(i).Addr().Interface().(*Entry); is {
			r.entry(item.Line, entry, below)
		}
		if !isChecked || len(r.found) > before || i == 0 && item.Value == beneath {
			continue
		}
		if item.Value == beneath {
			r.report(item.Line, `%s: "+" stands for what the list is laid over, and must come first`, below)
		} else if err := rules.check(item.Value); err != nil {
			r.report(item.Line, "%s: %v", below, err)
		}
	}
}

// pairs calls visit for each entry of a map, once for each key.
func (r *reader) pairs(node *yaml.Node, at string, visit func(key, value *yaml.Node, below string)) {
	if node.Kind != yaml.MappingNode {
		if node.Tag != "!!null" {
			r.report(node.Line, "%s: must be a map", at)
		}
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		below := strings.TrimPrefix(at+"."+key.Value, ".")
		if seen[key.Value] {
			r.report(key.Line, "%s is there twice", below)
			continue
		}
		seen[key.Value] = true
		visit(key, value, below)
	}
}

// entry checks to which namespaces an entry applies.
func (r *reader) entry(line int, entry *Entry, at string) {
	if len(entry.Names) == 0 && entry.Selector == nil {
		r.report(line, "%s: applies to no namespace: set names or selector; default is for all", at)
	}
	if _, err := selectorOf(entry.Selector); err != nil {
		r.report(line, "%s.selector: %v", at, err)
	}
}

// selectorOf returns the label selector of an entry; nil for none.
func selectorOf(s *metav1.LabelSelector) (labels.Selector, error) {
	if s == nil {
		return nil, nil // apimachinery takes it for a selector of nothing
	}
	return metav1.LabelSelectorAsSelector(s)
}
