package plugin

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func TestDocuments(t *testing.T) {
	t.Parallel()
	const app = "apiVersion: app.example.com/v1\nkind: AppService\nmetadata: {name: NAME}\n"
	named := func(name string) string { return strings.ReplaceAll(app, "NAME", name) }
	for name, test := range map[string]struct {
		files map[string]string
		read  []string
		in    string
		want  []string
		fails string
	}{
		"one":                       {files: map[string]string{"a.yaml": named("a")}, read: []string{"a.yaml"}, want: []string{"a.yaml:1 default/a"}},
		"two, the first after ---":  {files: map[string]string{"a.yaml": "---\n" + named("a") + "---\n" + named("b")}, read: []string{"a.yaml"}, want: []string{"a.yaml:2 default/a", "a.yaml:6 default/b"}},
		"from stdin, as JSON":       {in: `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a","namespace":"x"}}`, read: []string{"-"}, want: []string{"stdin:1 x/a"}},
		"of a folder, by extension": {files: map[string]string{"f/b.yml": named("b"), "f/a.yaml": named("a"), "f/README.md": "text", "f/more/c.yaml": "nothing of it is read"}, read: []string{"f"}, want: []string{"f/a.yaml:1 default/a", "f/b.yml:1 default/b"}},
		"no object":                 {files: map[string]string{"a.yaml": "# nothing\n---\n"}, read: []string{"a.yaml"}, fails: "there is no object in a.yaml"},
		"no kind":                   {files: map[string]string{"a.yaml": named("a") + "---\n\na: 1\n"}, read: []string{"a.yaml"}, fails: "a.yaml:5: apiVersion and kind are missing"},
		"no YAML":                   {files: map[string]string{"a.yaml": named("a") + "---\na: [\n"}, read: []string{"a.yaml"}, fails: "a.yaml:5: "},
		"no file":                   {read: []string{"none.yaml"}, fails: "none.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, text := range test.files {
				file = filepath.Join(dir, file)
				require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
				require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
			}
			var names []string
			for _, file := range test.read {
				if file != stdin {
					file = filepath.Join(dir, file)
				}
				names = append(names, file)
			}
			s := &cli{IOStreams: genericiooptions.IOStreams{In: strings.NewReader(test.in)}, kube: genericclioptions.NewConfigFlags(true)}
			list, err := s.documents(names)
			var got []string
			for _, d := range list {
				got = append(got, fmt.Sprintf("%s %s/%s", strings.TrimPrefix(d.at(), dir+"/"), d.GetNamespace(), d.GetName()))
			}
			if test.fails == "" && err != nil || !slices.Equal(got, test.want) {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
			if test.fails != "" && (err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), dir+"/", ""), test.fails)) {
				t.Errorf("got error %v, want in it %q", err, test.fails)
			}
		})
	}
}
