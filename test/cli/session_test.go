//go:build cluster

package cli

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/test/page"
)

// sessionPage shows one developer at work. All of it is run, in its order.
const sessionPage = "cli-session.md"

// onceOnly matches commands that are run only once: those that change something. Others are repeated until they print what the page shows: kubectl
// wait, too, which may log that its own watch ended, or fails with that.
var onceOnly = regexp.MustCompile(`^(sed|printf|kubectl (apply|create|delete|scale)|kubectl appservice (undo|pause|resume|restart)) | --yes$`)

// changesSpec matches what changes the spec of an AppService.
var changesSpec = regexp.MustCompile(`^kubectl (apply|appservice (undo|pause|resume|restart)) `)

// dated are times and digests, which differ from run to run as well.
var dated = regexp.MustCompile(`\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}Z?|\b[0-9a-f]{32}\b`)

func TestTheSessionIsAsThePageShows(t *testing.T) {
	u := newUser(t, cluster.Namespace(t))
	u.follows(t, cluster.Manager(t, u.namespace), sessionPage)
}

// follows runs a page, in its order, and compares the outputs.
func (u *user) follows(t *testing.T, manager *harness.Manager, document string) {
	t.Helper()
	name := filepath.Join(root, "docs", document)
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	document, at := string(text), 0 // in the document, which is changed with -update
	blocks, err := page.Blocks(document)
	require.NoError(t, err)
	var changed int64
	for _, block := range blocks {
		if block.Language != "console" {
			file, content, err := block.File()
			require.NoError(t, err)
			files.Write(t, filepath.Join(u.folder, file), content)
			continue
		}
		for _, each := range block.Commands() {
			changes := changesSpec.MatchString(each.Text)
			if changes {
				anotherSecond(t, changed)
			}
			if *update {
				manager.Rest(t)
				at += strings.Index(document[at:], each.Text+"\n") + len(each.Text) + 1
				if printed := u.prints(t, each.Text); !isExcerpt(unvarying(each.Prints), unvarying(printed)) {
					require.NotEmpty(t, each.Prints, "$ %s\nprints %s, and the page has no block for it", each.Text, printed)
					document = document[:at] + strings.Replace(document[at:], each.Prints, printed, 1)
				}
			} else {
				u.printsAsShown(t, each)
			}
			if changes {
				changed = time.Now().Unix()
			}
		}
	}
	if *update {
		files.Write(t, name, document)
	}
}

// anotherSecond waits until a second is over: of two who change a spec within one, managed fields do not show who was the last.
func anotherSecond(t *testing.T, second int64) {
	t.Helper()
	harness.Eventually(t, "another second begins", func() error {
		if time.Now().Unix() == second {
			return errors.New("it is the same one")
		}
		return nil
	})
}

// prints runs a command, and returns what a terminal shows. A command that fails has no place on the page.
func (u *user) prints(t *testing.T, line string) string {
	t.Helper()
	got := u.run(t, line+" 2>&1", nil)
	require.LessOrEqual(t, got.code, exitFound, "$ %s\nends with %d:\n%s", line, got.code, got.stdout)
	return strings.ReplaceAll(got.stdout, u.namespace, "shop")
}

// exitFound is the exit code of commands that have findings.
const exitFound = 1

// printsAsShown runs a command until it prints what the page shows, where a line "…" stands for lines that are left out.
func (u *user) printsAsShown(t *testing.T, shown page.Command) {
	t.Helper()
	compare := func() error {
		want, got := unvarying(shown.Prints), unvarying(u.prints(t, shown.Text))
		if isExcerpt(want, got) {
			return nil
		}
		return errors.New("it prints something else (-page +now); -update writes it:\n" + cmp.Diff(want, got))
	}
	if !onceOnly.MatchString(shown.Text) {
		harness.Eventually(t, "$ "+shown.Text, compare)
	} else if err := compare(); err != nil {
		t.Fatalf("$ %s\n%v", shown.Text, err)
	}
}

// unvarying removes from a text what differs between runs.
func unvarying(text string) string { return steady(dated.ReplaceAllString(text, " … ")) }
