package plugin

import (
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func TestRunSaysHowItEnded(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args   []string
		want   int
		stderr string
	}{
		"help":              {[]string{"--help"}, exitOK, ""},
		"no such command":   {[]string{"nonsense"}, exitBroke, `error: unknown command "nonsense"`},
		"one like another":  {[]string{"statsu"}, exitBroke, `error: unknown command "statsu": did you mean status?`},
		"one of kubectl":    {[]string{"get"}, exitBroke, "error: unknown command \"get\": did you mean status?\n"},
		"no such flag":      {[]string{"--nonsense"}, exitBroke, "error: unknown flag: --nonsense"},
		"colors of no kind": {[]string{"completion", "bash", "--color=blue"}, exitBroke, "error: --color=blue: it can be auto, always or never"},
		"completion":        {[]string{"completion", "bash", "--color=never"}, exitOK, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			streams, _, _, stderr := genericiooptions.NewTestIOStreams()
			if got := Run(t.Context(), test.args, streams); got != test.want || !strings.HasPrefix(stderr.String(), test.stderr) {
				t.Errorf("got exit code %d and %q, want %d and %q", got, stderr, test.want, test.stderr)
			}
		})
	}
}

func TestWhatIsFoundEndsWithOne(t *testing.T) {
	t.Parallel()
	streams, _, _, stderr := genericiooptions.NewTestIOStreams()
	root := New(streams)
	root.AddCommand(&cobra.Command{Use: "found", RunE: func(*cobra.Command, []string) error { return errors.Join(errFound) }})
	root.SetArgs([]string{"found"})
	if got := exitCode(t.Context(), root.ExecuteContext(t.Context()), streams); got != exitFound || stderr.Len() > 0 {
		t.Errorf("got exit code %d and %q, want %d and nothing", got, stderr, exitFound)
	}
}

func TestEachCommandHasAGroup(t *testing.T) {
	t.Parallel()
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	for _, command := range New(streams).Commands() {
		if command.GroupID == "" {
			t.Errorf("%s is in no group of the help", command.Name())
		}
		if first := strings.ReplaceAll(command.Name(), "-", " "); !strings.HasPrefix(strings.ToLower(strings.ReplaceAll(command.Long, "-", " ")), first+" ") {
			t.Errorf("the help of %s does not begin with the name of the command: %s", command.Name(), command.Long)
		}
		if strings.HasPrefix(command.Example, " ") {
			t.Errorf("the examples of %s are indented", command.Name())
		}
	}
}
