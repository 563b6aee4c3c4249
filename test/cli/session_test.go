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
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// sessionPage shows one developer at work. All of it is run, in its order.
const sessionPage = "cli-session.md"

// onceOnly matches commands that are run only once: those that change something, or end by themselves. Others are repeated until they print what
// the page shows.
var onceOnly = regexp.MustCompile(`^(sed|printf|kubectl (apply|create|scale|wait)|kubectl appservice (undo|pause|resume|restart)) | --yes$`)

// changesSpec matches what changes the spec of an AppService.
var changesSpec = regexp.MustCompile(`^kubectl (apply|appservice (undo|pause|resume|restart)) `)

// dated are times and digests, which differ from run to run as well.
var dated = regexp.MustCompile(`\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}Z?|\b[0-9a-f]{32}\b`)

// page is a document with blocks of code. Its lines are those outside of the blocks, and those in them.
type page struct{ parts []part }

// part is a text, the content of a file, or a command with what it prints.
type part struct{ text, file, command, prints string }

// readPage parses a document. A file begins with a comment that has its name.
func readPage(text string) (page, error) {
	var p page
	const fence = "```"
	for text != "" {
		before, rest, found := strings.Cut(text, fence)
		p.parts = append(p.parts, part{text: before})
		if !found {
			return p, nil
		}
		block, after, closed := strings.Cut(rest, "\n"+fence+"\n")
		language, content, _ := strings.Cut(block, "\n")
		if !closed {
			return page{}, errors.New("a block of code has no end")
		}
		p.parts = append(p.parts, part{text: fence + language + "\n"})
		if language == "console" {
			p.parts = append(p.parts, commandsOf(content)...)
		} else {
			name, file, isNamed := strings.Cut(strings.TrimPrefix(content, "# "), "\n")
			if !isNamed || !strings.HasPrefix(content, "# ") {
				return page{}, errors.New("a file begins with a comment that has its name, not with " + language)
			}
			p.parts = append(p.parts, part{text: content + "\n"}, part{file: name, prints: file + "\n"})
		}
		p.parts, text = append(p.parts, part{text: fence + "\n"}), after
	}
	return p, nil
}

// commandsOf returns the commands of a block.
func commandsOf(content string) []part {
	var list []part
	for line := range strings.Lines(content + "\n") {
		if command, typed := strings.CutPrefix(line, "$ "); typed {
			list = append(list, part{command: strings.TrimSuffix(command, "\n")})
		} else if len(list) > 0 {
			list[len(list)-1].prints += line
		}
	}
	return list
}

// String is the document.
func (p page) String() string {
	var out strings.Builder
	for _, each := range p.parts {
		out.WriteString(each.text)
		if each.command != "" {
			out.WriteString("$ " + each.command + "\n" + each.prints)
		}
	}
	return out.String()
}

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
	shown, err := readPage(string(text))
	require.NoError(t, err)
	require.EqualValues(t, string(text), shown.String(), "the page is not what was read of it")
	var changed int64
	for i, each := range shown.parts {
		if changesSpec.MatchString(each.command) {
			anotherSecond(t, changed)
		}
		switch {
		case each.file != "":
			files.Write(t, filepath.Join(u.folder, each.file), each.prints)
		case each.command != "" && *update:
			manager.Rest(t)
			if printed := u.prints(t, each.command); unvarying(printed) != unvarying(each.prints) {
				shown.parts[i].prints = printed
			}
		case each.command != "":
			u.printsAsShown(t, each)
		}
		if changesSpec.MatchString(each.command) {
			changed = time.Now().Unix()
		}
	}
	if *update {
		files.Write(t, name, shown.String())
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

// printsAsShown runs a command until it prints what the page shows.
func (u *user) printsAsShown(t *testing.T, shown part) {
	t.Helper()
	compare := func() error {
		if diff := cmp.Diff(unvarying(shown.prints), unvarying(u.prints(t, shown.command))); diff != "" {
			return errors.New("it prints something else (-page +now); -update writes it:\n" + diff)
		}
		return nil
	}
	if !onceOnly.MatchString(shown.command) {
		harness.Eventually(t, "$ "+shown.command, compare)
	} else if err := compare(); err != nil {
		t.Fatalf("$ %s\n%v", shown.command, err)
	}
}

// unvarying removes from a text what differs between runs.
func unvarying(text string) string { return steady(dated.ReplaceAllString(text, " … ")) }

func TestReadPage(t *testing.T) {
	const text = "# Page\n```yaml\n# a.yaml\nx: 1\n```\ntext\n```console\n$ one\nout\n$ two\n```\nend\n"
	p, err := readPage(text)
	if err != nil || p.String() != text {
		t.Fatalf("got %q, %v", p, err)
	}
	var said []part
	for _, each := range p.parts {
		if each.text == "" {
			said = append(said, each)
		}
	}
	want := []part{{file: "a.yaml", prints: "x: 1\n"}, {command: "one", prints: "out\n"}, {command: "two"}}
	assert.Empty(t, cmp.Diff(want, said, cmp.AllowUnexported(part{})), "-want +got")
	for _, broken := range []string{"```yaml\nx: 1\n```\n", "```console\n$ one\n"} {
		if _, err := readPage(broken); err == nil {
			t.Errorf("%q is read", broken)
		}
	}
}
