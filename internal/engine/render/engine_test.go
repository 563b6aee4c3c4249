package render

import (
	"errors"
	"maps"
	"reflect"
	"strings"
	"testing"
	"text/template"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
)

// same fails where Helm's engine renders another text than the parsed templates.
func same(t *testing.T, renderer *Renderer, resource *unstructured.Unstructured) {
	t.Helper()
	vals, err := renderer.Translator.Translate(t.Context(), resource)
	require.NoError(t, err)
	enabled, input, err := renderer.input(run{resource: resource, vals: vals, capabilities: everyKind})
	require.NoError(t, err)
	got, err := renderer.engine().render(enabled, input, first, "")
	require.NoError(t, err)
	want, err := engine.Engine{}.Render(enabled, input)
	require.NoError(t, err)
	if !maps.Equal(got.files, want) {
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

// A function that counts its work, or refuses some arguments, returns the same for others.
func TestFunctionsWithLimitsMakeWhatHelmsDo(t *testing.T) {
	examples := map[string]string{
		"include": `include "one" .`, "tpl": `tpl "{{ include \"one\" . }}" .`,
		"print": `print 1 "a" 2 3`, "printf": `printf "%04d %s %v" 5 "a" (list 1 nil)`, "println": `println 1 "a"`,
		"html": `html "<a>" 1`, "js": `js "'a'\\"`, "urlquery": `urlquery "a b&c"`,
		"quote": `quote "a\"b" nil 1`, "squote": `squote "a" nil 1`, "cat": `cat 1 nil "a"`, "join": `join "-" (list 1 "a" nil)`,
		"replace": `replace "a" "bb" "banana"`, "wrapWith": `wrapWith 3 "|" "one two three"`, "toString": `toString (dict "a" 1)`,
		"toStrings": `toStrings (list 1 "a" nil)`, "b64enc": `b64enc "a"`, "b32enc": `b32enc "a"`, "regexQuoteMeta": `regexQuoteMeta "a.b"`,
		"regexReplaceAll": `regexReplaceAll "(a)" "banana" "${1}x"`, "mustRegexReplaceAll": `mustRegexReplaceAll "(a)" "banana" "${1}x"`,
		"regexReplaceAllLiteral":     `regexReplaceAllLiteral "(a)" "banana" "${1}"`,
		"mustRegexReplaceAllLiteral": `mustRegexReplaceAllLiteral "(a)" "banana" "${1}"`,
		"regexFindAll":               `regexFindAll "a." "banana" -1`, "mustRegexFindAll": `mustRegexFindAll "a." "banana" 1`,
		"regexSplit": `regexSplit "n" "banana" -1`, "mustRegexSplit": `mustRegexSplit "n" "banana" 2`, "splitList": `splitList "," "a,b"`,
		"until": `until 3`, "untilStep": `untilStep 9 2 -3`, "seq": `seq 2 -2 -6`, "repeat": `repeat 3 "ab"`,
		"indent": `indent 2 "a\nb"`, "nindent": `nindent 2 "a\nb"`,
		"toYaml": `toYaml .Values`, "toYamlPretty": `toYamlPretty .Values`, "toToml": `toToml .Values`, "toJson": `toJson .Values`,
		"mustToJson": `mustToJson .Values`, "toPrettyJson": `toPrettyJson .Values`, "mustToPrettyJson": `mustToPrettyJson .Values`,
		"toRawJson": `toRawJson .Values`, "mustToRawJson": `mustToRawJson .Values`,
		"list": `list 1 "a" nil`, "tuple": `tuple 1 "a"`, "append": `append (list 1) 2`, "push": `push (list 1) 2`,
		"mustAppend": `mustAppend (list 1) 2`, "mustPush": `mustPush (list 1) 2`, "prepend": `prepend (list 1) 2`,
		"mustPrepend": `mustPrepend (list 1) 2`, "concat": `concat (list 1) (list "a" nil) (until 2)`,
		"date": `date "2006" 0`, "htmlDate": `htmlDate 0`, "htmlDateInZone": `htmlDateInZone 0 "CET"`, "dateInZone": `dateInZone "15:04" 0 "CET"`,
		"date_in_zone": `date_in_zone "15:04" 0 "CET"`, "durationRound": `durationRound "90m"`,
	}
	limited, helms := (&work{}).functions(template.New("")), appchart.Functions()
	for name, function := range limited {
		if other, is := helms[name]; is && reflect.ValueOf(function).Pointer() == reflect.ValueOf(other).Pointer() {
			continue // the same
		}
		call := examples[name]
		if call == "" {
			t.Errorf("%s has no example", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			text := "{{ " + call + " }} {{ kindOf (" + call + ") }} {{ typeOf (" + call + ") }}"
			same(t, of(map[string]string{"a.yaml": text, "_h.tpl": `{{ define "one" }}1{{ end }}`}), resource(t, widget, `{a: {b: [c, "<"]}, d: 1.5}`))
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
			enabled, input, err := renderer.input(run{resource: resource(t, widget, `{}`), vals: chartutil.Values{}, capabilities: chartutil.DefaultCapabilities})
			require.NoError(t, err)
			_, want := engine.Engine{}.Render(enabled, input)
			for range 2 { // the second time, too
				_, got := renderer.engine().render(enabled, input, first, "")
				if got == nil || want == nil || !strings.Contains(got.Error(), "a.yaml") {
					t.Fatalf("got %v, Helm says %v", got, want)
				}
				said := got.Error()
				if refusal, refused := errors.AsType[*appchart.Refusal](got); refused { // Helm says it with the place alone
					said = "execution error at (widget/templates/a.yaml:1:3): " + refusal.Message
				}
				if said != want.Error() {
					t.Fatalf("got %v, Helm says %v", got, want)
				}
			}
		})
	}
}
