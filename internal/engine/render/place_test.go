package render

import (
	"errors"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
)

// A mistake in rendered text comes from a line of the template, whatever conditions, loops and partials are before it.
func TestAMistakeInRenderedTextIsOnALineOfTheTemplate(t *testing.T) {
	const loop = "{{- if .Values.none }}\nkind: Never\n---\n{{- end }}\n" + // lines 1 to 4
		"apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  labels:\n    {{- include \"labels\" . | nindent 4 }}\nspec:\n  ports:\n" +
		"  {{- range .Values.ports }}\n" + // 13
		"  - name: {{ .name }}\n" +
		"    port: {{ .port }}\n" + // 15
		"  {{- end }}\n" +
		"  MORE\n" // 17
	cases := map[string]struct{ more, spec, line, says string }{
		"a field after a loop":          {"tpye: ClusterIP", `{ports: [{name: a, port: 1}, {name: b, port: 2}]}`, "17", "spec.tpye: "},
		"a field in the third round":    {"", `{ports: [{name: a, port: 1}, {name: b, port: 2}, {name: c, port: '"x"'}]}`, "15", "spec.ports[2].port: "},
		"no YAML after a loop":          {"a: b: c", `{ports: [{name: a, port: 1}]}`, "17", "not YAML"},
		"no YAML in the second round":   {"", `{ports: [{name: a, port: 1}, {name: "b: c", port: 2}]}`, "14", "not YAML"},
		"a key of a partial":            {"", `{label: "a: b: c"}`, "10", "not YAML"},
		"a label of a partial":          {"", `{label: "a: 5"}`, "10", "metadata.labels.a: "},
		"a field that is there already": {"ports: []", `{ports: [{name: a, port: 1}]}`, "17", "not YAML"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			template := strings.Replace(loop, "MORE", test.more, 1)
			renderer := of(map[string]string{"a.yaml": template, "_h.tpl": "{{ define \"labels\" }}one: two\n{{ .Values.label }}{{ end }}"})
			_, err := renderer.Render(t.Context(), resource(t, widget, test.spec), everyKind)
			var fault *ChartError
			if !errors.As(err, &fault) || fault.At != "templates/a.yaml line "+test.line || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("got %v, want line %s", err, test.line)
			}
			if !strings.Contains(fault.Explain(), "^") {
				t.Errorf("it is not shown: %s", fault.Explain())
			}
		})
	}
}

func TestAMistakeInRenderedTextOfASubchartIsOnALineOfItsTemplate(t *testing.T) {
	c := parent("\n" + service + "spec: {tpye: ClusterIP}\n")
	c.Templates = []*chart.File{{Name: "templates/a.yaml", Data: []byte("# nothing\n")}}
	_, err := familyRenderer(c).Render(t.Context(), resource(t, widget, "{}"), everyKind)
	var fault *ChartError
	if !errors.As(err, &fault) || fault.At != "charts/sub/templates/a.yaml line 6" {
		t.Errorf("got %v", err)
	}
}
