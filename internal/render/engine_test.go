package render

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// same fails where Helm's engine renders another text than the parsed templates.
func same(t *testing.T, renderer *Renderer, resource *unstructured.Unstructured) {
	t.Helper()
	vals, err := renderer.Translator.Translate(t.Context(), resource)
	require.NoError(t, err)
	enabled, input, err := renderer.input(run{resource, vals, everyKind})
	require.NoError(t, err)
	got, err := renderer.templates.render(enabled, input)
	require.NoError(t, err)
	want, err := engine.Engine{}.Render(enabled, input)
	require.NoError(t, err)
	if !maps.Equal(got, want) {
		t.Errorf("got\n%v\nHelm renders\n%v", got, want)
	}
}

func TestParsedTemplatesRenderWhatHelmDoes(t *testing.T) {
	renderer := shipped(t)
	for _, name := range caseNames(t) {
		t.Run(name, func(t *testing.T) { same(t, renderer, golden(t, name)) })
	}
}

func TestParsedTemplatesKnowAllThatHelmKnows(t *testing.T) {
	for name, text := range map[string]string{
		"the chart":            `{{ .Chart.Name }} {{ .Chart.Version }} {{ .Chart.IsRoot }} {{ .Subcharts }}`,
		"the release":          `{{ .Release.Name }} {{ .Release.Namespace }} {{ .Release.IsInstall }} {{ .Release.Revision }}`,
		"the template":         `{{ .Template.Name }} {{ .Template.BasePath }}`,
		"the capabilities":     `{{ .Capabilities.KubeVersion }} {{ .Capabilities.APIVersions.Has "gateway.networking.k8s.io/v1/HTTPRoute" }}`,
		"files":                `{{ .Files.Get "a.txt" }} {{ (.Files.Glob "*.txt").AsConfig }} {{ .Files.Lines "a.txt" }}`,
		"values":               `{{ .Values.a.b }} {{ .Values.none }} {{ toYaml .Values }} {{ toToml .Values }} {{ fromJson "{\"x\": 1}" }}`,
		"include":              `{{ include "one" . | nindent 2 }} {{ template "one" . }}`,
		"the later definition": `{{ include "twice" . }}`,
		"tpl":                  `{{ tpl "{{ include \"one\" . }}" . }} {{ tpl "{{ define \"own\" }}x{{ end }}{{ include \"own\" . }}" . }}`,
		"lookup":               `{{ lookup "v1" "Secret" "a" "b" }} {{ getHostByName "localhost" }}`,
		"no value":             `{{ .Values.none.at }} {{ .Values.none.at | default "none" }} {{ index (dict) "x" }}`,
	} {
		t.Run(name, func(t *testing.T) {
			renderer := of(map[string]string{"a.yaml": text, "_h.tpl": `{{ define "one" }}1{{ .Values.a }}{{ end }}{{ define "twice" }}a{{ end }}`,
				"sub/_h.tpl": `{{ define "twice" }}b{{ end }}`})
			renderer.Chart.Files = []*chart.File{{Name: "a.txt", Data: []byte("one\ntwo")}}
			same(t, renderer, resource(t, widget, `{a: {b: c}, none: {}}`))
		})
	}
}

func TestAFailureOfParsedTemplatesIsToldByHelm(t *testing.T) {
	for name, text := range map[string]string{
		"required":  `{{ required "say a" .Values.a }}`,
		"fail":      `{{ fail "never" }}`,
		"a panic":   `{{ index .Values.list 7 }}`,
		"a partial": `{{ include "none" . }}`,
	} {
		t.Run(name, func(t *testing.T) {
			renderer := of(map[string]string{"a.yaml": text})
			enabled, input, err := renderer.input(run{resource(t, widget, `{}`), chartutil.Values{}, chartutil.DefaultCapabilities})
			require.NoError(t, err)
			_, want := engine.Engine{}.Render(enabled, input)
			for range 2 { // the second time, too
				_, got := renderer.templates.render(enabled, input)
				if got == nil || want == nil || got.Error() != want.Error() || !strings.Contains(got.Error(), "a.yaml") {
					t.Fatalf("got %v, Helm says %v", got, want)
				}
			}
		})
	}
}
