//go:build cluster

package chart

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/test/page"
)

// fails reports whether a page shows that a command fails.
func fails(c page.Command) bool {
	return strings.HasPrefix(c.Prints, "make: ***") || strings.Contains(c.Prints, "\nmake: ***")
}

// lines are those of what is printed, none of nothing.
func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// leftOut stands for any text within a line, and alone on a line for any number of lines.
const leftOut = "…"

// matches reports whether what was printed is what a page shows of it.
func matches(shown, printed []string) bool {
	switch {
	case len(shown) == 0:
		return len(printed) == 0
	case shown[0] == leftOut:
		return matches(shown[1:], printed) || len(printed) > 0 && matches(shown, printed[1:])
	case len(printed) == 0:
		return false
	}
	return matchesLine(shown[0], printed[0]) && matches(shown[1:], printed[1:])
}

func matchesLine(shown, printed string) bool {
	parts := strings.Split(shown, leftOut)
	rest, found := strings.CutPrefix(printed, parts[0])
	for i, part := range parts[1:] {
		if !found {
			return false
		}
		if i == len(parts)-2 {
			return strings.HasSuffix(rest, part)
		}
		_, rest, found = strings.Cut(rest, part)
	}
	return found && rest == ""
}

// apply writes a file, or changes one: of a diff, the lines that stay and those that go have to be in the file once.
func (r repository) apply(t *testing.T, b page.Block) {
	t.Helper()
	file, content, err := b.File()
	require.NoError(t, err)
	if b.Language != "diff" {
		r.add(t, file, content)
		return
	}
	var old, changed strings.Builder
	for _, line := range lines(content) {
		if mark, text := line[:min(1, len(line))], line[min(1, len(line)):]; mark == "+" {
			changed.WriteString(text + "\n")
		} else {
			old.WriteString(text + "\n")
			if mark != "-" {
				changed.WriteString(text + "\n")
			}
		}
	}
	text := r.read(t, file)
	if strings.Count(text, old.String()) != 1 {
		t.Fatalf("line %d: %s has these lines %d times:\n%s", b.Line, file, strings.Count(text, old.String()), old.String())
	}
	r.write(t, file, strings.Replace(text, old.String(), changed.String(), 1))
}

// session runs the commands of a page one after the other, as one shell would: what they export stays.
type session struct {
	repository
	environment string // a file
}

// do runs a command and compares what it prints. One that ends with & runs until the test ends.
func (s session) do(t *testing.T, c page.Command, variables ...string) {
	t.Helper()
	if background, found := strings.CutSuffix(c.Text, " &"); found {
		s.start(t, background, variables...)
		return
	}
	script := fmt.Sprintf("[ ! -e '%[1]s' ] || . '%[1]s'\n%[2]s\nstatus=$?; export -p > '%[1]s'; exit $status", s.environment, c.Text)
	output, err := s.try(t, script, variables...)
	require.Equal(t, fails(c), err != nil, "line %d: $ %s\nit ends with %v:\n%s", c.Line, c.Text, err, output)
	printed := slices.DeleteFunc(strings.Split(strings.TrimRight(output, "\n"), "\n"), func(line string) bool {
		return output == "" || strings.HasPrefix(line, "go: downloading ") // on a machine that runs a tool for the first time
	})
	assert.True(t, matches(lines(c.Prints), printed), "line %d: $ %s\nthe page shows:\n%s\nit prints:\n%s", c.Line, c.Text, c.Prints, output)
}

func (s session) start(t *testing.T, text string, variables ...string) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "background.log"))
	require.NoError(t, err)
	shell := exec.Command("sh", "-c", fmt.Sprintf("[ ! -e '%[1]s' ] || . '%[1]s'; exec %[2]s", s.environment, text))
	shell.Dir, shell.Stdout, shell.Stderr = s.dir, log, log
	shell.Env = append(s.repository.environment(), variables...)
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // make and go run have children
	require.NoError(t, shell.Start())
	t.Cleanup(func() {
		_ = syscall.Kill(-shell.Process.Pid, syscall.SIGTERM)
		_ = shell.Wait()
		if text, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("%s printed:\n%s", shell, text)
		}
	})
}

func TestWhatIsPrintedIsCompared(t *testing.T) {
	cases := map[string]struct {
		shown, printed string
		want           bool
	}{
		"the same":                    {"a\nb", "a\nb", true},
		"a line more":                 {"a", "a\nb", false},
		"a line less":                 {"a\nb", "a", false},
		"another line":                {"a\nc", "a\nb", false},
		"lines left out":              {"a\n…\nd", "a\nb\nc\nd", true},
		"none where some may be":      {"a\n…", "a", true},
		"the last of them missing":    {"a\n…\ne", "a\nb\nc\nd", false},
		"a part left out":             {"took …s", "took 3s", true},
		"two parts left out":          {"a…c…e", "abcde", true},
		"a part that is not there":    {"a…x…e", "abcde", false},
		"an end that is another":      {"took …s", "took 3m", false},
		"a beginning that is another": {"took …", "takes 3s", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			assert.EqualValues(t, tc.want, matches(strings.Split(tc.shown, "\n"), strings.Split(tc.printed, "\n")))
		})
	}
}

func TestCommandsShareTheirEnvironment(t *testing.T) {
	s := session{repository{t.TempDir()}, filepath.Join(t.TempDir(), "environment")}
	s.write(t, "file", "a\nb\nc\n")
	s.apply(t, page.Block{Language: "diff", Text: "# file\n a\n-b\n+x\n+y\n c\n"})
	for _, c := range []page.Command{
		{Text: "export WORD='it is'"},
		{Text: `echo "$WORD"`, Prints: "it is\n"},
		{Text: "cat file", Prints: "a\nx\ny\nc\n"},
		{Text: "echo 'make: *** no'; false", Prints: "make: *** no\n"},
	} {
		s.do(t, c)
	}
}
