//go:build cluster

package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/page"
)

// followed are the pages whose commands other tests run, all of them and in their order.
var followed = map[string]string{
	"docs/cli-session.md":       "TestTheSessionIsAsThePageShows",
	"docs/adopt.md":             "TestAdoptionIsAsThePageShows",
	"docs/convert-workload.md":  "TestTheRecipeForAStatefulSetIsAsThePageShows",
	"docs/backup.md":            "TestABackupIsRestored",
	"docs/tutorial.md":          "TestTheTutorialIsAsThePageShows",
	"docs/cli-cluster.md":       "TestDocumentsShowWhatCommandsPrint",
	"docs/chart-maintainers.md": "test/chart: TestThePageForChartMaintainersWorks",
	"docs/second-kind.md":       "test/chart: TestAKindNeedsNoGo",
	"docs/quickstart-kind.md":   "make e2e, apart from the steps that the page marks",
}

// elsewhere are commands that are not run here: other tests run them, or they need programs or clusters that tests do not have.
var elsewhere = []struct{ command, because string }{
	{`^make `, "TestTargetsThatAreNamedAreThere; targets are tests themselves, or run by make e2e"},
	{`^kubectl appservice dev `, "TestExamples: it runs until it is interrupted"},
	{`^kubectl appservice diff --all-namespaces --chart charts-next`, "TestWhatWasImportedIsAdopted compares all resources; here, there is no thousand of them"},
	{`^kubectl appservice (undo web > apps/web.yaml|undo web --to-revision 1( --yes)?|history web|undo web(| --dry-run=client))$`,
		"TestTheSessionIsAsThePageShows, TestHistoryAndUndo: they need several releases"},
	{`^kubectl appservice import deployment/legacy`, "TestExamples: it needs a Deployment"},
	{`^kubectl appservice adopt -f app.yaml`, "TestAdoptionIsAsThePageShows"},
	{`^kubectl appservice (import release|adopt -f web.yaml --release)`, "TestExamples, TestAdoption: they need a Helm release"},
	{`^kubectl delete (-n appservice-operator-system|clusterroles|operators)`, "make e2e: it needs OLM"},
	{`^kubectl (--namespace old-operator|patch OLDKIND|delete OLDKIND)`, "another operator"},
	{`^kubectl --namespace argocd `, "Argo CD"},
	{`^kubectl apply -f https://github.com/`, "TestADocumentedInstallationIsOfWhatAReleasePublishes: there has to be a release"},
	{`^(kind|helm|kompose|score-k8s|git|alias|eval|KUBECONFIG=|go run ./tools/cmd/node) ?`, "the program, or a node"},
}

// clusterWide matches commands that write objects that other tests share. They are run as a dry run.
var clusterWide = regexp.MustCompile(`^kubectl (create clusterrole|annotate crd|create configmap appservice-policy)`)

func TestTheCommandsOfDocumentsWork(t *testing.T) {
	for name := range followed {
		assert.True(t, exists(filepath.Join(root, name)), "%s, whose commands are run elsewhere, does not exist", name)
	}
	met := map[string]bool{}
	for _, document := range files.Documents(t) {
		if followed[document] != "" {
			continue
		}
		var here []page.Command
		for _, command := range documented(t, document) {
			if known := ranElsewhere(command.Text); known != "" {
				met[known] = true
			} else {
				here = append(here, command)
			}
		}
		if len(here) > 0 {
			t.Run(strings.TrimSuffix(filepath.Base(document), ".md"), func(t *testing.T) { runDocumented(t, here) })
		}
	}
	for _, one := range elsewhere {
		assert.True(t, met[one.command], "no document has a command like %s, which is run elsewhere (%s)", one.command, one.because)
	}
}

// runDocumented runs commands of a page, in their order, in a namespace with AppService web. If the page shows what one of kubectl appservice
// prints, it has to print that. Outputs of kubectl are from make demo and make e2e.
func runDocumented(t *testing.T, commands []page.Command) {
	u := newUser(t, cluster.Namespace(t))
	cluster.Manager(t, u.namespace)
	u.web(t)
	// The namespace of the walk-through in docs/policy-and-tenants.md.
	defer u.run(t, "kubectl delete namespace team-a-web --ignore-not-found --wait=false", nil)
	for _, each := range commands {
		line := each.Text
		if clusterWide.MatchString(line) {
			line += " --dry-run=server"
		}
		got := u.run(t, line, nil)
		if got.code > exitFound || strings.Contains(got.stderr, "error:") {
			t.Errorf("$ %s\nends with %d:\n%s%s", line, got.code, got.stdout, got.stderr)
			continue
		}
		printed := unvarying(strings.ReplaceAll(got.stdout, u.namespace, "shop"))
		if each.Prints == "" || !strings.HasPrefix(line, "kubectl appservice ") || isExcerpt(unvarying(each.Prints), printed) {
			continue
		}
		t.Errorf("$ %s\nprints something else (-document +now):\n%s", line, cmp.Diff(unvarying(each.Prints), printed))
	}
}

// isExcerpt reports whether a text is a longer one, a line "…" standing for lines that are left out.
func isExcerpt(excerpt, text string) bool {
	var pattern strings.Builder
	for line := range strings.Lines(excerpt) {
		if line == "…\n" {
			pattern.WriteString(`(?:.*\n)*?`)
		} else {
			pattern.WriteString(regexp.QuoteMeta(line))
		}
	}
	return regexp.MustCompile(`\A` + pattern.String() + `\z`).MatchString(text)
}

func TestIsExcerpt(t *testing.T) {
	const text = "one\ntwo\nthree\n"
	for excerpt, want := range map[string]bool{
		text: true, "one\n…\nthree\n": true, "one\n…\n": true, "…\n": true, "…\none\n…\nthree\n…\n": true,
		"": false, "one\nthree\n": false, "…\ntwo\n": false, "o.e\n…\n": false,
	} {
		if got := isExcerpt(excerpt, text); got != want {
			t.Errorf("isExcerpt(%q) = %t, want %t", excerpt, got, want)
		}
	}
}

// ranElsewhere returns the pattern of elsewhere that a command matches; empty if there is none.
func ranElsewhere(command string) string {
	for _, one := range elsewhere {
		if regexp.MustCompile(one.command).MatchString(command) {
			return one.command
		}
	}
	return ""
}

// documented returns the commands of a page, without comments behind them.
func documented(t *testing.T, document string) []page.Command {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, document))
	require.NoError(t, err)
	blocks, err := page.Blocks(string(text))
	require.NoError(t, err, document)
	var list []page.Command
	for _, block := range blocks {
		if block.Language != "console" {
			continue
		}
		for _, each := range block.Commands() {
			each.Text = strings.TrimSpace(trailingComment.ReplaceAllString(strings.ReplaceAll(each.Text, "\\\n", ""), ""))
			list = append(list, each)
		}
	}
	return list
}

// trailingComment matches a comment behind a command.
var trailingComment = regexp.MustCompile(`\s+# .*$`)

func TestDocumented(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	files.Write(t, file, "```console\n$ one \\\n  more   # why\nout\n$ two\n```\ntext\n```yaml\n$ no\n```\n```console\n$ three\n```\n")
	relative, err := filepath.Rel(root, file)
	require.NoError(t, err)
	assert.Equal(t, []page.Command{{Line: 2, Text: "one   more", Prints: "out\n"}, {Line: 5, Text: "two"}, {Line: 12, Text: "three"}}, documented(t, relative))
}
