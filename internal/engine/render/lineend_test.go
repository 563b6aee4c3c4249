package render

import (
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/releaseutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Texts at the end of a document end as in the manifest that Helm writes: each document, trimmed, and a line end.
func TestTextsEndAsInHelmsManifest(t *testing.T) {
	text := func(name, style, rest string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata:\n  run.sh: " + style + "\n    echo one" + rest
	}
	for name, file := range map[string]string{
		"one document":                      text("a", "|", "\n"),
		"one document without a line end":   text("a", "|", ""),
		"one document that keeps its lines": text("a", "|+", "\n\n\n"),
		"one document that is stripped":     text("a", "|-", "\n"),
		"spaces at the end":                 text("a", "|", "  \n"),
		"two documents":                     text("a", "|", "\n---\n") + text("b", "|", "\n"),
		"two documents of folded text":      text("a", ">", "\n---\n") + text("b", ">", ""),
		"a separator at the beginning":      "---\n" + text("a", "|", "\n"),
		"a separator at the end":            text("a", "|+", "\n\n---\n"),
	} {
		t.Run(name, func(t *testing.T) {
			list, _, err := manifestsOf(map[string]string{"widget/templates/a.yaml": file}, false)
			require.NoError(t, err)
			want := map[string]any{}
			for _, document := range releaseutil.SplitManifests(file) {
				object := &unstructured.Unstructured{}
				require.NoError(t, yaml.Unmarshal([]byte(document+"\n"), &object.Object))
				want[object.GetName()] = object.Object["data"]
			}
			require.Len(t, list, len(want))
			for _, got := range list {
				require.Equal(t, want[got.object.GetName()], got.object.Object["data"])
			}
		})
	}
}

// Objects that can never change are read as before, so that no Job runs again and nothing is refused; others only on
// request.
func TestWhichObjectsEndAsBefore(t *testing.T) {
	for name, test := range map[string]struct {
		document         string
		ends             bool
		asHelm, asBefore string
	}{
		"a ConfigMap":              {"kind: ConfigMap\nmetadata: {name: a}\ndata:\n  text: |\n    one", true, "one\n", "one"},
		"an immutable ConfigMap":   {"kind: ConfigMap\nimmutable: true\nmetadata: {name: a}\ndata:\n  text: |\n    one", false, "one", "one"},
		"a Job":                    {"kind: Job\nmetadata: {name: a}\ndata:\n  text: |\n    one", false, "one", "one"},
		"a text that is stripped":  {"kind: ConfigMap\nmetadata: {name: a}\ndata:\n  text: |-\n    one", false, "one", "one"},
		"a text before other ones": {"kind: ConfigMap\ndata:\n  text: |\n    one\nmetadata: {name: a}", false, "one\n", "one\n"},
	} {
		t.Run(name, func(t *testing.T) {
			for asBefore, want := range map[bool]string{false: test.asHelm, true: test.asBefore} {
				list, ends, err := manifestsOf(map[string]string{"widget/templates/a.yaml": "---\napiVersion: v1\n" + test.document + "\n---\n"}, asBefore)
				require.NoError(t, err)
				require.Equal(t, test.ends, ends)
				require.Equal(t, map[string]any{"text": want}, list[0].object.Object["data"])
			}
		})
	}
}
