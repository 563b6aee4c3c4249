package render

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
)

// strict is a chart whose schema says what type its one value has, with a subchart that requires a number.
func strict(kind string) *chart.Chart {
	schema := func(kind string) []byte { return []byte(`{"properties": {"size": {"type": "` + kind + `"}}}`) }
	child := &chart.Chart{Metadata: &chart.Metadata{APIVersion: "v2", Name: "child", Version: "1.0.0"}, Schema: schema("number")}
	parent := &chart.Chart{
		Metadata: &chart.Metadata{
			APIVersion: "v2", Name: "parent", Version: "1.0.0",
			Dependencies: []*chart.Dependency{{Name: "child", Version: "1.0.0"}},
		},
		Templates: []*chart.File{{Name: "templates/a.yaml", Data: []byte(service)}},
		Schema:    schema(kind),
	}
	parent.SetDependencies(child)
	return parent
}

func TestValuesMustFitTheSchema(t *testing.T) {
	cases := map[string]struct {
		chart *chart.Chart
		spec  string
		want  string // in the error, none if empty
	}{
		"values that fit":                   {strict("number"), `{size: 1, child: {size: 1}}`, ""},
		"a value that does not":             {strict("number"), `{size: a}`, "spec.size: got string, want number"},
		"a subchart's value does not":       {strict("number"), `{child: {size: a}}`, "spec.child.size: got string, want number"},
		"a subchart's values are not a map": {strict("number"), `{child: 5}`, "spec.child: must be a map"},
		"another schema of the same name":   {strict("string"), `{size: a}`, ""},
		"a schema that is none":             {strict("nothing"), `{size: a}`, "/properties/size/type"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			renderer := familyRenderer(tc.chart)
			for range 2 { // compiled, then known
				_, err := renderer.Render(t.Context(), resource(t, widget, tc.spec), everyKind)
				if tc.want == "" && err != nil {
					t.Fatal(err)
				}
				if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
					t.Fatalf("got error %v, want %q", err, tc.want)
				}
			}
		})
	}
}

func TestASchemaIsCompiledOnce(t *testing.T) {
	renderer := familyRenderer(strict("number"))
	compiled := func() any {
		rendered(t, renderer, resource(t, widget, `{size: 1}`))
		schema, found := renderer.schemas.compiled.Load(&renderer.Chart.Schema[0])
		if !found {
			t.Fatal("it is not kept")
		}
		return schema
	}
	first := compiled()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() { rendered(t, renderer, resource(t, widget, `{size: 2}`)) })
	}
	group.Wait()
	if compiled() != first {
		t.Error("it was compiled again")
	}
}

// A renderer may get another chart: what it keeps is known by the text of the schema.
func TestAnotherChartHasAnotherSchema(t *testing.T) {
	renderer := familyRenderer(strict("number"))
	rendered(t, renderer, resource(t, widget, `{size: 1}`))
	renderer.Chart = strict("string")
	if _, err := renderer.Render(t.Context(), resource(t, widget, `{size: 1}`), everyKind); err == nil {
		t.Error("the schema of the first chart is still in force")
	}
}

// A render reads neither the network nor the disk, in subcharts either; what else the schema says is checked.
func TestASchemaIsNotFetched(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = w.Write([]byte(`{"type": "string"}`))
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "a.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"type": "string"}`), 0o600))
	for name, reference := range map[string]string{"the network": server.URL, "the disk": "file://" + file} {
		t.Run(name, func(t *testing.T) {
			c := strict("number")
			for _, each := range []*chart.Chart{c, c.Dependencies()[0]} {
				each.Schema = []byte(`{"properties": {"size": {"type": "number"}, "a": {"$ref": "` + reference + `"}}}`)
			}
			renderer := familyRenderer(c)
			rendered(t, renderer, resource(t, widget, `{a: 1, child: {a: 1}}`))
			_, err := renderer.Render(t.Context(), resource(t, widget, `{a: 1, child: {size: b}}`), everyKind)
			require.ErrorContains(t, err, "spec.child.size: got string, want number")
		})
	}
	require.Zero(t, asked, "requests of the network")
}
