package render

import (
	"strings"
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
			list, err := manifestsOf(map[string]string{"widget/templates/a.yaml": file})
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

// A Job that runs once is identified as operators did that left out the line end: it does not run again for that.
func TestALineEndRunsNoJobAgain(t *testing.T) {
	const job = `apiVersion: batch/v1
kind: Job
metadata: {name: "{{ .Release.Name }}", annotations: {app.example.com/rerun-on-change: "true"}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: app
        image: busybox
        command: [sh, -c]
        args:
        - |
          echo one`
	digests := map[string]string{}
	for name, template := range map[string]string{
		"in a file of its own":       job,
		"without the line end":       "---\n" + strings.Replace(job, "- |\n", "- |-\n", 1) + "\n",
		"before another document":    job + "\n---\n",
		"behind a separator":         "---\n" + job + "\n",
		"another text":               "---\n" + job + "; echo two\n",
		"a line end in one document": job + "\n",
	} {
		draft, err := of(map[string]string{"job.yaml": template}).Draft(t.Context(), Input{Resource: resource(t, widget, "{}"), Capabilities: everyKind})
		require.NoError(t, err)
		digests[name] = draft.Runs[0].Digest
		if args, _, _ := unstructured.NestedSlice(draft.result.Objects[0].Object, "spec", "template", "spec", "containers"); name == "behind a separator" {
			require.Equal(t, []any{"echo one\n"}, args[0].(map[string]any)["args"])
		}
	}
	for _, same := range []string{"before another document", "behind a separator", "in a file of its own"} {
		require.Equal(t, digests["without the line end"], digests[same], same)
	}
	for _, other := range []string{"another text", "a line end in one document"} { // as it was
		require.NotEqual(t, digests["without the line end"], digests[other], other)
	}
}
