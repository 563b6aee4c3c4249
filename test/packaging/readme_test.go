package packaging

import (
	"encoding/json"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
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
	atMost      = 600 // words that people read in three minutes
)

func text(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(content)
}

func TestTheReadmeIsShort(t *testing.T) {
	if words := len(strings.Fields(text(t, readme))); words > atMost {
		t.Errorf("README.md has %d words, want at most %d", words, atMost)
	}
}

// Users who begin at the README have read little when their first application runs.
func TestTheWayToTheFirstDeploymentIsShort(t *testing.T) {
	page := text(t, root+"/docs/app-developers.md")
	before, after, found := strings.Cut(page, "\n## Your first deployment\n")
	first, _, ended := strings.Cut(after, "\n## ")
	require.True(t, found && ended, "docs/app-developers.md does not begin with the first deployment")
	if words := len(strings.Fields(text(t, readme) + before + first)); words > 1500 {
		t.Errorf("README.md and the first deployment in docs/app-developers.md have %d words, want at most 1500", words)
	}
	if words := len(strings.Fields(page)); words > 4500 {
		t.Errorf("docs/app-developers.md has %d words, want at most 4500: link to recipes.md and troubleshooting.md", words)
	}
}

// The picture of the typo is a recording of what the text says of it.
func TestTheRecordingShowsWhatTheReadmeSays(t *testing.T) {
	recorded := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(text(t, root+"/docs/recording.svg"), " ")
	flat := strings.Join(strings.Fields(html.UnescapeString(recorded)), " ")
	_, section, found := strings.Cut(text(t, readme), "\n## A typo, and what it says\n")
	require.True(t, found, "README.md does not show a typo")
	_, message, _ := strings.Cut(section, "```text\n")
	message, after, _ := strings.Cut(message, "\n```\n")
	hint := regexp.MustCompile("what to do: `([^`]+)`").FindStringSubmatch(after)
	require.NotNil(t, hint, "README.md does not say what to do")
	for _, want := range []string{message, hint[1], "nginx:1.92, where nginx:1.29 was meant"} {
		assert.Contains(t, flat, want, "docs/recording.svg does not show %q: make recording", want)
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
	ratio := func(row string) string { // without the range
		median, _, _ := strings.Cut(cell(row, 4), " ×")
		number, err := strconv.ParseFloat(median, 64)
		require.NoError(t, err)
		return strconv.FormatFloat(number, 'f', -1, 64)
	}
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

// Whoever copies the commands that install a release gets what its workflow publishes. OWNER may be any account.
func TestADocumentedInstallationIsOfWhatAReleasePublishes(t *testing.T) {
	workflow, makefile := text(t, root+"/.github/workflows/release.yaml"), text(t, root+"/Makefile")
	find := func(pattern, within string) string {
		t.Helper()
		found := regexp.MustCompile(pattern).FindStringSubmatch(within)
		require.NotNil(t, found, "nothing is like %s", pattern)
		return found[1]
	}
	version := find(`(?m)^VERSION \?= (\S+)$`, makefile)
	chart := at[string](t, read[object](t, root+"/config/chart/Chart.yaml"), "name")
	charts := find(`(?m)^ +CHARTS: (oci://.+)$`, workflow)
	require.Contains(t, workflow, `CHART_REPOSITORY="$CHARTS"`, "it pushes the chart elsewhere")
	require.Contains(t, workflow, "tags: ['v*']", "releases have other tags")
	require.Contains(t, workflow, "make release-files", "the files of a release come from elsewhere")
	file := find(`(?m)^RELEASE_FILES = (\S+\.yaml) `, makefile)
	for _, page := range []string{readme, root + "/docs/install.md"} {
		content := text(t, page)
		owner := find(`oci://ghcr\.io/([\w-]+)/`, content)
		repository := strings.ReplaceAll(charts, "${{ github.repository_owner }}", owner)
		assert.Contains(t, content, "helm install "+chart+" "+repository+"/"+chart+" --version "+version, page)
		assert.Contains(t, content, "kubectl apply -f https://github.com/"+owner+"/"+chart+"/releases/download/v"+version+"/"+file, page)
	}
}

// Every make target that a document names is there.
func TestTargetsThatAreNamedAreThere(t *testing.T) {
	there := targets(t)
	named := regexp.MustCompile("(?m)(?:`|\\$ |```sh\n)make ((?:[a-z][a-z0-9-]*\\b[^=a-zA-Z\\n]?)+)")
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
