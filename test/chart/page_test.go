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
)

// block is a piece of code of a page: commands with what they print, the content of a file, or a change of one.
type block struct {
	line     int
	language string
	file     string // in its first line, as a comment
	text     string
}

// blocksOf reads the blocks of a page down to a heading.
func blocksOf(page, until string) ([]block, error) {
	var list []block
	var open *block
	for i, line := range strings.Split(page, "\n") {
		switch {
		case open == nil && line == until:
			return list, nil
		case open == nil && strings.HasPrefix(line, "```"):
			open = &block{line: i + 1, language: strings.TrimPrefix(line, "```")}
		case open != nil && line == "```":
			if open.language != "console" {
				first, rest, _ := strings.Cut(open.text, "\n")
				name, found := strings.CutPrefix(first, "# ")
				if !found {
					return nil, fmt.Errorf("line %d: the first line of a file is a comment with its name, not %q", open.line, first)
				}
				open.file, open.text = name, rest
			}
			list, open = append(list, *open), nil
		case open != nil:
			open.text += line + "\n"
		}
	}
	return nil, fmt.Errorf("it has no heading %q", until)
}

// command is a command of a page, and what the page says that it prints.
type command struct {
	line   int
	text   string
	prints []string
}

// fails reports whether the page shows that the command fails.
func (c command) fails() bool {
	return slices.ContainsFunc(c.prints, func(line string) bool { return strings.HasPrefix(line, "make: ***") })
}

// commandsOf reads a block of language console. A line that ends with a backslash goes on in the next.
func (b block) commands() []command {
	var list []command
	continued := false
	for i, line := range strings.Split(strings.TrimSuffix(b.text, "\n"), "\n") {
		typed, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case isCommand:
			list = append(list, command{line: b.line + 1 + i, text: typed})
		case len(list) == 0:
			continue
		case continued:
			list[len(list)-1].text += "\n" + line
		default:
			list[len(list)-1].prints = append(list[len(list)-1].prints, line)
		}
		continued = strings.HasSuffix(line, `\`) && (isCommand || continued)
	}
	return list
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
func (r repository) apply(t *testing.T, b block) {
	t.Helper()
	if b.language != "diff" {
		r.write(t, b.file, b.text)
		return
	}
	var old, changed strings.Builder
	for _, line := range strings.Split(strings.TrimSuffix(b.text, "\n"), "\n") {
		if mark, text := line[:min(1, len(line))], line[min(1, len(line)):]; mark == "+" {
			changed.WriteString(text + "\n")
		} else {
			old.WriteString(text + "\n")
			if mark != "-" {
				changed.WriteString(text + "\n")
			}
		}
	}
	text := r.read(t, b.file)
	if strings.Count(text, old.String()) != 1 {
		t.Fatalf("line %d: %s has these lines %d times:\n%s", b.line, b.file, strings.Count(text, old.String()), old.String())
	}
	r.write(t, b.file, strings.Replace(text, old.String(), changed.String(), 1))
}

// session runs the commands of a page one after the other, as one shell would: what they export stays.
type session struct {
	repository
	environment string // a file
}

// do runs a command and compares what it prints. One that ends with & runs until the test ends.
func (s session) do(t *testing.T, c command, variables ...string) {
	t.Helper()
	if background, found := strings.CutSuffix(c.text, " &"); found {
		s.start(t, background, variables...)
		return
	}
	script := fmt.Sprintf("[ ! -e '%[1]s' ] || . '%[1]s'\n%[2]s\nstatus=$?; export -p > '%[1]s'; exit $status", s.environment, c.text)
	output, err := s.try(t, script, variables...)
	require.Equal(t, c.fails(), err != nil, "line %d: $ %s\nit ends with %v:\n%s", c.line, c.text, err, output)
	printed := slices.DeleteFunc(strings.Split(strings.TrimRight(output, "\n"), "\n"), func(line string) bool {
		return output == "" || strings.HasPrefix(line, "go: downloading ") // on a machine that runs a tool for the first time
	})
	assert.True(t, matches(c.prints, printed), "line %d: $ %s\nthe page shows:\n%s\nit prints:\n%s", c.line, c.text, strings.Join(c.prints, "\n"), output)
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

func TestPagesAreRead(t *testing.T) {
	const page = "# Page\n```yaml\n# a/b.yaml\nx: 1\n```\ntext\n```console\n$ one \\\n  two\nout…\n…\n$ make three &\n```\n## End\n```yaml\nnot: this\n```\n"
	list, err := blocksOf(page, "## End")
	if err != nil || len(list) != 2 || list[0].file != "a/b.yaml" || list[0].text != "x: 1\n" {
		t.Fatalf("got %+v, %v", list, err)
	}
	commands := list[1].commands()
	if len(commands) != 2 || commands[0].text != "one \\\n  two" || !slices.Equal(commands[0].prints, []string{"out…", "…"}) || commands[0].line != 8 {
		t.Errorf("got %+v", commands)
	}
	if _, err := blocksOf("```yaml\nx: 1\n```\n## End\n", "## End"); err == nil || !strings.Contains(err.Error(), "line 1: ") {
		t.Errorf("a file without a name: got %v", err)
	}
	if _, err := blocksOf("# Page\n", "## End"); err == nil {
		t.Error("a page without its end is read")
	}
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
	s.apply(t, block{language: "diff", file: "file", text: " a\n-b\n+x\n+y\n c\n"})
	for _, c := range []command{
		{text: "export WORD='it is'"},
		{text: `echo "$WORD"`, prints: []string{"it is"}},
		{text: "cat file", prints: []string{"a", "x", "y", "c"}},
		{text: "echo 'make: *** no'; false", prints: []string{"make: *** no"}},
	} {
		s.do(t, c)
	}
}
