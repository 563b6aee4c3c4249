package chart

import (
	"strings"
	"testing"
)

// FuzzLoad: whatever the files of a chart hold, it is refused with words, or is the same chart each time.
func FuzzLoad(f *testing.F) {
	files := minimal()
	template := ""
	for name := range files {
		if strings.Contains(name, "templates/") {
			template = name
		}
	}
	f.Add(files["Chart.yaml"], files["values.yaml"], `{"type":"object"}`, "fields: {}", files[template])
	f.Add(files["Chart.yaml"]+"dependencies: [{name: a, version: 1.x, condition: a.b, alias: c}]\n", "a: &a {b: *a}", `{"$ref":"#"}`, "fields: {a: {type: string}}", "{{ range $a := . }}{{ end }}")
	f.Add("name: [a]", "[]", "[]", "[]", "{{ now }}{{ lookup \"a\" }}{{ define \"a\" }}{{ include \"a\" . }}{{ end }}")
	f.Add("apiVersion: v1\nname: ../a\nversion: 0", "a: 1\na: 2", "{", "\t", "{{- /* \n */ -}}{{ `")
	f.Fuzz(func(t *testing.T, metadata, values, schema, fields, template string) {
		all := map[string]string{
			"Chart.yaml": metadata, "values.yaml": values, "values.schema.json": schema, "fields.yaml": fields, "templates/a.yaml": template,
		}
		first, err := Load(memory("web", all), "web")
		if err != nil {
			if first != nil || strings.TrimSpace(err.Error()) == "" || Explain(err) == "" {
				t.Errorf("got %v and %q", first, err)
			}
			return
		}
		second, err := Load(memory("web", all), "web")
		if err != nil || Digest(first) != Digest(second) {
			t.Errorf("loaded twice, it is not the same: %v", err)
		}
		Kinds(first)
	})
}
