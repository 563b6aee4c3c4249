package fields

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	sigsjson "sigs.k8s.io/json"
	sigsyaml "sigs.k8s.io/yaml"
)

// topLevel maps the keys of a file to those of the schema of the spec; kind is not part of it.
var topLevel = map[string]string{
	"fields": "properties", "required": "required", "rules": "x-kubernetes-validations", "kind": "",
}

// Parse parses the text of a fields.yaml; name is the file's name in messages. An empty file declares nothing. The
// error is of type Problems.
func Parse(name string, text []byte) (*File, error) {
	p := &parser{file: &File{Path: name, Spec: &props{Type: "object"}, lines: map[string]int{"": 1}}}
	var document yaml.Node
	err := yaml.Unmarshal(text, &document)
	if err == nil { // only decoding refuses duplicate keys, and aliases that are recursive or expand excessively
		var content any
		err = document.Decode(&content)
	}
	if err != nil {
		return nil, NotYAML(name, err)
	}
	if len(document.Content) == 0 {
		return p.file, nil
	}
	root := document.Content[0]
	p.file.lines[""] = root.Line
	p.file.index(root, "")
	p.entries(root, "", func(key string, value *yaml.Node) {
		switch ofSpec, known := topLevel[key]; {
		case !known:
			p.report("."+key, "unknown key%s", DidYouMean(key, sortedKeys(topLevel)))
		case key == "kind":
			p.kind(value)
		default:
			p.key(p.file.Spec, "", ofSpec, value)
		}
	})
	p.check(p.file.Spec, "")
	p.validate(p.file.Spec, "")
	if err := p.found.err(); err != nil {
		return nil, err
	}
	return p.file, nil
}

// yamlLine matches the line number in messages of the YAML parser, whose errors have no field for it.
var yamlLine = regexp.MustCompile(`line (\d+): (?s:(.*))$`)

// NotYAML returns an error of the YAML parser with the lines in it.
func NotYAML(file string, err error) Problems {
	messages := []string{strings.TrimPrefix(err.Error(), "yaml: ")}
	if several, found := errors.AsType[*yaml.TypeError](err); found {
		messages = several.Errors
	}
	problems := make(Problems, 0, len(messages))
	for _, message := range messages {
		line := 1
		if found := yamlLine.FindStringSubmatch(message); found != nil {
			line, _ = strconv.Atoi(found[1])
			message = found[2]
		}
		problems = append(problems, Problem{file, line, "not YAML: " + message})
	}
	return problems
}

// index records the line of each key and list entry below a node by its path in the schema, as in
// .properties[a].enum[0], and replaces aliases by what they refer to.
func (f *File) index(node *yaml.Node, at string) {
	for i, item := range node.Content {
		if item.Kind == yaml.AliasNode {
			item = item.Alias
			node.Content[i] = item
		}
		path, line := fmt.Sprintf("%s[%d]", at, i), item.Line
		if node.Kind == yaml.MappingNode {
			if i%2 == 0 {
				continue
			}
			key := node.Content[i-1]
			path, line = at+"."+key.Value, key.Line
			if strings.HasSuffix(at, ".properties") {
				path = at + "[" + key.Value + "]"
			} else if at == "" {
				path = "." + cmp.Or(topLevel[key.Value], key.Value)
			}
		}
		f.lines[path] = line
		f.index(item, path)
	}
}

// entries calls visit for each entry of a map.
func (p *parser) entries(node *yaml.Node, at string, visit func(key string, value *yaml.Node)) {
	if node.Kind != yaml.MappingNode && node.Tag != "!!null" {
		p.report(at, "must be a map")
		return
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		visit(node.Content[i].Value, node.Content[i+1])
	}
}

// fieldName matches names that templates can use without index and that follow the Kubernetes API conventions.
var fieldName = regexp.MustCompile(`^[a-z][A-Za-z0-9]*$`)

// instead maps the keys of JSONSchemaProps that cannot be used, although a CRD may have some of them, to a hint.
var instead = map[string]string{
	"nullable":                       "leave the field out instead",
	"oneOf":                          "use x-kubernetes-validations",
	"anyOf":                          "use x-kubernetes-validations, or x-kubernetes-int-or-string: true for integer or string",
	"allOf":                          "use x-kubernetes-validations",
	"not":                            "use x-kubernetes-validations",
	"uniqueItems":                    "use x-kubernetes-list-type: set",
	"patternProperties":              "use additionalProperties",
	"definitions":                    "use a YAML anchor",
	"x-kubernetes-embedded-resource": "put Kubernetes objects into templates",
}

// schema parses a schema.
func (p *parser) schema(node *yaml.Node, at string) *props {
	s := &props{}
	p.entries(node, at, func(key string, value *yaml.Node) { p.key(s, at, key, value) })
	p.check(s, at)
	if node.Kind != yaml.MappingNode {
		return s
	}
	p.entries(node, at, func(key string, _ *yaml.Node) { // again, since the type is known now
		switch typ := typeOf[key]; {
		case s.Ref != nil && !slices.Contains(besideRef, key):
			p.report(at+"."+key, "cannot stand beside $ref: only %s can", strings.Join(besideRef[1:], ", "))
		case typ != "" && s.Type != "" && s.Type != typ && (s.Type != "integer" || typ != "number"):
			p.report(at+"."+key, "belongs to type %s, and this is %s", typ, s.Type)
		}
	})
	return s
}

// key parses the value of a key of a schema.
func (p *parser) key(s *props, at, key string, value *yaml.Node) {
	path := at + "." + key
	hint, refused := instead[key]
	switch {
	case refused:
		p.report(path, "cannot be used: %s", hint)
	case key == "properties":
		s.Properties = map[string]props{}
		p.entries(value, path, func(name string, value *yaml.Node) {
			at := path + "[" + name + "]"
			if !fieldName.MatchString(name) {
				p.report(at, "a name must begin with a lower-case letter and contain only letters and digits, "+
					"so that templates can use .Values.NAME")
			}
			property := p.schema(value, at)
			if property.Description == "" && property.Ref == nil {
				p.report(at, "description is missing: kubectl explain and the references show it")
			}
			s.Properties[name] = *property
		})
	case key == "items":
		s.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: p.schema(value, path)}
	case key == "additionalProperties" && value.Kind == yaml.ScalarNode:
		p.report(path, "must be the schema of the values, as in {type: string}")
	case key == "additionalProperties":
		s.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: p.schema(value, path)}
		p.validate(s.AdditionalProperties.Schema, path) // the API server ignores defaults here, this package does not
	default:
		p.decode(s, at, key, value)
	}
}

// decode strictly decodes the value of a key of a struct as the API server and Helm do: integers are int64.
func (p *parser) decode(into any, at, key string, value *yaml.Node) {
	typ := reflect.TypeOf(into)
	if known := Members(typ); known[key] == nil {
		p.report(at+"."+key, "unknown key%s", DidYouMean(key, sortedKeys(known)))
		return
	}
	if value.Tag == "!!null" {
		p.report(at+"."+key, "a value is missing")
		return
	}
	text, err := yaml.Marshal(map[string]*yaml.Node{key: value})
	if err == nil {
		text, err = sigsyaml.YAMLToJSONStrict(text)
	}
	var wrong []error
	if err == nil {
		wrong, err = sigsjson.UnmarshalStrict(text, into)
	}
	if err != nil {
		wrong = append(wrong, err)
	}
	for _, err := range wrong {
		var mistyped *json.UnmarshalTypeError
		var strict sigsjson.FieldError
		switch {
		case errors.As(err, &mistyped):
			p.report(at+"."+key, "got %s, want %s", mistyped.Value, JSONType(mistyped.Type))
		case errors.As(err, &strict):
			p.report(at+"."+strict.FieldPath(), "%v", err)
		default:
			p.report(at+"."+key, "%v", err)
		}
	}
}

func (p *parser) kind(node *yaml.Node) {
	k := &Kind{}
	p.entries(node, ".kind", func(key string, value *yaml.Node) { p.decode(k, ".kind", key, value) })
	if k.Description = strings.TrimSpace(k.Description); k.Description == "" {
		p.report(".kind", "requires a description: kubectl explain shows it")
	}
	p.file.Kind = k
}

// typeOf maps keys that are valid for one type only to the type; number stands for integer, too.
var typeOf = map[string]string{
	"pattern": "string", "minLength": "string", "maxLength": "string",
	"minimum": "number", "maximum": "number", "multipleOf": "number",
	"exclusiveMinimum": "number", "exclusiveMaximum": "number",
	"items": "array", "minItems": "array", "maxItems": "array",
	"x-kubernetes-list-type": "array", "x-kubernetes-list-map-keys": "array",
	"properties": "object", "additionalProperties": "object", "required": "object",
	"minProperties": "object", "maxProperties": "object",
	"x-kubernetes-map-type": "object", "x-kubernetes-preserve-unknown-fields": "object",
}

// formats are the formats that the API server checks, by type. Others it ignores.
var formats = map[string][]string{
	"string": {
		"byte", "cidr", "date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "mac", "password",
		"uri", "uuid",
	},
	"integer": {"int32", "int64"},
	"number":  {"double", "float"},
	"":        {quantity}, // of an integer or a string
}

// besideRef are the keys that may stand beside a reference.
var besideRef = []string{"$ref", "title", "description", "default", "x-kubernetes-validations"}

// check reports the mistakes in a schema that the API server lets pass.
func (p *parser) check(s *props, at string) {
	s.Title, s.Description = strings.TrimSpace(s.Title), strings.TrimSpace(s.Description)
	for i := range s.XValidations {
		rule := &s.XValidations[i]
		rule.Rule, rule.Message = strings.TrimSpace(rule.Rule), strings.TrimSpace(rule.Message)
		if rule.Message == "" && rule.MessageExpression == "" {
			p.report(fmt.Sprintf("%s.x-kubernetes-validations[%d]", at, i), "a rule needs a message for users")
		}
	}
	if s.Ref != nil {
		p.checkRef(s, at)
		return
	}
	switch {
	case s.XIntOrString && s.Type != "":
		p.report(at+".type", "x-kubernetes-int-or-string takes no type")
	case s.Type == "" && s.XPreserveUnknownFields != nil:
		p.report(at+".type", "x-kubernetes-preserve-unknown-fields needs type object")
	case s.Type == "object" && s.Properties == nil && s.AdditionalProperties == nil &&
		s.XPreserveUnknownFields == nil && at != "":
		p.report(at, "an object needs properties, or additionalProperties for a map: "+
			"the API server would prune everything in it")
	}
	switch known := formats[s.Type]; {
	case s.Format == "" || slices.Contains(known, s.Format):
	case s.Format == quantity:
		p.report(at+".format", "write x-kubernetes-int-or-string: true instead of the type, since 1 is a quantity, too")
	default:
		p.report(at+".format", "type %s has no format %s%s", s.Type, s.Format, DidYouMean(s.Format, known))
	}
	if s.Enum != nil && len(s.Enum) == 0 {
		p.report(at+".enum", "a value is missing")
	}
	for _, name := range s.Required {
		if _, there := s.Properties[name]; !there {
			p.report(at+".required", "%s is not a property%s", name, DidYouMean(name, sortedKeys(s.Properties)))
		}
	}
	if IsQuantity(s) && s.Default != nil {
		canonical, err := Canonical(Default(s))
		if s.Default.Raw, _ = json.Marshal(canonical); err != nil { // a string can be encoded
			p.report(at+".default", "not a quantity, such as 500m or 1Gi")
			s.Default = nil // else, its pattern would be reported, too
		}
	}
}

// checkRef checks a reference, and its default by the Go type.
func (p *parser) checkRef(s *props, at string) {
	typ, err := Type(*s.Ref)
	switch {
	case err != nil:
		p.report(at+".$ref", "%s", strings.TrimPrefix(err.Error(), "$ref "))
	case s.Default != nil:
		wrong, err := sigsjson.UnmarshalStrict(s.Default.Raw, reflect.New(typ).Interface())
		if err = errors.Join(append(wrong, err)...); err != nil {
			p.report(at+".default", "does not fit %s: %v", *s.Ref, err)
		}
	}
}
