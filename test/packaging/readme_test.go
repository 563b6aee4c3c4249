package packaging

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/tools/suites"
)

const (
	readme      = root + "/README.md"
	firstSample = root + "/config/samples/app_v1_appservice.yaml"
	screens     = 120 // lines that people read in half a minute
)

func text(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(content)
}

func TestTheReadmeIsShort(t *testing.T) {
	if lines := strings.Count(text(t, readme), "\n"); lines >= screens {
		t.Errorf("README.md has %d lines, want fewer than %d", lines, screens)
	}
}

// The first sample is the same everywhere: in the README, among the samples, in consoles and in the catalog.
func TestTheFirstSampleIsTheSameEverywhere(t *testing.T) {
	want := read[object](t, firstSample)
	var examples []object
	require.NoError(t, json.Unmarshal([]byte(csv(t).GetAnnotations()["alm-examples"]), &examples))
	shown := map[string]object{
		"the README":                 firstYAML(t, text(t, readme)),
		"the description in the CSV": firstYAML(t, at[string](t, csv(t).Object, "spec", "description")),
		"the first alm-example":      examples[0],
	}
	for place, got := range shown {
		// One is JSON and the other YAML: numbers differ in their types.
		assert.Empty(t, cmp.Diff(marshal(t, want), marshal(t, got)), "%s shows another one (-sample +shown)", place)
	}
}

func firstYAML(t *testing.T, markdown string) object {
	t.Helper()
	_, block, _ := strings.Cut(markdown, "```yaml\n")
	block, _, found := strings.Cut(block, "```")
	into := object{}
	if err := yaml.Unmarshal([]byte(block), &into); err != nil || !found {
		t.Fatalf("cannot read the YAML (found %t): %v", found, err)
	}
	return into
}

func marshal(t *testing.T, value object) string {
	t.Helper()
	text, err := yaml.Marshal(value)
	require.NoError(t, err)
	return string(text)
}

// The figures against helm-operator are those of the published run.
func TestTheReadmeHasTheFiguresOfTheBenchmarks(t *testing.T) {
	figures := text(t, root+"/docs/benchmarks.md")
	cell := func(row string, column int) string {
		for _, line := range strings.Split(figures, "\n") {
			if cells := strings.Split(line, "|"); len(cells) > column && strings.TrimSpace(cells[1]) == row {
				return strings.TrimSpace(cells[column])
			}
		}
		t.Fatalf("docs/benchmarks.md has no row %q", row)
		return ""
	}
	ratio := func(row string) string { return strings.TrimRight(strings.TrimSuffix(cell(row, 4), " ×"), "0") }
	flat := strings.Join(strings.Fields(text(t, readme)), " ")
	for _, want := range []string{
		"**" + ratio("image change of all, against (c)") + " times as fast**",
		"install " + ratio("install, against (c)") + " times as fast",
		"at rest there are no requests",
	} {
		assert.Contains(t, flat, want, "README.md does not say %q", want)
	}
	if got := cell("requests in 30 s idle, besides watches and leases", 4); got != "0" {
		t.Errorf("README.md says that there are no requests at rest, docs/benchmarks.md measured %s", got)
	}
}

// Every make target that a document names is there.
func TestTargetsThatAreNamedAreThere(t *testing.T) {
	there := targets(t)
	named := regexp.MustCompile("(?m)(?:`|\\$ )make ((?:[a-z][a-z0-9-]*\\b[^=a-zA-Z\\n]?)+)")
	for _, path := range markdown(t) {
		for _, found := range named.FindAllStringSubmatch(text(t, path), -1) {
			for _, target := range strings.FieldsFunc(found[1], func(r rune) bool { return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') }) {
				assert.True(t, there(target), "%s names make %s, which the Makefile does not have", path, target)
			}
		}
	}
}

// targets reports whether the Makefile has a target. Each suite of tests has one, of a pattern.
func targets(t *testing.T) func(name string) bool {
	t.Helper()
	written := map[string]bool{}
	for _, found := range regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):`).FindAllStringSubmatch(text(t, root+"/Makefile"), -1) {
		written[found[1]] = true
	}
	return func(name string) bool {
		suite, isTest := strings.CutPrefix(name, "test-")
		_, known := suites.Find(suite)
		return written[name] || isTest && known
	}
}

// markdown lists the documents.
func markdown(t *testing.T) []string {
	t.Helper()
	paths := files.Documents(t)
	for i := range paths {
		paths[i] = filepath.Join(root, paths[i])
	}
	return paths
}

// A page with figures of a benchmark names the commit that they are of. make release-check compares it with the code.
func TestFiguresNameTheirCommit(t *testing.T) {
	figures := regexp.MustCompile(`times as fast\b|\d per second`)
	commit := regexp.MustCompile("[Ff]igures of commit `[0-9a-f]{8,40}`")
	for _, path := range markdown(t) {
		content := text(t, path)
		if name := filepath.Base(path); name == "CHANGELOG.md" || filepath.Base(filepath.Dir(path)) == "adr" {
			continue // these are of their time
		}
		if figures.MatchString(content) && !commit.MatchString(content) {
			t.Errorf("%s has figures of a benchmark, and does not say of which commit: figures of commit `…`", path)
		}
	}
}
