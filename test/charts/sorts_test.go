package charts

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/test/files"
)

// refusal is a part of the message of a set that is refused.
type refusal string

// sometimes are reasons of differences that Helm makes, or not, at random.
type sometimes []string

// sorts are the charts of testdata, with how each set of their values is rendered: as Helm does, with differences of
// some reasons, or not at all. Sets that Helm does not render are left out.
var sorts = map[string]map[string]any{
	"own-templates": {
		defaultsOnly: nil, "ci/other-values.yaml": nil, "verbose=true": nil, "ci/template-values.yaml": nil,
		"ci/reserved-values.yaml": refusal("spec.labels must not have pod-template-hash"),
	},
	"nested-templates": {defaultsOnly: nil},
	"fragments":        {defaultsOnly: nil},
	"random-landing":   {defaultsOnly: refusal("randAlphaNum")},
	"random-unused":    {defaultsOnly: nil},
	"reads-cluster":    {defaultsOnly: nil},
	"unsorted-keys":    {defaultsOnly: sometimes{randomOrder}},
	"hooks": {
		defaultsOnly: refusal("Helm hook"), "migrate=false": nil,
	},
	"tests": {
		defaultsOnly: []string{"test of the chart"},
	},
	"definition": {
		defaultsOnly: []string{"CustomResourceDefinition left out", "null removed: it means what is left out"},
		"every API":  []string{"CustomResourceDefinition left out", "null removed: it means what is left out"},
		"crds=false": []string{"null removed: it means what is left out"},
	},
	"twice": {defaultsOnly: nil},
	"unknown-field": {
		defaultsOnly: []string{"default of the API server: the pull policy of an image"},
	},
	"list": {defaultsOnly: nil, "both=false": nil},
	"subchart": {
		defaultsOnly: nil, "cache.enabled=true": nil,
	},
	"far-schema": {defaultsOnly: nil},
	"requires":   {"ci/host-values.yaml": nil},
	"files":      {defaultsOnly: nil},
	"documents":  {defaultsOnly: []string{"null removed: it means what is left out"}, "every API": []string{"null removed: it means what is left out"}},
	"release": {
		defaultsOnly: []string{"Job runs once: a digest in its name"}, "every API": []string{"Job runs once: a digest in its name"},
		"batch=false": nil,
	},
	"changes-values": {defaultsOnly: nil},
	"nulls":          {defaultsOnly: nil, "ci/without-values.yaml": nil},
	"elsewhere":      {defaultsOnly: refusal(`namespace "monitoring"`), "ci/here-values.yaml": nil},
	"rights":         {defaultsOnly: nil, "aggregate=true": refusal("aggregate-to-view")},
	"imports":        {defaultsOnly: nil, "tags.parts=false": nil},
}

// Each chart stands for what many public charts do.
func TestChartsOfEachSort(t *testing.T) {
	folder := filepath.Join(files.Root(t), "test", "charts", "testdata")
	there, err := chartsIn(folder)
	require.NoError(t, err)
	var described []string
	for name := range sorts {
		described = append(described, name)
	}
	require.ElementsMatch(t, described, there)
	for name, want := range sorts {
		t.Run(name, func(t *testing.T) {
			s, err := load(folder, name)
			require.NoError(t, err)
			got := s.outcomes(t, known{})
			for _, outcome := range got {
				compareOutcome(t, want, outcome)
			}
			assert.Len(t, got, len(want))
		})
	}
}

func compareOutcome(t *testing.T, want map[string]any, got outcome) {
	t.Helper()
	wanted, known := want[got.set]
	assert.True(t, known, "what %s renders is not described", got.set)
	if text, refused := wanted.(refusal); refused {
		assert.ErrorContains(t, got.refused, string(text), got.set)
		assert.NotEmpty(t, onWhatGround(got.refused), got.set)
		return
	}
	assert.Equal(t, got.set == "ci/template-values.yaml", got.open, got.set)
	assert.NoError(t, got.refused, got.set)
	reasons, _ := wanted.([]string)
	if random, is := wanted.(sometimes); is && len(got.differences) > 0 {
		reasons = random
	}
	var found []string
	for _, d := range got.differences {
		reason := why(d)
		if reason == "" {
			t.Errorf("%s: without a reason: %s", got.set, d)
		}
		if !slices.Contains(found, reason) {
			found = append(found, reason)
		}
	}
	assert.ElementsMatch(t, reasons, found, got.set)
}

// A reason that no small chart has would cover what nobody expects.
func TestEachReasonIsThatOfASort(t *testing.T) {
	found := map[string]bool{}
	for _, sets := range sorts {
		for _, want := range sets {
			reasons, _ := want.([]string)
			random, _ := want.(sometimes)
			for _, name := range append(reasons, random...) {
				found[name] = true
			}
		}
	}
	for _, reason := range reasons {
		assert.True(t, found[reason.name], reason.name)
	}
	assert.Len(t, reasons, len(found))
}

// A set of values that Helm does not render either is not counted.
func TestWhatHelmRefusesIsNotCounted(t *testing.T) {
	s, err := load(filepath.Join(files.Root(t), "test", "charts", "testdata"), "requires")
	require.NoError(t, err)
	require.Nil(t, s.try(t, set{name: defaultsOnly}))
}

// A difference that nothing explains is found.
func TestADifferenceIsSilent(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(files.Root(t), "test", "charts", "testdata", "tests"))))
	s, err := load(filepath.Dir(dir), filepath.Base(dir))
	require.NoError(t, err)
	for _, file := range s.renderer.Chart.Templates {
		if filepath.Base(file.Name) == "service.yaml" {
			file.Data = []byte("apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 81}]}\n" +
				"---\napiVersion: v1\nkind: Service\nmetadata: {name: more}\n")
		}
	}
	tried := s.try(t, set{name: defaultsOnly})
	require.NoError(t, tried.refused)
	var silent []string
	for _, d := range tried.silent() {
		silent = append(silent, d.String())
	}
	require.Equal(t, []string{
		`Service more: the object: helm nothing, ours "an object"`,
		"Service web: spec.ports.0.port: helm 80, ours 81",
	}, silent)
}
