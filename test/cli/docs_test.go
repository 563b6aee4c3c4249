//go:build cluster

package cli

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

var update = flag.Bool("update", false, "put what commands print into the documents")

// varying is what differs between runs.
var varying = regexp.MustCompile(`(web|legacy|shop)-[a-z0-9]{5,10}(-[a-z0-9]{5})?\b|--namespace=\S+|\d+[smh](\d+[smh])?( old)?\b|[ ]{2,}`)

// shown are the commands whose output documents show, and the words that end the wait for a new text.
var shown = []struct {
	line  string
	words []string
}{
	{"kubectl appservice tree web", []string{"EndpointSlice web-", "2/2"}},
	{"kubectl appservice status", []string{"ContainerCrashed"}},
	{"kubectl appservice why web", []string{"ContainerCrashed"}},
}

func TestDocumentsShowWhatCommandsPrint(t *testing.T) {
	u := newUser(t, cluster.Namespace(t))
	cluster.Manager(t, u.namespace)
	app := u.web(t)
	pages, err := filepath.Glob(filepath.Join(root, "docs/cli*.md"))
	require.NoError(t, err)
	for i, command := range shown {
		found := false
		for _, file := range pages {
			if filepath.Base(file) == sessionPage {
				continue // it has a test of its own
			}
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			before, after, there := strings.Cut(string(text), "```console\n$ "+command.line+"\n")
			if !there {
				continue
			}
			found = true
			block, rest, _ := strings.Cut(after, "```\n")
			if *update {
				printed := strings.ReplaceAll(u.says(t, command.line, command.words...), u.namespace, "shop")
				if steady(block) != steady(printed) {
					files.Write(t, file, before+"```console\n$ "+command.line+"\n"+printed+"```\n"+rest)
				}
				continue
			}
			// Controllers report endpoints and pods one after the other, so the text of a document is awaited.
			harness.Eventually(t, filepath.Base(file)+": "+command.line, func() error {
				printed := strings.ReplaceAll(u.run(t, command.line, nil).stdout, u.namespace, "shop")
				if diff := cmp.Diff(steady(block), steady(printed)); diff != "" {
					return fmt.Errorf("it prints something else (-document +now); -update writes it:\n%s", diff)
				}
				return nil
			})
		}
		assert.True(t, found, "no document shows %s", command.line)
		if i == 0 {
			crash(t, app) // what the commands after the tree are about
		}
	}
}

// steady removes from a text what varies.
func steady(text string) string { return varying.ReplaceAllString(text, " … ") }
