package chart

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"text/template"
	_ "unsafe" // for go:linkname

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
)

// helmFunctions are Helm's own, which it does not export, not even by name.
//
//go:linkname helmFunctions helm.sh/helm/v3/pkg/engine.funcMap
func helmFunctions() template.FuncMap

// calls are of the functions that are not the same as Helm's.
var calls = map[string][]string{
	"toYaml":        {`toYaml .Values`, `toYaml "a: b"`, `toYaml nil`, `toYaml .Values.function`},
	"toYamlPretty":  {`toYamlPretty .Values.list`, `toYamlPretty (dict "a" (list 1 (list 2)))`, `toYamlPretty nil`},
	"toToml":        {`toToml (dict "a" (dict "b" 1.5))`, `toToml .Values.list`, `toToml nil`},
	"toJson":        {`toJson .Values.list`, `toJson "<&>"`, `toJson nil`, `toJson .Values.function`},
	"fromYaml":      {`fromYaml "a: [1, b]"`, `fromYaml "- a"`, `fromYaml ""`, `fromYaml "null"`, `fromYaml "a: b: c"`},
	"fromYamlArray": {`fromYamlArray "[1, {a: b}]"`, `fromYamlArray "a: b"`, `fromYamlArray ""`, `fromYamlArray "null"`},
	"fromToml":      {`fromToml "a = 1\n[b]\nc = \"d\""`, `fromToml "a"`, `fromToml ""`},
	"fromJson":      {`fromJson "{\"a\": [1, 2.5, null]}"`, `fromJson "[1]"`, `fromJson "{"`, `fromJson "null"`},
	"fromJsonArray": {`fromJsonArray "[1, {\"a\": null}]"`, `fromJsonArray "{}"`, `fromJsonArray "["`, `fromJsonArray "null"`},
	"required": {`required "a" 0`, `required "a" false`, `required "a" (dict)`, `required "a" .Values.list`, `required "say <a>" ""`,
		`required "say a" nil`, `required "say a" .Values.none`},
	"fail":          {`fail "never"`, `fail ""`},
	"lookup":        {`lookup "v1" "Secret" "a" "b"`, `lookup "v1" "Secret" "" ""`},
	"getHostByName": {`getHostByName "localhost"`},
}

// A chart renders here as it does in Helm, which no release of Helm changes unnoticed.
func TestFunctionsAreThoseOfHelm(t *testing.T) {
	ours, helms := Functions(), helmFunctions()
	require.Equal(t, slices.Sorted(maps.Keys(helms)), slices.Sorted(maps.Keys(ours)))
	for name := range ours {
		same := reflect.ValueOf(ours[name]).Pointer() == reflect.ValueOf(helms[name]).Pointer()
		if late := name == "include" || name == "tpl"; !same && !late && calls[name] == nil {
			t.Errorf("%s is not Helm's: show by calls that it does the same", name)
		}
	}
	for name, list := range calls {
		for _, call := range list {
			t.Run(name+"/"+call, func(t *testing.T) {
				text := "{{ " + call + " }} {{ typeOf (" + call + ") }} {{ len (print (" + call + ")) }}"
				c := &chart.Chart{Metadata: &chart.Metadata{Name: "a"}, Templates: []*chart.File{{Name: "templates/a", Data: []byte(text)}}}
				input := map[string]any{"Values": map[string]any{"list": []any{1, "b", nil, map[string]any{"c": 1.5}}, "function": func() {}}}
				want, refused := engine.Engine{}.Render(c, chartutil.Values(maps.Clone(input)))
				parsed, err := Parse(c)
				require.NoError(t, err)
				var got strings.Builder
				err = parsed.ExecuteTemplate(&got, "a/templates/a", input)
				switch {
				case refused != nil:
					require.ErrorContains(t, err, refused.Error()[strings.LastIndex(refused.Error(), ": "):])
				case err != nil:
					t.Error(err)
				case strings.ReplaceAll(got.String(), "<no value>", "") != want["a/templates/a"]:
					t.Errorf("got\n%s\nHelm renders\n%s", got.String(), want["a/templates/a"])
				}
			})
		}
	}
}
