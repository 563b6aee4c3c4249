package chart

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Each mistake is named by the line that it is on; what is not a mistake is let through.
func TestWhatTemplatesMayNotUse(t *testing.T) {
	cases := map[string]struct {
		text string
		want []string // how each mistake begins
	}{
		"the clock":                        {"\n\na: {{ now }}", []string{"templates/a.yaml:3 uses now: "}},
		"the clock, later in a pipeline":   {"a: {{ .Values.at | default now | date \"2006\" }}", []string{"templates/a.yaml:1 uses now: "}},
		"the clock in a condition":         {"{{ if eq (now | date \"2006\") \"2026\" }}{{ end }}", []string{"templates/a.yaml:1 uses now: "}},
		"the clock in a variable":          {"{{ $x :=\n  now }}", []string{"templates/a.yaml:2 uses now: "}},
		"a field of the clock":             {"a: {{ now.Year }}", []string{"templates/a.yaml:1 uses now: "}},
		"the clock, for else":              {"{{ with .Values.at }}{{ else }}\n{{ now }}{{ end }}", []string{"templates/a.yaml:2 uses now: "}},
		"the clock in a partial":           {"{{ define \"x\" }}\n{{ range .Values.x }}{{ ago . }}{{ end }}{{ end }}", []string{"templates/a.yaml:2 uses ago: "}},
		"the clock in a comment":           {"{{/* now */}} # now\n", nil},
		"the clock in a comment that runs": {"# {{ now }}\n", []string{"templates/a.yaml:1 uses now: "}},
		"chance": {"{{ randAlphaNum 5 }}\n{{ uuidv4 }}\n{{ genCA \"a\" 365 }}\n{{ list 1 2 | join \"\" | shuffle }}", []string{
			"templates/a.yaml:1 uses randAlphaNum: ", "templates/a.yaml:2 uses uuidv4: ", "templates/a.yaml:3 uses genCA: ", "templates/a.yaml:4 uses shuffle: "}},
		"a salt":                          {"{{ htpasswd \"a\" \"b\" }}{{ bcrypt \"a\" }}", []string{"templates/a.yaml:1 uses htpasswd: ", "templates/a.yaml:1 uses bcrypt: "}},
		"a password that is derived":      {"{{ derivePassword 1 \"long\" \"a\" \"b\" \"c\" }}{{ sha256sum \"a\" }}", nil},
		"a field of that name":            {"{{ .Values.now }}{{ $.Values.lookup }}", nil},
		"the cluster":                     {"{{ lookup \"v1\" \"Secret\" \"a\" \"b\" }}", []string{"templates/a.yaml:1 uses lookup: "}},
		"the network":                     {"{{ getHostByName \"a\" }}", []string{"templates/a.yaml:1 uses getHostByName: "}},
		"a template in a value":           {"{{ tpl .Values.text . }}", []string{"templates/a.yaml:1 uses tpl on a value: "}},
		"a template in a value as YAML":   {"{{ tpl (toYaml .Values.text) . }}", []string{"templates/a.yaml:1 uses tpl on a value: "}},
		"a template in a variable":        {"{{ $x := .Values.x }}{{ tpl $x . }}", []string{"templates/a.yaml:1 uses tpl on a value: "}},
		"a template in a file":            {"{{ tpl (.Files.Get \"a\") . }}{{ tpl ($.Files.Get \"a\") $ | nindent 2 }}{{ tpl (.Files.Glob \"a/*\").AsConfig . }}", nil},
		"a template in a file by a value": {"{{ tpl (.Files.Get .Values.name) . }}", nil},
		"a template as it is":             {"{{ tpl \"{{ .Values.a }}\" . }}", nil},
		"the revision": {"{{ .Release.Revision }}{{ if $.Release.IsUpgrade }}{{ end }}{{ .Release.Name }}", []string{
			"templates/a.yaml:1 uses .Release.Revision, ", "templates/a.yaml:1 uses .Release.IsUpgrade, "}},
		"keys":                      {"{{ keys .Values.a | join \",\" }}", []string{"templates/a.yaml:1 uses keys: "}},
		"keys in a loop":            {"{{ range keys .Values.a }}{{ end }}", []string{"templates/a.yaml:1 uses keys: "}},
		"keys that are sorted":      {"{{ keys .Values.a | uniq | sortAlpha | join \",\" }}{{ range sortAlpha (keys .Values.a) }}{{ end }}", nil},
		"keys that are counted":     {"{{ len (keys .Values.a) }}{{ if has \"x\" (keys .Values.a) }}{{ end }}{{ .Values.a | keys | len }}", nil},
		"values":                    {"{{ values .Values.a | first }}", []string{"templates/a.yaml:1 uses values: "}},
		"a hook":                    {"metadata:\n  annotations:\n    helm.sh/hook: pre-install,pre-upgrade\n", []string{"templates/a.yaml:3 makes a Helm hook (pre-install,pre-upgrade), "}},
		"a hook in quotes":          {"annotations: {\"helm.sh/hook\": \"post-install\"}", []string{"templates/a.yaml:1 makes a Helm hook (post-install), "}},
		"a hook in a comment":       {"# helm.sh/hook: pre-install\n", nil},
		"a test":                    {"annotations: {\"helm.sh/hook\": test}", nil},
		"a weight without any hook": {"annotations: {\"helm.sh/hook-weight\": \"5\"}", nil},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			files := minimal()
			files["templates/a.yaml"] = test.text
			_, err := Load(memory("web", files), "web")
			var got []string
			if err != nil {
				got = strings.Split(strings.TrimPrefix(err.Error(), "cannot load chart web: "), "\n")
			}
			if !slices.EqualFunc(got, test.want, strings.HasPrefix) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestAMistakeInASubchartIsFoundThere(t *testing.T) {
	files := subchart("sub")
	maps.Copy(files, minimal())
	files["charts/sub/templates/_x.tpl"] = "{{ define \"x\" }}\n {{ now }}{{ end }}"
	_, err := Load(memory("web", files), "web")
	assert.ErrorContains(t, err, "charts/sub/templates/_x.tpl:2 uses now: ")
}

func TestAMistakeIsExplainedWithItsLines(t *testing.T) {
	cases := map[string]struct{ file, text, want string }{
		"a function": {"templates/a.yaml", "a: 1\nb: {{ now }}\nc: 2\n",
			"templates/a.yaml:2:7: uses now: reads the clock, so each render differs\n    1 | a: 1\n    2 | b: {{ now }}\n      |       ^\n    3 | c: 2\n  hint: take a time from the spec\n"},
		"no template": {"templates/a.yaml", "a: {{ nothing .x }}\n",
			"templates/a.yaml:1:7: function \"nothing\" not defined\n    1 | a: {{ nothing .x }}\n      |       ^\n"},
		"an end that is missing": {"templates/a.yaml", "{{ if .Values.x }}\na: 1\n",
			"templates/a.yaml:3:1: unexpected EOF\n    2 | a: 1\n    3 |\n      | ^\n"},
		"no YAML": {"values.yaml", "a: 1\nb:\n  c: 1\n d: 2\n",
			"values.yaml:4:2: did not find expected key\n    3 |   c: 1\n    4 |  d: 2\n      |  ^\n"},
		"a key twice": {"values.yaml", "a: 1\nb: 1\na: 2\n",
			"values.yaml:3:1: key \"a\" already set in map\n    2 | b: 1\n    3 | a: 2\n      | ^\n"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			files := minimal()
			files[test.file] = test.text
			_, err := Load(memory("web", files), "web")
			if err == nil || Explain(err) != test.want {
				t.Errorf("got\n%s\nwant\n%s", Explain(err), test.want)
			}
		})
	}
}

// The remedy for a hook is what to write in its place.
func TestWhatTakesThePlaceOfAHook(t *testing.T) {
	for hooks, want := range map[string]string{
		"pre-install,pre-upgrade": `write app.example.com/stage: before in place of helm.sh/hook, and on a Job app.example.com/rerun-on-change: "true", `,
		"post-upgrade":            `on a Job, write app.example.com/stage: after and app.example.com/rerun-on-change: "true" in place of helm.sh/hook, `,
		"pre-delete":              "remove the annotation helm.sh/hook: no stage of a release takes the place of pre-delete",
		"pre-install,post-delete": "remove the annotation helm.sh/hook: no stage of a release takes the place of pre-install,post-delete",
	} {
		if got := InsteadOfHook(hooks); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", hooks, got)
		}
	}
}
