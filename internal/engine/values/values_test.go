package values

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
)

var (
	appService = v1.GroupVersion.WithKind(v1.Kind)
	bare       = &chart.Chart{Metadata: &chart.Metadata{Name: "bare"}} // it declares nothing
	other      = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Web"}
)

// everyField is an AppService with every field of its spec, each in canonical form.
func everyField(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile("../../../test/testdata/cases/every-field/cr.yaml")
	require.NoError(t, err)
	return parse(t, string(text))
}

// parse reads YAML as a client of the API server reads JSON: whole numbers are int64.
func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	data, err := yaml.YAMLToJSONStrict([]byte(text))
	require.NoError(t, err)
	object := &unstructured.Unstructured{}
	require.NoError(t, utiljson.Unmarshal(data, &object.Object))
	return object
}

func withSpec(t *testing.T, kind schema.GroupVersionKind, spec string) *unstructured.Unstructured {
	t.Helper()
	resource := parse(t, "metadata: {name: web, namespace: default}\nspec: "+spec)
	resource.SetGroupVersionKind(kind)
	return resource
}

func translate(t *testing.T, resource *unstructured.Unstructured, overrides map[string]string) chartutil.Values {
	t.Helper()
	got, err := For(resource.GroupVersionKind(), bare, overrides).Translate(t.Context(), resource)
	require.NoError(t, err)
	return got
}

// asJSON compares values whatever Go types their numbers have.
func asJSON(t *testing.T, value any) string {
	t.Helper()
	data, err := json.MarshalIndent(value, "", " ")
	require.NoError(t, err)
	return string(data)
}

func TestEveryFieldOfTheSpecBecomesAValue(t *testing.T) {
	resource := everyField(t)
	got, want := asJSON(t, translate(t, resource, nil)), asJSON(t, resource.Object["spec"])
	assert.Equal(t, want, got)
}

func TestFieldsThatAreLeftOutAreNoValues(t *testing.T) {
	got := translate(t, withSpec(t, appService, `{image: nginx}`), nil)
	if want := (chartutil.Values{"image": "nginx"}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v: the chart's defaults would not apply", got, want)
	}
}

func TestQuantitiesHaveOneSpelling(t *testing.T) {
	cases := map[string]string{
		"0.1": "100m", "'0.1'": "100m", "100m": "100m", "1": "1", "'1'": "1", "1000m": "1", "1.5": "1500m", "0": "0", "'0.0'": "0",
		"1024Mi": "1Gi", "1Gi": "1Gi", "0.5Gi": "512Mi", "1000Mi": "1000Mi", "1000M": "1G", "128974848": "128974848",
		"'1e3'": "1e3", "1e3": "1k", "0.0001": "100u", "1.5Gi": "1536Mi", "1000000": "1M",
	}
	for in, want := range cases {
		t.Run(in, func(t *testing.T) {
			got := translate(t, withSpec(t, appService, fmt.Sprintf(`{image: nginx, resources: {limits: {memory: %s}}}`, in)), nil)
			quantity, err := got.PathValue("resources.limits.memory")
			if err != nil || quantity != want {
				t.Errorf("got %v (%v), want %q", quantity, err, want)
			}
		})
	}
}

func TestUnknownFieldsAreDropped(t *testing.T) {
	got := translate(t, withSpec(t, appService, `
  image: nginx
  imagee: x
  Size: 3
  global: {a: b}
  ports: [{port: 80, hostPort: 80}]
  envs: [{name: A, value: b, secret: true}]
  config: {environment: {A: b}, more: {}}
  ingress: {hosts: [{host: a.b, rules: []}]}
`), nil)
	want := `{"image":"nginx","envs":[{"name":"A","value":"b"}],"ports":[{"port":80}],"ingress":{"hosts":[{"host":"a.b"}]},"config":{"environment":{"A":"b"}}}`
	assert.Equal(t, asJSON(t, parse(t, want).Object), asJSON(t, got))
}

func TestAValueOfAnotherTypeIsAnError(t *testing.T) {
	const quantity = "not a quantity, such as 500m or 1Gi"
	cases := map[string]struct{ spec, want string }{
		"a word for a number":             {`{image: nginx, size: two}`, "spec.size: got string, want integer"},
		"a fraction for a whole number":   {`{image: nginx, size: 1.5}`, "spec.size: must be a whole number of 32 bits"},
		"a number beyond 32 bits":         {`{image: nginx, size: 4294967297}`, "spec.size: must be a whole number of 32 bits"},
		"a port beyond 32 bits":           {`{image: nginx, ports: [{port: 80}, {port: 4294967376}]}`, "spec.ports[1].port: must be a whole number of 32 bits"},
		"a number for a string":           {`{image: 5}`, "spec.image: got number, want string"},
		"a truth value for a string":      {`{image: nginx, config: {logLevel: true}}`, "spec.config.logLevel: got boolean, want string"},
		"a map for a list":                {`{image: nginx, ports: {port: 80}}`, "spec.ports: got object, want array"},
		"a list for a map":                {`{image: nginx, config: [a]}`, "spec.config: got array, want object"},
		"a string for a list":             {`{image: nginx, envs: A=b}`, "spec.envs: got string, want array"},
		"a string for a map":              {`{image: nginx, ingress: a.b}`, "spec.ingress: got string, want object"},
		"a quantity of a billion digits":  {`{image: nginx, resources: {limits: {memory: "1e-999999999"}}}`, "spec.resources.limits.memory: not a quantity: the exponent has more than two digits"},
		"a quantity that is none":         {`{image: nginx, resources: {limits: {memory: 1Gi, cpu: banana}}}`, "spec.resources.limits.cpu: " + quantity},
		"a number in the environment":     {`{image: nginx, config: {environment: {A: 1}}}`, "spec.config.environment.A: got number, want string"},
		"a secret in the wrong place":     {`{image: nginx, config: {databaseUrl: [hunter2]}}`, "spec.config.databaseUrl: got array, want string"},
		"a secret that is not a quantity": {`{image: nginx, resources: {limits: {cpu: hunter2}}}`, "spec.resources.limits.cpu: " + quantity},
		"a spec that is not a map":        {`hunter2`, "spec: got string, want object"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := For(appService, bare, nil).Translate(t.Context(), withSpec(t, appService, test.spec))
			require.Error(t, err, "it was accepted: %s", asJSON(t, got))
			if err.Error() != test.want {
				t.Errorf("got error %v, want %s", err, test.want)
			}
		})
	}
}

func TestTheSpecOfAnotherKindPassesAsItStands(t *testing.T) {
	cases := map[string]struct {
		kind       schema.GroupVersionKind
		spec, want string
	}{
		"of any shape": {
			other,
			`{a: 1, b: 1.5, c: [x, {d: true}], e: {f: {}}, g: [], h: "", cpu: 0.1, memory: 1024Mi}`,
			`{"a":1,"b":1.5,"c":["x",{"d":true}],"e":{"f":{}},"g":[],"h":"","cpu":0.1,"memory":"1024Mi"}`,
		},
		"empty":                         {other, `{}`, `{}`},
		"another version of AppService": {schema.GroupVersionKind{Group: appService.Group, Version: "v2", Kind: appService.Kind}, `{color: blue}`, `{"color":"blue"}`},
		"AppService of another group":   {schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: appService.Kind}, `{color: blue}`, `{"color":"blue"}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := translate(t, withSpec(t, tc.kind, tc.spec), nil)
			assert.Equal(t, asJSON(t, parse(t, tc.want).Object), asJSON(t, got))
		})
	}
}

func TestAnotherKindWithoutASpecHasNoValues(t *testing.T) {
	resource := &unstructured.Unstructured{Object: map[string]any{}}
	resource.SetGroupVersionKind(other)
	if got := translate(t, resource, nil); got == nil || len(got) != 0 {
		t.Errorf("got %v, want no values", got)
	}
	if got := translate(t, resource, map[string]string{"a.b": "c"}); asJSON(t, got) != asJSON(t, map[string]any{"a": map[string]any{"b": "c"}}) {
		t.Errorf("got %v, want the override alone", got)
	}
}

func TestAnotherKindWhoseSpecIsNoMapIsAnError(t *testing.T) {
	got, err := For(other, bare, nil).Translate(t.Context(), withSpec(t, other, "[a]"))
	if err == nil || err.Error() != "spec: must be a map" {
		t.Errorf("got %v and error %v, want one about the spec", got, err)
	}
}

func TestOverridesWin(t *testing.T) {
	cases := map[string]struct {
		spec      string
		overrides map[string]string
		want      string
	}{
		"a value":                       {`{image: a}`, map[string]string{"image": "b:1.10"}, `{"image":"b:1.10"}`},
		"a value that was not there":    {`{image: a}`, map[string]string{"size": "3"}, `{"image":"a","size":3}`},
		"a nested value":                {`{image: a, config: {logLevel: info, environment: {A: b}}}`, map[string]string{"config.logLevel": "debug"}, `{"image":"a","config":{"logLevel":"debug","environment":{"A":"b"}}}`},
		"a nested value in no map":      {`{image: a}`, map[string]string{"config.environment.A": "b"}, `{"image":"a","config":{"environment":{"A":"b"}}}`},
		"a null above it":               {`{image: a, config: {environment: null}}`, map[string]string{"config.environment.A": "b"}, `{"image":"a","config":{"environment":{"A":"b"}}}`},
		"a null instead of a list":      {`{image: a, ports: null}`, map[string]string{"ports[0].port": "80"}, `{"image":"a","ports":[{"port":80}]}`},
		"a key with a dot":              {`{image: a}`, map[string]string{`config.environment.a\.b`: "c"}, `{"image":"a","config":{"environment":{"a.b":"c"}}}`},
		"an element of a list":          {`{image: a, ports: [{port: 80, name: http}, {port: 81, name: more}]}`, map[string]string{"ports[0].port": "8080"}, `{"image":"a","ports":[{"port":8080,"name":"http"},{"port":81,"name":"more"}]}`},
		"a whole list":                  {`{image: a, envs: [{name: A}]}`, map[string]string{"envFrom": "{a,b}"}, `{"image":"a","envs":[{"name":"A"}],"envFrom":["a","b"]}`},
		"types as helm --set has them":  {`{image: a}`, map[string]string{"b": "true", "c": "1.10", "d": "null", "e": "007"}, `{"image":"a","b":true,"c":"1.10","d":null,"e":"007"}`},
		"more than one in a value":      {`{image: a}`, map[string]string{"size": "2,image=b"}, `{"image":"b","size":2}`},
		"a comma that is escaped":       {`{image: a}`, map[string]string{"config.logLevel": `a\,b`}, `{"image":"a","config":{"logLevel":"a,b"}}`},
		"several keys, in sorted order": {`{image: a}`, map[string]string{"size": "2,image=b", "image": "c"}, `{"image":"b","size":2}`},
	}
	for name, tc := range cases {
		for _, kind := range []schema.GroupVersionKind{appService, other} {
			t.Run(name+" of "+kind.Kind, func(t *testing.T) {
				got := translate(t, withSpec(t, kind, tc.spec), tc.overrides)
				assert.Equal(t, asJSON(t, parse(t, tc.want).Object), asJSON(t, got))
			})
		}
	}
}

func TestAnOverrideThatCannotBeAppliedIsNamed(t *testing.T) {
	cases := map[string]map[string]string{
		"a list that does not end":      {"ports[": "80"},
		"an index that is not a number": {"ports[x].port": "80"},
		"a value that does not end":     {"envFrom": "{a"},
		"a path through a string":       {"image.tag": "80"},
	}
	for name, overrides := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := For(appService, bare, overrides).Translate(t.Context(), withSpec(t, appService, `{image: nginx}`))
			require.Error(t, err, "it was accepted: %v", got)
			for key := range overrides {
				if !strings.Contains(err.Error(), "cannot apply overrideValues "+key) {
					t.Errorf("the error does not name %s: %v", key, err)
				}
			}
		})
	}
}

func TestTheResourceIsNeverChanged(t *testing.T) {
	overrides := map[string]string{"image": "b", "ports[0].port": "1", "config.logLevel": "x", "config.environment.COLOR": "red", "new.value": "1"}
	for _, kind := range []schema.GroupVersionKind{appService, other} {
		t.Run(kind.Kind, func(t *testing.T) {
			resource := everyField(t)
			resource.SetGroupVersionKind(kind)
			before := resource.DeepCopy()
			scribble(map[string]any(translate(t, resource, overrides)))
			assert.Equal(t, before.Object, resource.Object)
		})
	}
}

// scribble overwrites everything below a value.
func scribble(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, item := range value {
			scribble(item)
			value[key] = "scribbled"
		}
	case []any:
		for i, item := range value {
			scribble(item)
			value[i] = "scribbled"
		}
	}
}

func TestValuesHaveTheTypesOfJSON(t *testing.T) {
	overrides := map[string]string{"size": "3", "envFrom": "{a,b}", "config.logLevel": "true", "extra.list[0].a": "1", "none": "null"}
	for _, kind := range []schema.GroupVersionKind{appService, other} {
		for name, overrides := range map[string]map[string]string{"as it stands": nil, "with overrides": overrides} {
			t.Run(kind.Kind+" "+name, func(t *testing.T) {
				resource := everyField(t)
				resource.SetGroupVersionKind(kind)
				for key, value := range translate(t, resource, overrides) {
					native(t, key, value)
				}
			})
		}
	}
}

func native(t *testing.T, path string, value any) {
	t.Helper()
	switch value := value.(type) {
	case nil, bool, string, int64, float64:
	case map[string]any:
		for key, item := range value {
			native(t, path+"."+key, item)
		}
	case []any:
		for i, item := range value {
			native(t, fmt.Sprintf("%s[%d]", path, i), item)
		}
	default:
		t.Errorf("%s is a %T", path, value)
	}
}
