package suites

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/tools/part"
)

// A small module, whose test of add is TestAdd.
var small = map[string]string{
	"go.mod":      "module example.com/add\n\ngo 1.26\n",
	"add.go":      "package add\n\nfunc add(a, b int) int { return a + b }\n",
	"add_test.go": "package add\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif add(1, 2) != 3 {\n\t\tt.Fail()\n\t}\n}\n",
}

func TestMutantsFailUnlessEachIsKilled(t *testing.T) {
	const killed = "- {name: sums, file: add.go, replace: a + b, with: a - b, killer: . TestAdd}\n"
	const unkilled = "- {name: order, file: add.go, replace: a + b, with: b + a, killer: none, reason: it is the same}\n"
	for name, test := range map[string]struct {
		list string
		want []string // the beginnings of lines; the last line
		last string
	}{
		"each is killed, or nothing can kill it": {killed + unkilled, []string{"green", "killed", "none"},
			"MUTANTS entries=2 killed=1 survived=0 unkilled=1 wrong=0"},
		"a killer stays green, or is not there": {
			"- {name: order, file: add.go, replace: a + b, with: b + a, killer: . TestAdd}\n- {name: a, file: add.go, replace: a + b, with: a - b, killer: . TestNone}\n",
			[]string{"WRONG", "SURVIVED", "SURVIVED"}, "MUTANTS entries=2 killed=0 survived=2 unkilled=0 wrong=1"},
		"the text is not there once": {
			"- {name: none, file: add.go, replace: a * b, with: a, killer: . TestAdd}\n- {name: two, file: add.go, replace: int, with: int, killer: . TestAdd}\n",
			[]string{"green", "NO MATCH", "NO MATCH"}, "MUTANTS entries=2 killed=0 survived=0 unkilled=0 wrong=2"},
		"it does not compile, and there is no reason": {
			"- {name: x, file: add.go, replace: a + b, with: a + c, killer: . TestAdd}\n- {name: y, file: add.go, replace: a + b, with: b + a, killer: none}\n",
			[]string{"green", "NO BUILD", "SURVIVED"}, "MUTANTS entries=2 killed=0 survived=1 unkilled=0 wrong=1"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			files := maps.Clone(small)
			files["test/mutants/mutants.yaml"] = test.list
			for file, text := range files {
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, file)), 0o750))
				require.NoError(t, os.WriteFile(filepath.Join(root, file), []byte(text), 0o600))
			}
			for _, args := range []string{"init --quiet", "add .", "-c user.name=x -c user.email=x@localhost commit --quiet --message=x"} {
				git := exec.Command("git", words(args)...)
				git.Dir = root
				out, err := git.CombinedOutput()
				require.NoError(t, err, string(out))
			}
			out := printed(t, func() error { return mutants(&runner{ctx: t.Context(), root: root}) }, name == "each is killed, or nothing can kill it")
			for _, want := range test.want {
				if !regexp.MustCompile("(?m)^" + want + "\\b").MatchString(out) {
					t.Errorf("no line begins with %s: %s", want, out)
				}
			}
			if !strings.HasSuffix(out, test.last+"\n") {
				t.Errorf("got %s, want the last line %s", out, test.last)
			}
		})
	}
}

// printed returns what a function prints, which succeeds or not.
func printed(t *testing.T, do func() error, succeeds bool) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	before := os.Stdout
	os.Stdout = file
	err = do()
	os.Stdout = before
	if (err == nil) != succeeds {
		t.Errorf("got the error %v", err)
	}
	text, err := os.ReadFile(file.Name())
	require.NoError(t, err)
	return string(text)
}

func TestAPartOfTheMutants(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "mends.yaml"), []byte("[{name: a}, {name: b}, {name: c}]"), 0o600))
	var names []string
	for _, share := range []string{"1/2", "2/2"} {
		t.Setenv("PART", share)
		list, err := chosenMutants(folder)
		require.NoError(t, err)
		for _, each := range list {
			names = append(names, share+each.Name)
		}
	}
	require.Equal(t, []string{"1/2a", "1/2c", "2/2b"}, names)
	t.Setenv("PART", "3/2")
	_, _, err := part.Of()
	require.Error(t, err)
}

// Code that moves takes its mutants along: each matches, and its killer is there.
func TestEachMutantMatches(t *testing.T) {
	list, err := chosenMutants("../../test/mutants")
	require.NoError(t, err)
	names := map[string]bool{}
	for _, each := range list {
		text, err := os.ReadFile("../../" + each.File)
		if err != nil || strings.Count(string(text), each.Replace) != 1 || names[each.Name] {
			t.Errorf("%s: its text is not there once, or its name is: %v", each.Name, err)
		}
		names[each.Name] = true
		folder, test, _ := strings.Cut(each.Killer, " ")
		files, _ := filepath.Glob("../../" + folder + "/*_test.go")
		top, _, _ := strings.Cut(test, "/")
		if each.Killer != unkilled && !slices.ContainsFunc(files, func(file string) bool {
			text, _ := os.ReadFile(file)
			return strings.Contains(string(text), "\nfunc "+top+"(")
		}) {
			t.Errorf("%s: there is no %s", each.Name, each.Killer)
		}
	}
}
