package importer

import (
	"strings"
	"testing"
)

// TestDocsShowWhatIsPrinted keeps the output in docs/import.md true.
func TestDocsShowWhatIsPrinted(t *testing.T) {
	t.Parallel()
	text := string(readFile(t, "../../../docs/import.md"))
	_, given, _ := strings.Cut(string(readFile(t, "testdata/manifests/as-it-lives.yaml")), "\n")
	for name, shown := range map[string]string{
		"what is given": given,
		"a Deployment":  string(readFile(t, "testdata/manifests/as-it-lives.golden")),
	} {
		if !strings.Contains(text, strings.TrimSpace(shown)) {
			t.Errorf("docs/import.md does not show %s as it is:\n%s", name, shown)
		}
	}
}
