package kinds

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/chart/crd"
	"github.com/example/appservice-operator/internal/engine/chart/fields"
)

// buffered are the files of a chart as a package has them.
func buffered(files map[string]string) (list []*loader.BufferedFile) {
	for name, text := range files {
		list = append(list, &loader.BufferedFile{Name: name, Data: []byte(text)})
	}
	return list
}

// chartOf loads a chart of the name web with further files.
func chartOf(t *testing.T, files map[string]string) *helmchart.Chart {
	t.Helper()
	if files["Chart.yaml"] == "" {
		files["Chart.yaml"] = "{apiVersion: v2, name: web, version: 1.0.0, description: A web server. It serves.}\n"
	}
	c, err := loader.LoadFiles(buffered(files))
	require.NoError(t, err)
	return c
}

const likeCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: appservices.app.example.com}
spec:
  group: app.example.com
  names: {kind: AppService, listKind: AppServiceList, plural: appservices, singular: appservice, shortNames: [app], categories: [all]}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    additionalPrinterColumns:
    - {name: URL, type: string, jsonPath: .status.url}
    - {name: Image, type: string, jsonPath: .spec.image}
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          apiVersion: {type: string}
          kind: {type: string}
          metadata: {type: object}
          spec: {type: object, properties: {image: {type: string}, replicas: {type: integer}}}
          status: {type: object, properties: {url: {type: string}, replicas: {type: integer}}}
`

// defined returns the CRD of the kind Web for a chart, which the API server must take.
func defined(t *testing.T, files map[string]string) (text []byte, made *apiextensionsv1.CustomResourceDefinition, open []string) {
	t.Helper()
	like := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, yaml.Unmarshal([]byte(likeCRD), like))
	c := chartOf(t, files)
	spec, open := valuesOf(c)
	text, err := kind{Group: "app.example.com", Version: "v1", Kind: "Web"}.crdFile(like, c, spec)
	require.NoError(t, err)
	made = &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, yaml.UnmarshalStrict(text, made))
	found, err := fields.Validate(made)
	require.NoError(t, err)
	require.Empty(t, found, "the API server refuses the CRD")
	return text, made, open
}

var webFiles = map[string]string{
	"values.yaml": `# How many. Not few.
replicas: 1
image: {tag: v1, pull: null}
list: []
open: 1
maybe: a
env: {metadata: {name: a}, kind: b}
wrong: {a: 1}
`,
	"values.schema.json": `{
  "definitions": {"text": {"type": "string", "description": "A text. Of words."}},
  "properties": {
    "replicas": {"type": "integer"},
    "image": {"type": "object", "properties": {"tag": {"$ref": "#/definitions/text"}, "digest": {"type": ["string", "null"]}}},
    "list": {"type": "array", "items": {"type": "string"}},
    "open": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
    "maybe": {"type": ["string", "boolean"]},
    "env": {"$ref": "https://example.com/env.json"},
    "wrong": {"type": "string"}
  }
}`,
	"charts/cache/Chart.yaml":  "{apiVersion: v2, name: cache, version: 1.0.0}",
	"charts/cache/values.yaml": "# How large.\nsize: 1\nglobal: {zone: a}\n",
	"charts/lib/Chart.yaml":    "{apiVersion: v2, name: lib, version: 1.0.0, type: library}",
	"charts/lib/values.yaml":   "none: 1\n",
	"Chart.yaml": `{apiVersion: v2, name: web, version: 1.0.0, description: A web server. It serves., dependencies: [
  {name: cache, version: 1.0.0, alias: near}, {name: cache, version: 1.0.0, alias: far}, {name: lib, version: 1.0.0}]}`,
}

func TestTheCRDOfAChart(t *testing.T) {
	_, made, open := defined(t, webFiles)
	assert.Equal(t, []string{"env", "maybe", "open", "wrong"}, open)
	assert.Equal(t, "webs.app.example.com", made.Name)
	assert.Empty(t, made.Spec.Names.ShortNames)
	version := made.Spec.Versions[0]
	if len(version.AdditionalPrinterColumns) != 1 || version.Subresources.Scale != nil || version.Subresources.Status == nil {
		t.Errorf("columns %v, subresources %v", version.AdditionalPrinterColumns, version.Subresources)
	}
	root := version.Schema.OpenAPIV3Schema
	assert.Equal(t, "A web server.", root.Description)
	assert.Contains(t, root.Properties["status"].Properties, "url")
	at := func(path string) apiextensionsv1.JSONSchemaProps {
		property := root.Properties["spec"]
		for step := range strings.SplitSeq(path, ".") {
			next, found := property.Properties[step]
			require.True(t, found, "there is no %s", path)
			property = next
		}
		if !property.Nullable || property.XPreserveUnknownFields == nil || property.Default != nil {
			t.Errorf("%s is not open: %v", path, property)
		}
		return property
	}
	for path, want := range map[string]string{
		"replicas": "integer: How many.", "image": "object: ", "image.tag": "string: A text.", "image.digest": "string: ", "image.pull": ": ",
		"list": "array: ", "open": ": ", "maybe": ": ", "env": ": ", "env.metadata.name": ": ", "wrong": ": ", "wrong.a": ": ",
		"near.size": ": How large.", "far.size": ": How large.", "global.zone": ": ",
	} {
		if property := at(path); property.Type+": "+property.Description != want {
			t.Errorf("%s: got %s: %s", path, property.Type, property.Description)
		}
	}
	for _, name := range []string{"lib", "cache"} {
		assert.NotContains(t, root.Properties["spec"].Properties, name)
	}
}

func TestWhatTheAPIServerStoresOfAValue(t *testing.T) {
	text, _, _ := defined(t, webFiles)
	definition, err := crd.Read(text)
	require.NoError(t, err)
	for name, test := range map[string]struct{ spec, refused string }{
		"nulls, which remove defaults":        {`{replicas: null, image: {tag: null}, list: null, open: null, near: {size: null}, other: null}`, ""},
		"fields that nobody knows":            {`{other: {a: [{b: null}]}, image: {other: 1}, list: [{a: 1}, null], env: text}`, ""},
		"a type that the chart does not take": {`{replicas: many}`, "spec.replicas"},
	} {
		t.Run(name, func(t *testing.T) {
			resource := &unstructured.Unstructured{}
			require.NoError(t, yaml.Unmarshal([]byte("apiVersion: app.example.com/v1\nkind: Web\nmetadata: {name: a, namespace: b}\nspec: "+test.spec), &resource.Object))
			admitted := definition.Admit(t.Context(), resource)
			if refused := fmt.Sprint(admitted.Errors.ToAggregate()); test.refused == "" && len(admitted.Errors) > 0 || !strings.Contains(refused, test.refused) {
				t.Errorf("got %s, want %q", refused, test.refused)
			}
			assert.Empty(t, admitted.Unknown)
			assert.Equal(t, resource.Object["spec"], admitted.Resource.Object["spec"])
		})
	}
}

// The deepest parts of a CRD that is too large go first: descriptions, then properties.
func TestALargeCRDIsCut(t *testing.T) {
	values := func(count, said int) string {
		var out strings.Builder
		out.WriteString("# It says something.\nfirst: 1\nmany:\n")
		for i := range count {
			fmt.Fprintf(&out, "  # %s.\n  value%d:\n    # %s.\n    below: 1\n", strings.Repeat("word ", said), i, strings.Repeat("deep ", said))
		}
		return out.String()
	}
	for name, test := range map[string]struct {
		count, said int
		want        []string
		gone        []string
	}{
		"nothing":                         {10, 5, []string{"It says", "word word", "deep deep", "below:"}, nil},
		"the deepest descriptions":        {400, 40, []string{"It says", "word word", "below:"}, []string{"deep deep"}},
		"descriptions":                    {700, 50, []string{"value7:", "below:"}, []string{"deep deep", "word word"}},
		"the deepest values":              {2000, 5, []string{"value7:"}, []string{"below:", "deep", "word"}},
		"all values but those at the top": {5000, 5, []string{"first:", "many:"}, []string{"value7:"}},
	} {
		t.Run(name, func(t *testing.T) {
			text, _, _ := defined(t, map[string]string{"values.yaml": values(test.count, test.said)})
			if len(text) > mostCRD {
				t.Errorf("it has %d bytes", len(text))
			}
			missing := slices.DeleteFunc(test.want, func(part string) bool { return strings.Contains(string(text), part) })
			left := slices.DeleteFunc(test.gone, func(part string) bool { return !strings.Contains(string(text), part) })
			if len(missing)+len(left) > 0 {
				t.Errorf("of %d bytes, %q are missing, %q are left", len(text), missing, left)
			}
		})
	}
}
