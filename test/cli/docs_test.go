//go:build cluster

package cli

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/test/files"
)

var update = flag.Bool("update", false, "put what commands print into the documents")

// varying is what differs between runs.
var varying = regexp.MustCompile(`(web|legacy|shop)-[a-z0-9]{5,10}(-[a-z0-9]{5})?\b|--namespace=\S+|\d+[smh](\d+[smh])?( old)?\b|[ ]{2,}`)

// shown are the commands whose output documents show, and the preparation for each.
var shown = []string{"kubectl appservice tree web", "kubectl appservice status", "kubectl appservice why web"}

func TestDocumentsShowWhatCommandsPrint(t *testing.T) {
	u := newUser(t, cluster.Namespace(t))
	cluster.Manager(t, u.namespace)
	app := u.web(t)
	printed := map[string]string{}
	for _, line := range shown {
		if strings.HasPrefix(line, "kubectl appservice tree") {
			printed[line] = u.says(t, line, "EndpointSlice web-", "2/2")
			crash(t, app) // what the others are about
			continue
		}
		printed[line] = strings.ReplaceAll(u.says(t, line, "ContainerCrashed"), u.namespace, "shop")
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs/cli*.md"))
	require.NoError(t, err)
	found := map[string]bool{}
	for _, file := range pages {
		if filepath.Base(file) == sessionPage {
			continue // it has a test of its own
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		changed := string(text)
		for _, line := range shown {
			before, after, there := strings.Cut(changed, "```console\n$ "+line+"\n")
			if !there {
				continue
			}
			found[line] = true
			block, rest, _ := strings.Cut(after, "```\n")
			if diff := cmp.Diff(steady(block), steady(printed[line])); diff != "" && !*update {
				t.Errorf("%s: %s prints something else (-document +now); -update writes it:\n%s", filepath.Base(file), line, diff)
			}
			if *update && steady(block) != steady(printed[line]) {
				changed = before + "```console\n$ " + line + "\n" + printed[line] + "```\n" + rest
			}
		}
		if changed != string(text) {
			files.Write(t, file, changed)
		}
	}
	for _, line := range shown {
		assert.True(t, found[line], "no document shows %s", line)
	}
}

// steady removes from a text what varies.
func steady(text string) string { return varying.ReplaceAllString(text, " … ") }
