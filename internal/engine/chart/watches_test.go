package chart

import (
	"io/fs"
	"reflect"
	"testing"
	"testing/fstest"
	"time"

	plugins "github.com/operator-framework/helm-operator-plugins/pkg/watches"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	appservice "github.com/example/appservice-operator"
	v1 "github.com/example/appservice-operator/api/v1"
)

// charts holds the charts web and broken.
func charts() fs.FS {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	return fstest.MapFS{
		"charts/web/Chart.yaml":               file("apiVersion: v2\nname: web\nversion: 1.2.3\n"),
		"charts/web/templates/service.yaml":   file("apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"),
		"charts/broken/Chart.yaml":            file("apiVersion: v2\nname: broken\nversion: 1.2.3\n"),
		"charts/broken/templates/broken.yaml": file("a: 1\nb: {{ nosuch }}\n"),
	}
}

func TestTheShippedWatchesFile(t *testing.T) {
	text, err := fs.ReadFile(appservice.Files, "watches.yaml")
	require.NoError(t, err)
	list, err := LoadWatches(text, appservice.Files)
	require.NoError(t, err)
	if list[0].GroupVersionKind != v1.GroupVersion.WithKind(v1.Kind) {
		t.Fatalf("got %v, want AppService first", list)
	}
	if got := list[0].Chart.Name(); got != "appservice" {
		t.Errorf("its chart is %q", got)
	}
}

func TestLoadWatches(t *testing.T) {
	cases := map[string]struct {
		text string
		want []Watch
	}{
		"what is left out has defaults": {
			text: "- {group: example.com, version: v1, kind: Web, chart: charts/web}",
			want: []Watch{{Watch: plugins.Watch{
				ChartPath:               "charts/web",
				WatchDependentResources: ptr.To(true),
				OverrideValues:          map[string]string{},
				Selector:                &metav1.LabelSelector{},
			}}},
		},
		"every key": {
			text: `
- group: example.com
  version: v1
  kind: Web
  chart: ./charts/web/
  watchDependentResources: false
  reconcilePeriod: 1m30s
  maxConcurrentReconciles: 4
  selector:
    matchLabels: {tier: front}
    matchExpressions: [{key: team, operator: In, values: [a, b]}]
  overrideValues:
    image: nginx:1.10
    ports[0].port: 80
    quiet: true
  defaultValues:
    quiet: false
    ports: [{port: 8080}]
  namespaceDefaults: [resources, config.environment]
`,
			want: []Watch{{
				Watch: plugins.Watch{
					ChartPath:               "./charts/web/",
					WatchDependentResources: ptr.To(false),
					ReconcilePeriod:         &metav1.Duration{Duration: 90 * time.Second},
					MaxConcurrentReconciles: ptr.To(4),
					Selector: &metav1.LabelSelector{
						MatchLabels:      map[string]string{"tier": "front"},
						MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: metav1.LabelSelectorOpIn, Values: []string{"a", "b"}}},
					},
					OverrideValues: map[string]string{"image": "nginx:1.10", "ports[0].port": "80", "quiet": "true"},
				},
				DefaultValues:     DefaultValues{"quiet": false, "ports": []any{map[string]any{"port": int64(8080)}}},
				NamespaceDefaults: []string{"resources", "config.environment"},
			}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := LoadWatches([]byte(tc.text), charts())
			require.NoError(t, err)
			for i := range got {
				if got[i].Chart == nil || got[i].Chart.Name() != "web" {
					t.Errorf("entry %d: the chart is not loaded", i+1)
				}
				got[i].Chart = nil
			}
			for i := range tc.want {
				tc.want[i].Group, tc.want[i].Version, tc.want[i].Kind = "example.com", "v1", "Web"
			}
			if !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got  %+v\nwant %+v", got, tc.want)
			}
		})
	}
}

func TestEntriesKeepTheirOrderAndMayShareAChart(t *testing.T) {
	list, err := LoadWatches([]byte(`
- {group: example.com, version: v1, kind: Web, chart: charts/web}
- {group: example.com, version: v2, kind: Web, chart: charts/web}
- {group: example.org, version: v1, kind: Web, chart: charts/web}
- {version: v1, kind: Web, chart: charts/web}
`), charts())
	require.NoError(t, err)
	var got []string
	for _, w := range list {
		got = append(got, w.String())
	}
	want := []string{"example.com/v1, Kind=Web", "example.com/v2, Kind=Web", "example.org/v1, Kind=Web", "/v1, Kind=Web"}
	assert.Equal(t, want, got)
}

func TestOverrideValuesAreExpanded(t *testing.T) {
	t.Setenv("IMAGE", "registry.example.com/web:1.10")
	t.Setenv("EMPTY", "")
	cases := map[string]struct{ value, want string }{
		"plain text":                {"nginx:1.10", "nginx:1.10"},
		"a variable":                {"$IMAGE", "registry.example.com/web:1.10"},
		"a variable in braces":      {"${IMAGE}-debug", "registry.example.com/web:1.10-debug"},
		"a variable that is empty":  {"a${EMPTY}b", "ab"},
		"a variable that is not":    {"a${NO_SUCH_VARIABLE}b", "ab"},
		"a sprig function":          {`{{ "web" | upper }}`, "WEB"},
		"a function of the machine": {`{{ env "IMAGE" }}`, "registry.example.com/web:1.10"},
		"a variable in a template":  {`{{ "$IMAGE" | replace "1.10" "1.11" }}`, "registry.example.com/web:1.11"},
		"nothing":                   {"", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			text := "- {version: v1, kind: Web, chart: charts/web, overrideValues: {image: '" + tc.value + "'}}"
			list, err := LoadWatches([]byte(text), charts())
			require.NoError(t, err)
			assert.Equal(t, tc.want, list[0].OverrideValues["image"])
		})
	}
}

func TestWhatCannotBeUsedIsRefusedByName(t *testing.T) {
	const web = "- {group: example.com, version: v1, kind: Web, chart: charts/web}\n"
	cases := map[string]struct {
		text string
		want []string
	}{
		"an empty file":                          {"", []string{"nothing to serve"}},
		"comments alone":                         {"# nothing\n", []string{"nothing to serve"}},
		"an empty list":                          {"[]", []string{"nothing to serve"}},
		"no list":                                {"kind: Web", []string{"cannot parse watches"}},
		"no YAML":                                {"- kind: {", []string{"cannot parse watches", "line 1"}},
		"an unknown key":                         {web + "- {version: v1, kind: Api, chartPath: charts/web}", []string{`"chartPath"`}},
		"a key twice in an entry":                {"- {version: v1, kind: Web, kind: Api, chart: charts/web}", []string{`"kind"`}},
		"a kind twice":                           {web + web, []string{"example.com/v1, Kind=Web", "twice"}},
		"no version":                             {web + "- {kind: Api, chart: charts/web}", []string{"entry 2", "version"}},
		"no kind":                                {web + "- {version: v1, chart: charts/web}", []string{"entry 2", "kind"}},
		"an entry that is empty":                 {web + "-\n", []string{"entry 2"}},
		"no chart":                               {"- {group: example.com, version: v1, kind: Web}", []string{"example.com/v1, Kind=Web", "chart is required"}},
		"a chart that is not there":              {"- {group: example.com, version: v1, kind: Web, chart: charts/absent}", []string{"example.com/v1, Kind=Web", "charts/absent"}},
		"a chart outside":                        {"- {group: example.com, version: v1, kind: Web, chart: ../web}", []string{"example.com/v1, Kind=Web", "../web"}},
		"a chart with an absolute path":          {"- {group: example.com, version: v1, kind: Web, chart: /opt/helm-charts/web}", []string{"example.com/v1, Kind=Web", "/opt/helm-charts/web", "--chart-dir", "helm-charts/web"}},
		"a chart that does not parse":            {"- {group: example.com, version: v1, kind: Web, chart: charts/broken}", []string{"example.com/v1, Kind=Web", "broken.yaml:2"}},
		"a selector with an unknown operator":    {"- {version: v1, kind: Web, chart: charts/web, selector: {matchExpressions: [{key: a, operator: Like}]}}", []string{"Kind=Web", "selector", "Like"}},
		"a selector with a value that cannot be": {"- {version: v1, kind: Web, chart: charts/web, selector: {matchLabels: {a: 'b c'}}}", []string{"Kind=Web", "selector", "b c"}},
		"a selector with an unknown key":         {"- {version: v1, kind: Web, chart: charts/web, selector: {labels: {a: b}}}", []string{`"labels"`}},
		"an override that does not parse":        {"- {version: v1, kind: Web, chart: charts/web, overrideValues: {image: '{{ nosuch }}'}}", []string{"Kind=Web", "overrideValues image", "nosuch"}},
		"an override that fails":                 {"- {version: v1, kind: Web, chart: charts/web, overrideValues: {image: '{{ fail \"no image\" }}'}}", []string{"Kind=Web", "overrideValues image", "no image"}},
		"overrides in another shape":             {"- {version: v1, kind: Web, chart: charts/web, overrideValues: {image: [a]}}", []string{"overrideValues"}},
		"a period that is none":                  {"- {version: v1, kind: Web, chart: charts/web, reconcilePeriod: soon}", []string{`"soon"`}},
		"a number that is none":                  {"- {version: v1, kind: Web, chart: charts/web, maxConcurrentReconciles: many}", []string{"maxConcurrentReconciles"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			list, err := LoadWatches([]byte(tc.text), charts())
			require.Error(t, err, "it was accepted: %+v", list)
			for _, part := range tc.want {
				assert.ErrorContains(t, err, part)
			}
		})
	}
}
