package main

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
	// testdata/api imports these, and go mod tidy does not look there.
	_ "k8s.io/api/apps/v1"
	_ "k8s.io/api/autoscaling/v2"
	_ "k8s.io/api/networking/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/chart/fields"
)

// TestOnlyDescriptionsAndDefaultsGo compares with the CRD that controller-gen generates from the same types.
func TestOnlyDescriptionsAndDefaultsGo(t *testing.T) {
	cases := map[string]struct {
		root  string
		other []string // what else differs
	}{
		"our API": {"../..", nil},
		"an API with much of Kubernetes in it": {"testdata", []string{
			"keyless.x-kubernetes-list-map-keys", "keyless.x-kubernetes-list-type",
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			content, size := generated(t, tc.root)
			if err := check(size); err != nil {
				t.Error(err)
			}
			if again, _ := generated(t, tc.root); !bytes.Equal(content, again) {
				t.Error("got two different files for the same types")
			}
			if !strings.Contains(string(content), "\n    controller-gen.kubebuilder.io/version: v") {
				t.Error("got no version of controller-gen")
			}
			got, want := decoded(t, content), decoded(t, controllerGen(t, tc.root))
			var other []string
			compare("", want, got, func(path string, lost bool) {
				key := path[strings.LastIndex(path, ".")+1:]
				bounded := !lost && (key == "maxLength" || key == "maxItems") // see TestForeignKeysOfOurListsAreBounded, TestPortsOfContainersAreBounded
				if !bounded && (!lost || key != "description" && key != "default") {
					other = append(other, path)
				}
			})
			slices.Sort(other)
			if !slices.EqualFunc(other, tc.other, strings.HasSuffix) {
				t.Errorf("got these other differences: %q, want %q", other, tc.other)
			}
		})
	}
}

// TestEveryListMapKeyIsRequiredOrDefaulted checks the API server's requirements on lists of type map.
func TestEveryListMapKeyIsRequiredOrDefaulted(t *testing.T) {
	for _, root := range []string{"../..", "testdata"} {
		lists := 0
		crd.EditSchema(schemaOf(t, root), visit(func(schema *props) {
			if schema.ExternalDocs != nil {
				t.Errorf("%s: a mark was left behind: %+v", root, schema.ExternalDocs)
			}
			for _, key := range schema.XListMapKeys {
				lists++
				item := schema.Items.Schema
				if !slices.Contains(item.Required, key) && item.Properties[key].Default == nil {
					t.Errorf("%s: key %s of list %q is neither required nor defaulted", root, key, schema.Description)
				}
			}
		}))
		if lists == 0 {
			t.Errorf("%s: found no list of type map", root)
		}
	}
}

func TestWhatStaysAndWhatGoes(t *testing.T) {
	const none = ""
	spec := schemaOf(t, "testdata").Properties["spec"]
	cases := map[string]struct{ path, description, defaults string }{
		"our field of a foreign type":              {"livenessProbe", "LivenessProbe of the main container.", none},
		"a field of a foreign type":                {"livenessProbe.periodSeconds", none, none},
		"a default of a foreign type":              {"livenessProbe.grpc.service", none, none},
		"a default deep in a list":                 {"containers.env.valueFrom.secretKeyRef.name", none, none},
		"a default in a map":                       {"foreign.plain.name", none, none},
		"the key of a list in a foreign type":      {"containers.ports.protocol", none, `"TCP"`},
		"the key of our list of a foreign type":    {"ports.protocol", none, `"TCP"`},
		"a key whose type has a default elsewhere": {"imagePullSecrets.name", none, `""`},
		"a key with a default, in another package": {"foreign.defaulted.name", none, `"none"`},
		"a list that is not keyed by the default":  {"foreign.keyless.name", none, none},
		"our default on a foreign type":            {"protocol", "Protocol is a field of ours with a default of ours and a foreign type.", `"UDP"`},
		"our default over a foreign one":           {"grade", "Grade has a default of ours, its foreign type one of its own.", `"ours"`},
		"our field beside an embedded type":        {"own", "Own is required.", none},
		"a field of a foreign embedded type":       {"level", none, none},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			field := at(t, spec, tc.path)
			if field.Description != tc.description {
				t.Errorf("got description %q, want %q", field.Description, tc.description)
			}
			got := none
			if field.Default != nil {
				got = string(field.Default.Raw)
			}
			if got != tc.defaults {
				t.Errorf("got default %q, want %q", got, tc.defaults)
			}
		})
	}
	if level := at(t, spec, "level"); level.Minimum == nil || *level.Minimum != 1 {
		t.Errorf("got minimum %v for level, want 1: validation stays", level.Minimum)
	}
	if want := []string{"needed", "own"}; !slices.Equal(spec.Required, want) {
		t.Errorf("got required %q, want %q", spec.Required, want)
	}
}

func TestForeignKeysOfOurListsAreBounded(t *testing.T) {
	spec := schemaOf(t, "testdata").Properties["spec"]
	for path, want := range map[string]int64{
		"containers.name": longestKey, "volumeMounts.mountPath": longestKey, "topologySpreadConstraints.whenUnsatisfiable": longestKey,
		"containers.image": 0, "containers.env.name": 0, "foreign.defaulted.name": 0, "ports.containerPort": 0, "level": 0,
	} {
		var got int64
		if field := at(t, spec, path); field.MaxLength != nil {
			got = *field.MaxLength
		}
		if got != want {
			t.Errorf("%s: got at most %d characters, want %d (0: any number)", path, got, want)
		}
	}
}

func TestPortsOfContainersAreBounded(t *testing.T) {
	spec := schemaOf(t, "testdata").Properties["spec"]
	if list := at(t, spec, "containers").Items.Schema.Properties["ports"]; list.MaxItems == nil || *list.MaxItems != 32 {
		t.Errorf("containers.ports: got at most %v items, want 32", list.MaxItems)
	}
	if name := at(t, spec, "containers.ports.name"); name.MaxLength == nil || *name.MaxLength != 15 {
		t.Errorf("containers.ports.name: got at most %v characters, want 15", name.MaxLength)
	}
}

func TestRefusals(t *testing.T) {
	atMap := "map"
	list := &props{
		XListType: &atMap, XListMapKeys: []string{"name"},
		Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &props{Properties: map[string]props{"name": {Type: "string"}}}},
	}
	_, noKinds := generate("testdata", "./foreign")
	cases := map[string]struct {
		err  error
		want string
	}{
		"a CRD that is too large":             {check(limit + 1), "184321 bytes"},
		"a CRD at the limit":                  {check(limit), ""},
		"packages without kinds":              {noKinds, "no Kubernetes kinds"},
		"a list of ours with an unfit key":    {finish(list), "listMapKey name of a list of ours"},
		"a repository that is not there":      {run(filepath.Join(t.TempDir(), "gone")), "gone"},
		"a repository without a place for it": {run("testdata"), "no such file"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.want == "" && tc.err != nil || tc.want != "" && (tc.err == nil || !strings.Contains(tc.err.Error(), tc.want)) {
				t.Errorf("got error %v, want %q in it", tc.err, tc.want)
			}
		})
	}
}

func generated(t *testing.T, root string) (content []byte, size int) {
	t.Helper()
	crds, err := generate(root, "./api/...")
	if err != nil {
		t.Fatal(err)
	}
	if len(crds) != 1 {
		t.Fatalf("got %d CRDs of %s, want one", len(crds), root)
	}
	if content, size, err = encode(crds[0]); err != nil {
		t.Fatal(err)
	}
	return content, size
}

func schemaOf(t *testing.T, root string) *props {
	t.Helper()
	content, _ := generated(t, root)
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(content, &crd); err != nil {
		t.Fatal(err)
	}
	return crd.Spec.Versions[0].Schema.OpenAPIV3Schema
}

// controllerGen returns what controller-gen crd writes.
func controllerGen(t *testing.T, root string) []byte {
	t.Helper()
	root, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	var plain genall.Generator = crd.Generator{}
	run, err := genall.Generators{&plain}.ForRootsWithConfig(&packages.Config{Dir: root}, "./api/...")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	run.OutputRules.Default = genall.OutputToDirectory(dir)
	if run.Run() {
		t.Fatalf("controller-gen found errors in %s", root)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) != 1 {
		t.Fatalf("got files %q and error %v, want one file", files, err)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func decoded(t *testing.T, content []byte) map[string]any {
	t.Helper()
	var object map[string]any
	if err := yaml.Unmarshal(content, &object); err != nil {
		t.Fatal(err)
	}
	delete(object["metadata"].(map[string]any), "annotations") // controller-gen knows its version only as a program
	return object
}

// compare reports each difference with its path, and whether it is text or another scalar that was lost.
func compare(path string, want, got any, report func(path string, lost bool)) {
	switch want := want.(type) {
	case map[string]any:
		got, _ := got.(map[string]any)
		for key, value := range want {
			if other, found := got[key]; found {
				compare(path+"."+key, value, other, report)
			} else {
				_, deep := value.(map[string]any)
				report(path+"."+key, !deep)
			}
		}
		for key := range got {
			if _, found := want[key]; !found {
				report(path+"."+key, false)
			}
		}
	case []any:
		got, _ := got.([]any)
		if len(got) != len(want) {
			report(path, false)
			return
		}
		for i := range want {
			compare(path, want[i], got[i], report)
		}
	default:
		if text, _ := want.(string); strings.HasSuffix(text, quantityEnd) {
			want = fields.QuantityPattern // exponents of ours have a bound
		}
		if !reflect.DeepEqual(want, got) {
			report(path, false)
		}
	}
}

// at follows a path of properties, through lists and maps.
func at(t *testing.T, schema props, path string) props {
	t.Helper()
	for _, name := range strings.Split(path, ".") {
		for schema.Items != nil || schema.AdditionalProperties != nil {
			if schema.Items != nil {
				schema = *schema.Items.Schema
			} else {
				schema = *schema.AdditionalProperties.Schema
			}
		}
		var found bool
		if schema, found = schema.Properties[name]; !found {
			t.Fatalf("no property %s of path %s", name, path)
		}
	}
	return schema
}
