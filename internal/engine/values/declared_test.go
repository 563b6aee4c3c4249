package values

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const declaredFields = `
fields:
  topology:
    type: object
    description: How pods are spread.
    properties:
      zoneCount: {type: integer, description: Over how many zones., default: 3}
      memory: {x-kubernetes-int-or-string: true, format: quantity, description: A quantity.}
  backup:
    type: object
    description: An object that cannot do without a field.
    required: [window]
    properties:
      window: {type: string, description: When.}
      keep: {type: integer, description: How many., default: 7}
  hooks:
    type: array
    description: What runs first.
    items:
      type: object
      required: [name]
      properties:
        name: {type: string, description: Its name.}
        tries: {type: integer, description: How often., default: 2}
  limits: {type: object, description: A map of quantities., additionalProperties: {x-kubernetes-int-or-string: true, format: quantity}}
  anything: {type: object, description: Whatever., x-kubernetes-preserve-unknown-fields: true}
  variables: {$ref: AppService.spec.envs}
  compute: {$ref: AppService.spec.resources}
  port: {x-kubernetes-int-or-string: true, description: A name or a number.}
`

// declaring is a chart that declares fields.
func declaring(text string) *chart.Chart {
	return &chart.Chart{
		Metadata: &chart.Metadata{APIVersion: "v2", Name: "declaring", Version: "1.0.0"},
		Files:    []*chart.File{{Name: "fields.yaml", Data: []byte(text)}},
	}
}

func TestDeclaredFieldsPass(t *testing.T) {
	cases := map[string]struct {
		spec, want string
		unknown    []string
	}{
		"none":                             {`{}`, `{}`, nil},
		"as they stand":                    {`{topology: {zoneCount: 5}, port: http, anything: {a: [1, {b: c}]}}`, `{"topology":{"zoneCount":5},"port":"http","anything":{"a":[1,{"b":"c"}]}}`, nil},
		"quantities in their one spelling": {`{topology: {memory: 1024Mi}, limits: {cpu: 0.1, b: 1}}`, `{"topology":{"memory":"1Gi"},"limits":{"cpu":"100m","b":"1"}}`, nil},
		"those of a Go type": {
			`{compute: {limits: {cpu: "0.50"}}, variables: [{name: A, value: b}]}`,
			`{"compute":{"limits":{"cpu":"500m"}},"variables":[{"name":"A","value":"b"}]}`, nil,
		},
		"the chart's values have the default of an object":   {`{topology: {}}`, `{"topology":{}}`, nil},
		"they have none for one that lacks a required field": {`{backup: {window: night}}`, `{"backup":{"window":"night","keep":7}}`, nil},
		"nor for entries of lists":                           {`{hooks: [{name: a}, {name: b, tries: 1}]}`, `{"hooks":[{"name":"a","tries":2},{"name":"b","tries":1}]}`, nil},
		"nothing is as if it were left out":                  {`{topology: null, hooks: null}`, `{}`, nil},
		"unknown fields are dropped": {
			`{backups: {}, topology: {zones: 1, zoneCount: 2}, hooks: [{name: a, tries: 1, title: b}], variables: [{name: A, secret: b}], compute: {limit: {}}}`,
			`{"topology":{"zoneCount":2},"hooks":[{"name":"a","tries":1}],"variables":[{"name":"A"}],"compute":{}}`,
			[]string{"spec.backups", "spec.compute.limit", "spec.hooks[0].title", "spec.topology.zones", "spec.variables[0].secret"},
		},
		"another type is left for the schema to refuse": {`{topology: [a], port: {a: b}}`, `{"topology":["a"],"port":{"a":"b"}}`, nil},
	}
	for name, test := range cases {
		for _, kind := range []schema.GroupVersionKind{appService, other} {
			t.Run(name+" of "+kind.Kind, func(t *testing.T) {
				resource := withSpec(t, kind, test.spec)
				before := resource.DeepCopy()
				got, unknown, err := Read(t.Context(), For(kind, declaring(declaredFields), nil), resource)
				require.NoError(t, err)
				delete(got, "image") // the Go type always has one
				assert.Equal(t, asJSON(t, parse(t, test.want).Object), asJSON(t, got))
				if got, want := asJSON(t, unknown), asJSON(t, test.unknown); got != want {
					t.Errorf("got unknown fields %s, want %s", got, want)
				}
				scribble(map[string]any(got))
				if asJSON(t, resource.Object) != asJSON(t, before.Object) {
					t.Errorf("the resource was changed: %s", asJSON(t, resource.Object))
				}
			})
		}
	}
}

func TestFieldsOfTheGoTypeAreDecodedBesideDeclaredOnes(t *testing.T) {
	resource := withSpec(t, appService, `{image: nginx, resources: {limits: {cpu: 0.1}}, topology: {zoneCount: 5}, later: {a: b}, ports: [{port: 80, hostPort: 80}]}`)
	got, unknown, err := Read(t.Context(), For(appService, declaring(declaredFields), map[string]string{"topology.zoneCount": "7"}), resource)
	require.NoError(t, err)
	want := `{"image":"nginx","resources":{"limits":{"cpu":"100m"}},"topology":{"zoneCount":7},"ports":[{"port":80}]}`
	assert.Equal(t, asJSON(t, parse(t, want).Object), asJSON(t, got))
	if got, want := asJSON(t, unknown), asJSON(t, []string{"spec.later", "spec.ports[0].hostPort"}); got != want {
		t.Errorf("got unknown fields %s, want %s", got, want)
	}
}

func TestWhatADeclaredFieldCannotBeIsRefused(t *testing.T) {
	const quantity = "not a quantity, such as 500m or 1Gi"
	cases := map[string]struct{ spec, want string }{
		"one of a billion digits":       {`{topology: {memory: 1e999999999}}`, "spec.topology.memory: " + quantity},
		"one of a Go type, as long":     {`{compute: {limits: {cpu: 1e999999999}}}`, "spec.compute.limits.cpu: not a quantity: the exponent has more than two digits"},
		"a quantity that is none":       {`{topology: {memory: hunter2}}`, "spec.topology.memory: " + quantity},
		"one in a map":                  {`{limits: {a: 1Gi, b: banana}}`, "spec.limits.b: " + quantity},
		"one of a Go type":              {`{compute: {limits: {cpu: banana}}}`, "spec.compute.limits.cpu: " + quantity},
		"a map for a list of a Go type": {`{variables: {A: b}}`, "spec.variables: got object, want array"},
		"an entry of a Go type":         {`{variables: [{name: A}, {name: 5}]}`, "spec.variables[1].name: got number, want string"},
		"a text that YAML loses":        {`{hooks: [{name: "a\x7f"}]}`, "spec.hooks[0].name holds the character U+007F, which YAML loses: remove it"},
		"a text that templates lose":    {`{backup: {window: "<no value>"}}`, `spec.backup.window holds the text "<no value>", which templates lose: write it in another way`},
		"a key of two lines":            {`{limits: {"a\nb": 1Gi}}`, "spec.limits has a key with the character U+000A: remove it"},
		"a key that is too long":        {`{limits: {` + strings.Repeat("a", 318) + `: 1Gi}}`, "spec.limits has a key of 318 characters: at most 317 are allowed"},
		"a spec that is not a map":      {`[a]`, "spec: must be a map"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := For(other, declaring(declaredFields), nil).Translate(t.Context(), withSpec(t, other, test.spec))
			if err == nil || err.Error() != test.want {
				t.Errorf("got %v and error %v, want %s", got, err, test.want)
			}
		})
	}
}

func TestAFileThatIsWrongIsAnError(t *testing.T) {
	for text, want := range map[string]string{
		"fields:\n  size: {type: integer, description: x}\n": "declaring/fields.yaml:2: spec.size: AppService has this field already: take another name",
		"fieldz: {}\n": "declaring/fields.yaml:1: fieldz: unknown key: did you mean fields?",
	} {
		if _, err := For(appService, declaring(text), nil).Translate(t.Context(), withSpec(t, appService, "{image: a}")); err == nil || err.Error() != want {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
}
