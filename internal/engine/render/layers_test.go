package render

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	helmchart "helm.sh/helm/v3/pkg/chart"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	appservice "github.com/example/appservice-operator"
	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/chart/fields"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/render/defaults"
	"github.com/example/appservice-operator/internal/engine/values"
)

// servedKinds returns the renderers of the kinds that are shipped, with what watches.yaml says.
func servedKinds(t *testing.T) map[string]*Renderer {
	t.Helper()
	text, err := fs.ReadFile(appservice.Files, "watches.yaml")
	require.NoError(t, err)
	list, err := chart.LoadWatches(text, appservice.Files)
	require.NoError(t, err)
	renderers := map[string]*Renderer{}
	for _, entry := range list {
		if entry.Is() {
			continue // its fields are not known
		}
		renderers[entry.Kind] = with(entry.GroupVersionKind, entry.Chart, Platform{Namespaces: entry.NamespaceDefaults})
	}
	return renderers
}

func with(kind schema.GroupVersionKind, c *helmchart.Chart, platform Platform) *Renderer {
	platform.Kind = kind
	return &Renderer{Chart: c, Translator: values.For(kind, c, nil), Platform: platform, Hooks: postrender.Default()}
}

func TestWhatNamespacesMaySetFitsTheCharts(t *testing.T) {
	for kind, renderer := range servedKinds(t) {
		if err := renderer.FitPlatform(); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		for _, field := range []string{"image", "command", "envs", "initContainers", "serviceAccount", "volumes", "podLabels"} {
			if slices.Contains(renderer.Platform.Namespaces, field) {
				t.Errorf("%s: whoever may write ConfigMaps sets %s", kind, field)
			}
		}
	}
}

func TestDefaultsThatDoNotFitAreRefusedByName(t *testing.T) {
	cases := map[string]struct{ kind, values, want string }{
		"what fits":                        {"AppService", "{tolerations: [{operator: Exists}], resources: {limits: {memory: 1Gi}}, ingress: {className: nginx}}", ""},
		"an unknown field":                 {"AppService", "{resource: {}}", "resource: there is no such field: did you mean resources?"},
		"an unknown field of Kubernetes":   {"AppService", "{resources: {limit: {cpu: 1}}}", "resources.limit: there is no such field: did you mean limits?"},
		"one in a list":                    {"AppService", "{tolerations: [{kee: a}]}", "tolerations[0].kee: there is no such field: did you mean key?"},
		"another type":                     {"AppService", "{tolerations: {a: b}}", "tolerations: got object, want array"},
		"no quantity":                      {"AppService", "{resources: {limits: {cpu: banana}}}", "resources.limits.cpu: not a quantity, such as 500m or 1Gi"},
		"no value of an enum":              {"AppService", "{imagePullPolicy: Sometimes}", "imagePullPolicy: value must be one of"},
		"out of bounds":                    {"AppService", "{revisionHistoryLimit: -1}", "revisionHistoryLimit: must be at least 0"},
		"what each spec has":               {"AppService", "{image: nginx}", "image cannot have a default: each spec has it"},
		"what the API server fills in":     {"AppService", "{size: 2}", "size cannot have a default: the API server writes 1 into each spec that has none, so that kubectl scale works"},
		"what is about one resource":       {"AppService", "{paused: true}", "paused cannot have a default: "},
		"when one resource ends":           {"AppService", "{ttl: 1h}", "ttl cannot have a default: "},
		"what cannot be changed":           {"AppService", "{persistence: {perReplica: true}}", "persistence.perReplica cannot have a default: "},
		"nothing":                          {"AppService", "{resources: null}", "resources: empty: leave it out"},
		"a text that templates lose":       {"AppService", `{priorityClassName: "<no value>"}`, "priorityClassName holds the text"},
		"a declared field":                 {"AppJob", "{deadlineSeconds: 60}", ""},
		"a declared field with a default":  {"AppJob", "{retries: 1}", "retries cannot have a default: the API server writes 3 into each spec that has none"},
		"a declared field that is needed":  {"AppJob", "{image: nginx}", "image cannot have a default: each spec has it"},
		"a declared field that is unknown": {"AppJob", "{deadline: 60}", "deadline: there is no such field"},
		"a declared field out of bounds":   {"AppJob", "{deadlineSeconds: -1}", "deadlineSeconds: must be at least 0"},
	}
	renderers := servedKinds(t)
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			given := chart.DefaultValues{}
			require.NoError(t, yaml.Unmarshal([]byte(test.values), &given))
			renderer := renderers[test.kind]
			err := with(renderer.Platform.Kind, renderer.Chart, Platform{Defaults: given}).FitPlatform()
			switch {
			case test.want == "" && err != nil:
				t.Errorf("they are refused: %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), "defaultValues of watches.yaml: "+test.want)):
				t.Errorf("got %v, want %s", err, test.want)
			}
			var refused *defaults.Error
			if test.want != "" && !errors.As(err, &refused) {
				t.Errorf("got a %T", err)
			}
		})
	}
	for path, want := range map[string]string{"resources.limits": "", "resource": "did you mean resources?", "size": "size cannot have a default", "config.loglevel": "did you mean logLevel?"} {
		renderer := renderers["AppService"]
		err := with(renderer.Platform.Kind, renderer.Chart, Platform{Namespaces: []string{path}}).FitPlatform()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("namespaceDefaults %s: got %v, want %q", path, err, want)
		}
	}
}

// A default never reaches a field that the API server fills in, or that each spec has.
func TestFieldsThatEachSpecHasAreRefused(t *testing.T) {
	for kind, renderer := range servedKinds(t) {
		text, err := os.ReadFile("../../../config/crd/bases/app.example.com_" + strings.ToLower(kind) + "s.yaml")
		require.NoError(t, err)
		crd := &apiextensionsv1.CustomResourceDefinition{}
		require.NoError(t, yaml.Unmarshal(text, crd))
		spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		if each := eachSpecHas(t, spec, values.PlaceOf(renderer.Translator), "spec"); each == 0 || len(spec.Required) == 0 {
			t.Errorf("%s: got no field that each spec has, or none that is required", kind)
		}
		for _, name := range spec.Required {
			if values.PlaceOf(renderer.Translator).Fixed(name) == "" {
				t.Errorf("%s: spec.%s is required: no default ever reaches it", kind, name)
			}
		}
	}
}

// eachSpecHas counts the fields that the API server fills in, and fails the test if a default for one is not refused.
func eachSpecHas(t *testing.T, schema apiextensionsv1.JSONSchemaProps, place fields.Place, path string) (count int) {
	t.Helper()
	for name, property := range schema.Properties {
		if property.Default != nil {
			count++
			if place.Fixed(name) == "" {
				t.Errorf("%s.%s has a default in the CRD: none beneath the spec ever reaches it", path, name)
			}
		}
		field, _ := place.Field(name)
		count += eachSpecHas(t, property, field, path+"."+name)
	}
	return count
}

func TestUnderLeavesTheResource(t *testing.T) {
	renderer := servedKinds(t)["AppService"]
	layers, err := renderer.Layers(defaults.Of(&corev1.ConfigMap{Data: map[string]string{"appservice.yaml": "tolerations: [{operator: Exists}]"}}, v1.Kind))
	require.NoError(t, err)
	resource := appService(t, "{image: nginx}")
	filled, applied := renderer.Under(resource, layers)
	if len(applied) != 1 || applied[0].Source != defaults.ByNamespace {
		t.Errorf("got %v", applied)
	}
	if spec := resource.Object["spec"].(map[string]any); len(spec) != 1 {
		t.Errorf("the resource is changed: %v", spec)
	}
	if spec := filled.Object["spec"].(map[string]any); len(spec) != 2 || filled.GetName() != resource.GetName() {
		t.Errorf("got %v", filled)
	}
}
