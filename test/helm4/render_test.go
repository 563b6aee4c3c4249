package helm4

import (
	"io"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"
	_ "unsafe" // for go:linkname

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	chart3 "helm.sh/helm/v3/pkg/chart"
	loader3 "helm.sh/helm/v3/pkg/chart/loader"
	release3 "helm.sh/helm/v3/pkg/releaseutil"
	"helm.sh/helm/v4/pkg/chart/common"
	chart4 "helm.sh/helm/v4/pkg/chart/v2"
	lint4 "helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	loader4 "helm.sh/helm/v4/pkg/chart/v2/loader"
	release4 "helm.sh/helm/v4/pkg/release/v1/util"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/values"
	"github.com/example/appservice-operator/test/files"
)

// differs reports whether both versions of Helm render different texts, and shows them.
func differs(t *testing.T, three *chart3.Chart, four *chart4.Chart, vals map[string]any, name string) bool {
	t.Helper()
	want, err := withThree(three, vals, name)
	require.NoError(t, err, name)
	got, err := withFour(four, three, vals, name)
	require.NoError(t, err, name)
	require.NotEmpty(t, want)
	for file, text := range want {
		require.Equal(t, documents(release3.SplitManifests(text)), documents(release4.SplitManifests(text)), file)
	}
	return !assert.Empty(t, cmp.Diff(want, got), "%s renders otherwise (-Helm 3 +Helm 4)", name)
}

// documents are those of a text that say something, without the space around them.
func documents(split map[string]string) []string {
	var list []string
	for _, text := range split {
		if strings.Trim(text, "-\n") != "" {
			list = append(list, strings.TrimSpace(text))
		}
	}
	slices.Sort(list)
	return list
}

func TestGoldenCasesRenderTheSame(t *testing.T) {
	all, differences := goldenCases(t), 0
	for _, one := range all {
		vals, _, err := values.Read(t.Context(), one.renderer.Translator, one.resource)
		require.NoError(t, err)
		if differs(t, one.renderer.Chart, one.four, vals, one.resource.GetName()) {
			t.Errorf("case %s differs", one.name)
			differences++
		}
	}
	t.Logf("HELM4 cases=%d differences=%d", len(all), differences)
}

// Users install the operator itself with the Helm that they have.
func TestTheInstallationChartRendersTheSame(t *testing.T) {
	log.SetOutput(io.Discard) // the chart has links, which Helm reports
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	dir := filepath.Join(files.Root(t), "config/chart")
	three, err := loader3.LoadDir(dir)
	require.NoError(t, err)
	four, err := loader4.LoadDir(dir)
	require.NoError(t, err)
	differs(t, three, four, nil, "appservice-operator")
	differs(t, three, four, map[string]any{"watchNamespaces": []any{"a", "b"}}, "appservice-operator")
}

// These differences concern charts of others. ADR 40 lists them, with remedies.
func TestWhatTemplatesSeeOtherwise(t *testing.T) {
	for text, want := range map[string][2]string{
		`{{ hasKey .Values "none" }}`:                    {"true", "false"},
		`{{ hasKey .Values.nested "none" }}`:             {"true", "false"},
		`{{ toJson .Values }}`:                           {`{"nested":{"none":null},"none":null}`, `{"nested":{}}`},
		`{{ .Values.none | default "a" }}`:               {"a", "a"},
		`{{ kindOf .Chart }}`:                            {"struct", "map"},
		`{{ .Chart.Name }} {{ .Chart.IsRoot }}`:          {"probe true", "probe true"},
		`{{ .Chart.Nothing }}`:                           {"error", ""},
		`{{ hasKey (fromJson (toJson .Chart)) "name" }}`: {"true", "false"},
		`{{ .Capabilities.HelmVersion.Version }}`:        {"v3.22", "v4.3"},
	} {
		t.Run(text, func(t *testing.T) {
			defaults := map[string]any{"none": nil, "nested": map[string]any{"none": nil}}
			three, err := withThree(&chart3.Chart{Metadata: &chart3.Metadata{Name: "probe"}, Values: defaults,
				Templates: []*chart3.File{{Name: "templates/a", Data: []byte(text)}}}, nil, "web")
			if err != nil {
				three = map[string]string{"probe/templates/a": "error"}
			}
			four, err := withFour(&chart4.Chart{Metadata: &chart4.Metadata{Name: "probe"}, Values: defaults,
				Templates: []*common.File{{Name: "templates/a", Data: []byte(text)}}}, &chart3.Chart{}, nil, "web")
			require.NoError(t, err)
			assert.Equal(t, want, [2]string{three["probe/templates/a"], four["probe/templates/a"]})
		})
	}
}

// Helm 4 has a place for webhooks. All other kinds are installed in the same order.
func TestTheOrderOfInstallation(t *testing.T) {
	order := slices.DeleteFunc(slices.Clone(release4.InstallOrder), func(kind string) bool {
		return strings.HasSuffix(kind, "WebhookConfiguration")
	})
	require.Equal(t, release3.InstallOrder, release3.KindSortOrder(order))
}

//go:linkname functions4 helm.sh/helm/v4/pkg/engine.funcMap
func functions4() template.FuncMap

// The operator has its own functions for templates: Helm 4 has these, too.
func TestFunctionsOfTemplates(t *testing.T) {
	more := strings.Fields("mustToDuration mustToToml mustToYaml durationDays durationHours durationMicroseconds durationMilliseconds " +
		"durationMinutes durationNanoseconds durationRoundTo durationSeconds durationTruncateTo durationWeeks")
	ours := slices.Collect(maps.Keys(appchart.Functions()))
	require.ElementsMatch(t, slices.Concat(ours, more), slices.Collect(maps.Keys(functions4())))
}

// Helm 4 finds nothing to say against the charts that make lint-chart would fail for.
func TestHelm4Lints(t *testing.T) {
	linted := map[string]bool{}
	for _, one := range goldenCases(t) {
		chart := one.four.Name()
		if linted[chart] {
			continue
		}
		linted[chart] = true
		vals, _, err := values.Read(t.Context(), one.renderer.Translator, one.resource)
		require.NoError(t, err)
		for _, message := range lint4.RunAll(filepath.Join(files.Root(t), "helm-charts", chart), vals, "shop").Messages {
			assert.Less(t, message.Severity, support.WarningSev, message)
		}
	}
	assert.Len(t, linted, 2)
}
