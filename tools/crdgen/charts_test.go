package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// ours are the CRDs of our types, made once: it takes seconds.
var ours = sync.OnceValues(func() ([]apiextensionsv1.CustomResourceDefinition, error) { return generate("../..", "./api/...") })

// completed are the CRDs of a repository with these files in the folder of a chart for AppService and of one for a kind without a Go type.
func completed(t *testing.T, appService, widget string) ([]apiextensionsv1.CustomResourceDefinition, error) {
	t.Helper()
	root := t.TempDir()
	write(t, filepath.Join(root, "watches.yaml"), "- {group: app.example.com, version: v1, kind: AppService, chart: charts/web}\n"+
		"- {group: app.example.com, version: v1, kind: Widget, chart: charts/widget}\n")
	for chart, text := range map[string]string{"web": appService, "widget": widget} {
		if text != "" {
			write(t, filepath.Join(root, "charts", chart, "fields.yaml"), text)
		}
	}
	list, err := charts(root)
	if err != nil {
		return nil, err
	}
	crds, err := ours()
	if err != nil {
		t.Fatal(err)
	}
	copied := make([]apiextensionsv1.CustomResourceDefinition, 0, len(crds))
	for _, crd := range crds {
		copied = append(copied, *crd.DeepCopy())
	}
	return complete(copied, list)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

const topology = `fields:
  topology:
    type: object
    description: How pods are spread.
    properties:
      zoneCount: {type: integer, minimum: 1, description: Over how many zones., default: 3}
      memory: {x-kubernetes-int-or-string: true, format: quantity, description: A quantity.}
rules:
- {rule: "!has(self.topology) || self.topology.zoneCount <= self.size", message: too few replicas for so many zones}
`

const widget = `kind: {description: Widget turns., shortNames: [wi], plural: widgetry}
fields:
  image: {$ref: AppService.spec.image}
  envs: {$ref: AppService.spec.envs, description: Variables of the widget.}
  turns: {type: integer, description: How often., default: 2}
required: [image]
`

func TestFieldsOfChartsAreInTheCRDs(t *testing.T) {
	before, err := ours()
	if err != nil {
		t.Fatal(err)
	}
	crds, err := completed(t, topology, widget)
	if err != nil || len(crds) != 2 {
		t.Fatalf("got %d CRDs and error %v, want 2", len(crds), err)
	}
	root := func(crd apiextensionsv1.CustomResourceDefinition) props {
		return *crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	}
	spec, was := root(crds[0]).Properties["spec"], root(before[0]).Properties["spec"]
	if got := at(t, spec, "topology.zoneCount"); string(got.Default.Raw) != "3" || *got.Minimum != 1 || got.Description != "Over how many zones." {
		t.Errorf("got %+v", got)
	}
	if got := at(t, spec, "topology.memory"); !got.XIntOrString || len(got.AnyOf) != 2 || got.Pattern == "" || got.Format != "" {
		t.Errorf("got %+v, want what a quantity of Kubernetes' is", got)
	}
	if len(spec.Properties) != len(was.Properties)+1 || len(spec.XValidations) != len(was.XValidations)+1 {
		t.Errorf("got %d fields and %d rules, want one of each more than %d and %d", len(spec.Properties), len(spec.XValidations), len(was.Properties), len(was.XValidations))
	}

	made := crds[1]
	if names := made.Spec.Names; made.Name != "widgetry.app.example.com" || names.Kind != "Widget" || names.ListKind != "WidgetList" || !slices.Equal(names.ShortNames, []string{"wi"}) {
		t.Errorf("got name %s and %+v", made.Name, names)
	}
	schema := root(made)
	if schema.Description != "Widget turns." || !slices.Equal(schema.Properties["spec"].Required, []string{"image"}) {
		t.Errorf("got description %q, required %v", schema.Description, schema.Properties["spec"].Required)
	}
	if got := at(t, schema.Properties["spec"], "envs"); got.Description != "Variables of the widget." || got.XListType == nil || *got.MaxItems != *was.Properties["envs"].MaxItems {
		t.Errorf("got %+v, want the schema of AppService with another description", got)
	}
	if !slices.EqualFunc(schema.Properties["status"].Required, root(before[0]).Properties["status"].Required, strings.EqualFold) ||
		len(schema.Properties["status"].Properties) != len(root(before[0]).Properties["status"].Properties) {
		t.Error("the status is another")
	}
	version := made.Spec.Versions[0]
	if version.Subresources.Status == nil || version.Subresources.Scale != nil {
		t.Errorf("got subresources %+v, want the status alone", version.Subresources)
	}
	if len(version.AdditionalPrinterColumns) != len(before[0].Spec.Versions[0].AdditionalPrinterColumns) {
		t.Errorf("got columns %+v, want all: it has an image, too", version.AdditionalPrinterColumns)
	}
}

// Mistakes that the API server would refuse are reported with the line of the file.
func TestWhatTheAPIServerWouldRefuse(t *testing.T) {
	object := func(more string) string {
		return "fields:\n  topology:\n    type: object\n    description: x\n    properties:\n      zones: {type: array, description: x, items: {type: string}}\n" + more
	}
	cases := map[string]struct{ appService, widget, want string }{
		"a rule of a field that is not there": {
			strings.Replace(topology, "self.topology.zoneCount", "self.topologie.zoneCount", 1), "",
			"charts/web/fields.yaml:9: spec: compilation failed: ERROR: <input>:1:28: undefined field 'topologie'",
		},
		"a rule that is not a bool": {
			topology, widget + "rules:\n- {rule: self.turns > 1, message: x}\n- {rule: self.turns + 1, message: x}\n",
			"charts/widget/fields.yaml:9: spec: cel expression must evaluate to a bool",
		},
		"a rule within a field": {
			object("    x-kubernetes-validations:\n    - {rule: self.zone == 1, message: x}\n"), "",
			"charts/web/fields.yaml:8: spec.topology: compilation failed: ERROR: <input>:1:5: undefined field 'zone'",
		},
		"a rule without an end": {
			object("    x-kubernetes-validations:\n    - {rule: 'self.zones.all(a, self.zones.all(b, self.zones.all(c, a != b || b != c)))', message: x}\n"), "",
			"charts/web/fields.yaml:8: spec.topology: estimated rule cost exceeds budget by factor of",
		},
		"a kind that nothing is said of": {"", "fields: {}\n", "charts/widget/fields.yaml:1: Widget has no Go type, so the file must describe it"},
		"mistakes in two charts":         {"fields:\n  size: {type: integer, description: x}\n", "fieldz: {}\n", "charts/widget/fields.yaml:1: fieldz: unknown key"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := completed(t, test.appService, test.widget)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v\nwant %s", err, test.want)
			}
			if name == "mistakes in two charts" && !strings.Contains(err.Error(), "charts/web/fields.yaml:2: spec.size: AppService has this field already") {
				t.Errorf("got %v, want both", err)
			}
		})
	}
}
