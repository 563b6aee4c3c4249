package fields

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/example/appservice-operator/api/v1"
)

func TestEachMistakeHasItsLine(t *testing.T) {
	// Line 1 is that of the key fields.
	cases := map[string]struct {
		text string
		want []string
	}{
		"no mistake":                {"fields:\n  a: {type: string, description: x}", nil},
		"nothing":                   {"", nil},
		"a comment":                 {"# nothing\n", nil},
		"no YAML":                   {"fields:\n  a: {type: string", []string{":1: not YAML: "}},
		"an anchor in itself":       {"fields:\n  a: &a {type: object, description: x, properties: {b: *a}}", []string{":1: not YAML: anchor 'a' value contains itself"}},
		"no map":                    {"[a]", []string{":1: spec: must be a map"}},
		"an unknown key at the top": {"fields: {}\nrequires: [a]", []string{":2: requires: unknown key: did you mean required?"}},
		"an unknown key":            {"fields:\n  a:\n    type: string\n    desciption: x", []string{":2: spec.a: description is missing", ":4: spec.a.desciption: unknown key: did you mean description?"}},
		"a key twice":               {"fields:\n  a: {type: string, description: x}\n  a: {type: string, description: x}", []string{`:3: not YAML: mapping key "a" already defined at line 2`}},
		"a name that templates cannot say": {
			"fields:\n  zone-count: {type: integer, description: x}", []string{":2: spec.zone-count: a name must begin with a lower-case letter"},
		},
		"an unknown type":         {"fields:\n  a: {type: interger, description: x}", []string{`:2: spec.a.type: Unsupported value: "interger": supported values: "array", "boolean", "integer"`}},
		"no type":                 {"fields:\n  a: {description: x}", []string{":2: spec.a.type: Required value"}},
		"no description":          {"fields:\n  a:\n    type: object\n    description: x\n    properties:\n      b: {type: string}", []string{":6: spec.a.b: description is missing"}},
		"a format of another":     {"fields:\n  a: {type: integer, format: ipv4, description: x}", []string{":2: spec.a.format: type integer has no format ipv4"}},
		"a quantity as a string":  {"fields:\n  a: {type: string, format: quantity, description: x}", []string{":2: spec.a.format: write x-kubernetes-int-or-string: true"}},
		"a bound of another type": {"fields:\n  a: {type: string, maximum: 3, description: x}", []string{":2: spec.a.maximum: belongs to type number, and this is string"}},
		"a bound that is none":    {"fields:\n  a: {type: integer, maximum: many, description: x}", []string{":2: spec.a.maximum: got string, want number"}},
		"a pattern that is none":  {"fields:\n  a: {type: string, pattern: '(', description: x}", []string{`:2: spec.a.pattern: Invalid value: "(": must be a valid regular expression`}},
		"an object without any":   {"fields:\n  a: {type: object, description: x}", []string{":2: spec.a: an object needs properties"}},
		"an object with both": {
			"fields:\n  a: {type: object, description: x, properties: {b: {type: string, description: x}}, additionalProperties: {type: string}}",
			[]string{":2: spec.a.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive"},
		},
		"an open object":      {"fields:\n  a: {type: object, description: x, additionalProperties: true}", []string{":2: spec.a.additionalProperties: must be the schema of the values", ":2: spec.a: an object needs properties"}},
		"a list of anything":  {"fields:\n  a: {type: array, description: x}", []string{":2: spec.a.items: Required value: must be specified"}},
		"a list without keys": {"fields:\n  a: {type: array, description: x, x-kubernetes-list-type: map, items: {type: string}}", []string{":2: spec.a.items.type: Invalid value: \"string\": must be object", ":2: spec.a.x-kubernetes-list-map-keys: Required value: must not be empty"}},
		"a list whose key may be left out": {
			"fields:\n  a:\n    type: array\n    description: x\n    x-kubernetes-list-type: map\n    x-kubernetes-list-map-keys: [b]\n    items: {type: object, properties: {b: {type: string, description: x}}}",
			[]string{":7: spec.a[].b.default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"},
		},
		"not structural":       {"fields:\n  a:\n    description: x\n    oneOf: [{type: string}]", []string{":2: spec.a.type: Required value", ":4: spec.a.oneOf: cannot be used: use x-kubernetes-validations"}},
		"required and unknown": {"fields:\n  a: {type: string, description: x}\nrequired: [b]", []string{":3: required: b is not a property"}},
		"a rule without words": {"fields: {}\nrules:\n- rule: self.size > 1", []string{":3: spec: a rule needs a message"}},
		"a default of another type": {
			"fields:\n  a:\n    type: integer\n    description: x\n    default: three", []string{`:5: spec.a.default: Invalid value: "string": must be of type integer`},
		},
		"a default beyond a bound": {"fields:\n  a: {type: integer, maximum: 9, description: x, default: 10}", []string{":2: spec.a.default: Invalid value: 10: should be less than or equal to 9"}},
		"a default that an enum lacks": {
			"fields:\n  a: {type: string, enum: [Fast, Slow], description: x, default: Quick}", []string{`:2: spec.a.default: Unsupported value: "Quick": supported values: "Fast", "Slow"`},
		},
		"a default within an object": {
			"fields:\n  a:\n    type: object\n    description: x\n    properties: {b: {type: string, description: x}}\n    default: {c: 1}",
			[]string{`:6: spec.a.default: Invalid value: {"c":1}: must not have unknown fields`},
		},
		"a default that is not a quantity": {
			"fields:\n  a: {x-kubernetes-int-or-string: true, format: quantity, description: x, default: much}", []string{":2: spec.a.default: not a quantity"},
		},
		"a default without a value":         {"fields:\n  a: {type: string, description: x, default: }", []string{":2: spec.a.default: a value is missing"}},
		"a default of a type of Kubernetes": {"fields:\n  a: {$ref: AppService.spec.envs, default: [{nam: b}]}", []string{`:2: spec.a.default: does not fit AppService.spec.envs: unknown field "[0].nam"`}},
		"a reference to nothing":            {"fields:\n  a: {$ref: AppService.spec.env}", []string{":2: spec.a.$ref: AppService.spec.env: there is no field env: did you mean envs?"}},
		"a reference to elsewhere":          {"fields:\n  a: {$ref: '#/definitions/b'}", []string{":2: spec.a.$ref: #/definitions/b is not of the form AppService.spec.FIELD"}},
		"a type beside a reference":         {"fields:\n  a: {$ref: AppService.spec.envs, type: array}", []string{":2: spec.a.type: cannot stand beside $ref"}},
		"a key of a rule that is none": {
			"fields: {}\nrules:\n- {rule: 'true', message: x, says: y}",
			[]string{`:3: spec: unknown field "x-kubernetes-validations[0].says"`},
		},
		"an unknown key of items": {
			"fields:\n  a:\n    type: array\n    description: x\n    items:\n      type: string\n      maxLenght: 3",
			[]string{":7: spec.a.items.maxLenght: unknown key: did you mean maxLength?"},
		},
		"an integer that is none": {
			"fields:\n  a: {type: string, maxLength: 1.5, description: x}",
			[]string{":2: spec.a.maxLength: got number 1.5, want integer"},
		},
		"anything without a type": {
			"fields:\n  a: {x-kubernetes-preserve-unknown-fields: true, description: x}",
			[]string{":2: spec.a.type: x-kubernetes-preserve-unknown-fields needs type object"},
		},
		"a type of an integer or a string": {
			"fields:\n  a: {x-kubernetes-int-or-string: true, type: string, description: x}",
			[]string{":2: spec.a.type: x-kubernetes-int-or-string takes no type"},
		},
		"an unsupported key": {
			"fields:\n  a: {type: string, id: b, description: x}",
			[]string{":2: spec.a.id: Forbidden: id is not supported"},
		},
		"a default in a map": {
			"fields:\n  a: {type: object, description: x, additionalProperties: {type: string, default: 5}}",
			[]string{`:2: spec.a.additionalProperties.default: Invalid value: "integer": must be of type string`},
		},
		"a default with a format": {
			"fields:\n  a: {type: string, format: ipv4, description: x, default: [b]}",
			[]string{`:2: spec.a.default: Invalid value: "array": must be of type string`},
		},
		"an unknown type in a map": {
			"fields:\n  a:\n    type: object\n    description: x\n    additionalProperties:\n      type: array\n      items: {type: strin}",
			[]string{`:7: spec.a.additionalProperties.items.type: Unsupported value: "strin"`},
		},
		"an enum of nothing": {
			"fields:\n  a: {type: string, enum: [], description: x}",
			[]string{":2: spec.a.enum: a value is missing"},
		},
		"an alias in a list": {"fields:\n  a: {type: string, description: &x x, enum: [*x], default: *x}", nil},
		"a default of an unknown type": {
			"fields:\n  a: {type: interger, description: x, default: 1}", []string{":2: spec.a.type: Unsupported value"},
		},
		"a kind without a description": {"kind:\n  shortNames: [a]", []string{":1: kind: requires a description"}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("chart/fields.yaml", []byte(test.text))
			var lines []string
			if err != nil {
				lines = strings.Split(err.Error(), "\n")
			}
			if len(lines) != len(test.want) {
				t.Fatalf("got %d problems: %v\nwant %d", len(lines), err, len(test.want))
			}
			for i, line := range lines {
				if !strings.HasPrefix(line, "chart/fields.yaml"+test.want[i]) {
					t.Errorf("got %s\nwant chart/fields.yaml%s", line, test.want[i])
				}
			}
		})
	}
}

func TestAFileFitsItsKind(t *testing.T) {
	appService, other := v1.GroupVersion.WithKind(v1.Kind), schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Web"}
	const field = "fields:\n  size: {type: integer, description: x}\n"
	cases := map[string]struct {
		kind       schema.GroupVersionKind
		text, want string
	}{
		"a field of the Go type":         {appService, field, "f:2: spec.size: AppService has this field already: take another name"},
		"a required one":                 {appService, "fields:\n  a: {type: string, description: x}\nrequired: [a]", "f:3: required: there are AppServices without a new field, so it cannot be required: give it a default"},
		"a description":                  {appService, "kind:\n  description: x", "f:1: kind: AppService is described by its Go type"},
		"all that a kind of its own has": {other, field + "required: [size]\nkind: {description: x}", ""},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := For(test.kind, "f", []byte(test.text))
			assert.Equal(t, test.want, said(err))
		})
	}
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestDefaults(t *testing.T) {
	file, err := Parse("f", []byte(`
fields:
  a: {type: string, description: x, default: b}
  none: {type: integer, description: x}
  no: {type: boolean, description: x, default: false}
  list: {type: array, description: x, items: {type: string}}
  map: {type: object, description: x, additionalProperties: {type: string}}
  memory: {x-kubernetes-int-or-string: true, format: quantity, description: x, default: 1024Mi}
  object:
    type: object
    description: x
    properties:
      count: {type: integer, description: x, default: 3}
      deep: {type: object, description: x, properties: {none: {type: string, description: x}}}
  lacking:
    type: object
    description: x
    required: [window]
    properties:
      window: {type: string, description: x}
      keep: {type: integer, description: x, default: 7}
  envs: {$ref: AppService.spec.envs}
  resources: {$ref: AppService.spec.resources}
  image: {$ref: AppService.spec.image}
`))
	require.NoError(t, err)
	got, err := json.Marshal(file.Defaults())
	require.NoError(t, err)
	const want = `{"a":"b","envs":[],"lacking":{},"list":[],"map":{},"memory":"1Gi","no":false,"object":{"count":3,"deep":{}},"resources":{}}`
	if string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestDidYouMean(t *testing.T) {
	for wrong, want := range map[string]string{
		"topologie": "topology", "tpye": "type", "integr": "integer", "x": "", "something": "", "": "",
	} {
		got := DidYouMean(wrong, []string{"topology", "type", "integer"})
		if want != "" {
			want = ": did you mean " + want + "?"
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", wrong, got, want)
		}
	}
}
