package preview

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/engine/render/defaults"
)

// widgets serves a kind with more lines of watches.yaml.
func widgets(t *testing.T, more string) *render.Renderer {
	t.Helper()
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"charts/widget/Chart.yaml":  "apiVersion: v2\nname: widget\nversion: 1.0.0\n",
		"charts/widget/values.yaml": "color: blue\nsize: {width: 1, height: 2}\ntags: [a]\nempty: {}\n",
	} {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	list, err := chart.LoadWatches([]byte("- {group: example.com, version: v1, kind: Widget, chart: charts/widget"+more+"}\n"), files)
	require.NoError(t, err)
	return render.For(list[0], list[0].Chart)
}

func widget(t *testing.T, spec string) *unstructured.Unstructured {
	t.Helper()
	out := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte("apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: web, namespace: shop}\nspec: " + spec))
	if err == nil {
		err = utiljson.Unmarshal(data, &out.Object)
	}
	require.NoError(t, err)
	return out
}

func TestWhereValuesComeFrom(t *testing.T) {
	t.Parallel()
	const (
		platform  = ", defaultValues: {color: green, size: {depth: 3}}"
		namespace = ", namespaceDefaults: [color, size.depth, labels]"
		overrides = ", overrideValues: {size.width: '7', tags: '{x,y}'}"
	)
	for name, test := range map[string]struct {
		watches, namespace, spec string
		want                     []string
	}{
		"the chart alone": {"", "", "{}", []string{"color=blue (chart)", "empty=map[] (chart)", "size.height=2 (chart)", "size.width=1 (chart)", "tags=[a] (chart)"}},
		"the spec over it": {"", "", "{color: red, size: {width: 5}, tags: []}", []string{
			"color=red (spec)", "empty=map[] (chart)", "size.height=2 (chart)", "size.width=5 (spec)", "tags=[] (spec)",
		}},
		"defaults of the platform between them": {platform, "", "{size: {width: 5}}", []string{
			"color=green (defaultValues of watches.yaml)", "empty=map[] (chart)", "size.depth=3 (defaultValues of watches.yaml)", "size.height=2 (chart)", "size.width=5 (spec)", "tags=[a] (chart)",
		}},
		"defaults of the namespace above those": {platform + namespace, "color: yellow\nlabels: {a: b}\n", "{labels: {c: d}}", []string{
			"color=yellow (ConfigMap appservice-defaults)", "empty=map[] (chart)", "labels.a=b (ConfigMap appservice-defaults)", "labels.c=d (spec)",
			"size.depth=3 (defaultValues of watches.yaml)", "size.height=2 (chart)", "size.width=1 (chart)", "tags=[a] (chart)",
		}},
		"what the platform puts over all": {overrides, "", "{size: {width: 5, height: 6}}", []string{
			"color=blue (chart)", "empty=map[] (chart)", "size.height=6 (spec)", "size.width=7 (overrideValues of watches.yaml)", "tags=[x y] (overrideValues of watches.yaml)",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			serves := widgets(t, test.watches)
			config := &corev1.ConfigMap{Data: map[string]string{}}
			if test.namespace != "" {
				config.Data["widget.yaml"] = test.namespace
			}
			in := render.Input{
				Resource: widget(t, test.spec), Defaults: defaults.Of(config, "Widget"), Capabilities: chartutil.DefaultCapabilities,
			}
			list, err := ValuesOf(t.Context(), serves, in)
			require.NoError(t, err)
			var got []string
			for _, value := range list {
				got = append(got, fmt.Sprintf("%s=%v (%s)", value.Name(), value.Value, value.Origin))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestValuesAreYAML(t *testing.T) {
	t.Parallel()
	list := []Value{
		{[]string{"color"}, "true", FromSpec}, {[]string{"empty"}, map[string]any{}, FromChart},
		{[]string{"size", "height"}, int64(2), FromChart}, {[]string{"size", "width"}, int64(7), FromPlatform},
		{[]string{"tags"}, []any{"a", map[string]any{"b": "c"}}, FromSpec}, {[]string{"text"}, "one\ntwo\n", FromSpec},
	}
	for name, test := range map[string]struct {
		origins bool
		want    string
	}{
		"as they are": {false, "color: \"true\"\nempty: {}\nsize:\n  height: 2\n  width: 7\ntags:\n  - a\n  - b: c\ntext: |\n  one\n  two\n"},
		"with where they come from": {true, "color: \"true\" # spec\nempty: {} # chart\nsize:\n  height: 2 # chart\n  width: 7 # overrideValues of watches.yaml\n" +
			"# spec\ntags:\n  - a\n  - b: c\ntext: | # spec\n  one\n  two\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ValuesYAML(list, test.origins)
			if err != nil || string(got) != test.want {
				t.Errorf("got %v\n%s\nwant\n%s", err, got, test.want)
			}
		})
	}
}
