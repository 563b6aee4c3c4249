package fields

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	sigsyaml "sigs.k8s.io/yaml"
)

// Parse parses the text of a fields.yaml; name is the file's name in messages. An empty file declares nothing. The error is of type Problems.
func Parse(name string, text []byte) (*File, error) {
	p := &parser{file: &File{Path: name, Spec: &Schema{Line: 1, Type: "object", lines: map[string]int{}}}}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, Problems{syntax(name, err)}
	}
	if len(document.Content) == 0 {
		return p.file, nil
	}
	if err := unfolds(&document); err != nil {
		return nil, Problems{syntax(name, err)}
	}
	root := document.Content[0]
	p.file.Spec.Line = root.Line
	p.keys(root, "", map[string]func(*yaml.Node){
		"fields":   p.fields,
		"required": func(node *yaml.Node) { p.file.Spec.Required = p.texts(node, "required") },
		"rules":    func(node *yaml.Node) { p.file.Spec.Rules = p.rules(node, "rules") },
		"kind":     p.kind,
	}, nil, p.file.Spec.lines)
	p.check(p.file.Spec, "spec")
	if err := p.found.err(); err != nil {
		return nil, err
	}
	return p.file, nil
}

// unfolds returns an error if aliases in a document are recursive or expand excessively. The YAML package checks this only when it decodes.
func unfolds(document *yaml.Node) error {
	var content any
	err := document.Decode(&content)
	var mistakes *yaml.TypeError // such as a duplicate key, which is reported later with its line
	if errors.As(err, &mistakes) {
		return nil
	}
	return err
}

// parser collects mistakes: one pass shows them all.
type parser struct {
	file  *File
	found Problems
}

func (p *parser) report(line int, text string, args ...any) {
	p.found = append(p.found, Problem{p.file.Path, line, fmt.Sprintf(text, args...)})
}

// yamlLine matches the line number in messages of the YAML parser, whose errors have no field for it.
var yamlLine = regexp.MustCompile(`line (\d+): (?s:(.*))$`)

func syntax(name string, err error) Problem {
	if found := yamlLine.FindStringSubmatch(err.Error()); found != nil {
		line, _ := strconv.Atoi(found[1])
		return Problem{name, line, "it is not YAML: " + found[2]}
	}
	return Problem{name, 1, "it is not YAML: " + strings.TrimPrefix(err.Error(), "yaml: ")}
}

// keys calls the reader of each key of a map, and records the key's line in lines. Refused maps unsupported keys of OpenAPI to a hint.
func (p *parser) keys(node *yaml.Node, at string, readers map[string]func(*yaml.Node), refused map[string]string, lines map[string]int) {
	p.entries(node, at, func(key, value *yaml.Node) {
		name := key.Value
		if instead, known := refused[name]; known {
			p.report(key.Line, "%s%s cannot be used: %s", prefix(at), name, instead)
			return
		}
		read, known := readers[name]
		if !known {
			p.report(key.Line, "%sunknown key %s%s", prefix(at), name, DidYouMean(name, slices.Sorted(maps.Keys(readers))))
			return
		}
		lines[name] = key.Line
		read(value)
	})
}

// entries calls visit for each entry of a map, once for each key.
func (p *parser) entries(node *yaml.Node, at string, visit func(key, value *yaml.Node)) {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if node.Kind != yaml.MappingNode {
		if node.Tag != "!!null" {
			p.report(node.Line, "%sit must be a map", prefix(at))
		}
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if seen[key.Value] {
			p.report(key.Line, "%s%s is there twice", prefix(at), key.Value)
			continue
		}
		seen[key.Value] = true
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		visit(key, value)
	}
}

func prefix(at string) string {
	if at == "" {
		return ""
	}
	return at + ": "
}

func (p *parser) fields(node *yaml.Node) {
	p.file.Spec.Properties = p.properties(node, "spec")
}

func (p *parser) properties(node *yaml.Node, at string) map[string]*Schema {
	all := map[string]*Schema{}
	p.entries(node, at, func(key, value *yaml.Node) {
		path := at + "." + key.Value
		if !fieldName.MatchString(key.Value) {
			p.report(key.Line, "%s: a name must begin with a lower-case letter and contain only letters and digits, so that templates can use .Values.NAME", path)
		}
		all[key.Value] = p.schema(key.Line, value, path)
	})
	return all
}

// fieldName matches names that templates can use without index and that follow the Kubernetes API conventions.
var fieldName = regexp.MustCompile(`^[a-z][A-Za-z0-9]*$`)

// instead maps keys of OpenAPI that structural schemas or this file do not support to a hint.
var instead = map[string]string{
	"nullable":                       "leave the field out instead",
	"oneOf":                          "use x-kubernetes-validations",
	"anyOf":                          "use x-kubernetes-validations, or x-kubernetes-int-or-string: true for integer or string",
	"allOf":                          "use x-kubernetes-validations",
	"not":                            "use x-kubernetes-validations",
	"uniqueItems":                    "use x-kubernetes-list-type: set",
	"const":                          "use an enum of one value",
	"patternProperties":              "use additionalProperties",
	"definitions":                    "use a YAML anchor",
	"x-kubernetes-embedded-resource": "put Kubernetes objects into templates",
}

// schema parses one node; line is the line of its key.
func (p *parser) schema(line int, node *yaml.Node, at string) *Schema {
	s := &Schema{Line: line, lines: map[string]int{}}
	text := func(into *string) func(*yaml.Node) { return func(n *yaml.Node) { *into = p.text(n, at) } }
	flag := func(into *bool) func(*yaml.Node) {
		return func(n *yaml.Node) { p.decode(n, at, "true or false", into) }
	}
	whole := func(into **int64) func(*yaml.Node) {
		return func(n *yaml.Node) { p.decode(n, at, "a whole number", into) }
	}
	number := func(into **float64) func(*yaml.Node) { return func(n *yaml.Node) { p.decode(n, at, "a number", into) } }
	p.keys(node, at, map[string]func(*yaml.Node){
		"$ref": text(&s.Ref), "title": text(&s.Title), "description": text(&s.Description), "type": text(&s.Type),
		"format": text(&s.Format), "pattern": text(&s.Pattern),
		"minimum": number(&s.Minimum), "maximum": number(&s.Maximum), "multipleOf": number(&s.MultipleOf),
		"exclusiveMinimum": flag(&s.ExclusiveMinimum), "exclusiveMaximum": flag(&s.ExclusiveMaximum),
		"minLength": whole(&s.MinLength), "maxLength": whole(&s.MaxLength), "minItems": whole(&s.MinItems), "maxItems": whole(&s.MaxItems),
		"minProperties": whole(&s.MinProperties), "maxProperties": whole(&s.MaxProperties),
		"default": func(n *yaml.Node) { s.Default = p.value(n, at) },
		"enum": func(n *yaml.Node) {
			s.Enum, _ = p.value(n, at).([]any)
			if len(s.Enum) == 0 {
				p.report(n.Line, "%s: enum must be a list of values", at)
			}
		},
		"required":             func(n *yaml.Node) { s.Required = p.texts(n, at) },
		"properties":           func(n *yaml.Node) { s.Properties = p.properties(n, at) },
		"items":                func(n *yaml.Node) { s.Items = p.schema(n.Line, n, at+"[]") },
		"additionalProperties": func(n *yaml.Node) { s.AdditionalProperties = p.additional(n, at) },

		"x-kubernetes-int-or-string":           flag(&s.IntOrString),
		"x-kubernetes-preserve-unknown-fields": flag(&s.PreserveUnknown),
		"x-kubernetes-list-type":               text(&s.ListType),
		"x-kubernetes-map-type":                text(&s.MapType),
		"x-kubernetes-list-map-keys":           func(n *yaml.Node) { s.ListMapKeys = p.texts(n, at) },
		"x-kubernetes-validations":             func(n *yaml.Node) { s.Rules = p.rules(n, at) },
	}, instead, s.lines)
	return s
}

func (p *parser) additional(node *yaml.Node, at string) *Schema {
	if node.Kind == yaml.ScalarNode {
		p.report(node.Line, "%s: additionalProperties must be the schema of the values, as in {type: string}", at)
		return nil
	}
	return p.schema(node.Line, node, at+".*")
}

func (p *parser) rules(node *yaml.Node, at string) []Rule {
	if node.Kind != yaml.SequenceNode {
		p.report(node.Line, "%s: rules are a list of {rule, message}", at)
		return nil
	}
	var list []Rule
	for _, item := range node.Content {
		rule := Rule{line: item.Line}
		text := func(into *string) func(*yaml.Node) { return func(n *yaml.Node) { *into = p.text(n, at) } }
		p.keys(item, at, map[string]func(*yaml.Node){
			"rule": text(&rule.Rule), "message": text(&rule.Message), "messageExpression": text(&rule.MessageExpression),
			"fieldPath": text(&rule.FieldPath), "reason": text(&rule.Reason),
		}, nil, map[string]int{})
		if rule.Message == "" && rule.MessageExpression == "" {
			p.report(item.Line, "%s: a rule needs a message for users", at)
		}
		list = append(list, rule)
	}
	return list
}

func (p *parser) kind(node *yaml.Node) {
	k := &Kind{line: node.Line}
	p.keys(node, "kind", map[string]func(*yaml.Node){
		"description": func(n *yaml.Node) { k.Description = p.text(n, "kind.description") },
		"title":       func(n *yaml.Node) { k.Title = p.text(n, "kind.title") },
		"plural":      func(n *yaml.Node) { k.Plural = p.text(n, "kind.plural") },
		"shortNames":  func(n *yaml.Node) { k.ShortNames = p.texts(n, "kind.shortNames") },
		"categories":  func(n *yaml.Node) { k.Categories = p.texts(n, "kind.categories") },
	}, nil, map[string]int{})
	if k.Description == "" {
		p.report(k.line, "kind: it needs a description: kubectl explain shows it")
	}
	p.file.Kind = k
}

func (p *parser) text(node *yaml.Node, at string) string {
	if node.Kind != yaml.ScalarNode || node.Tag == "!!null" {
		p.report(node.Line, "%s: it must be a string", at)
		return ""
	}
	return strings.TrimSpace(node.Value)
}

func (p *parser) texts(node *yaml.Node, at string) []string {
	if node.Kind != yaml.SequenceNode {
		p.report(node.Line, "%s: it must be a list of names", at)
		return nil
	}
	list := make([]string, 0, len(node.Content))
	for _, item := range node.Content {
		list = append(list, p.text(item, at))
	}
	return list
}

func (p *parser) decode(node *yaml.Node, at, what string, into any) {
	if node.Tag == "!!null" || node.Decode(into) != nil {
		p.report(node.Line, "%s: it must be %s", at, what)
	}
}

// value decodes a node like the API server and Helm: integers are int64.
func (p *parser) value(node *yaml.Node, at string) any {
	text, err := yaml.Marshal(node)
	if err == nil {
		text, err = sigsyaml.YAMLToJSONStrict(text)
	}
	var value any
	if err == nil {
		err = utiljson.Unmarshal(text, &value)
	}
	if err != nil || value == nil {
		p.report(node.Line, "%s: a value is missing", at)
	}
	return value
}
