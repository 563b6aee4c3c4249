//go:build cluster

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/example/appservice-operator/internal/plugin"
	"github.com/example/appservice-operator/test/files"
)

// figuresFile is the variable that names the folder for the figures that make test-cli sums up.
const figuresFile = "CLI_FIGURES"

// Annotations by which commands say how they must be tested.
const (
	// offline commands make no request, unless a flag asks for that; or only with one of the flags that it names.
	offline = "offline"
	// until says when a command ends, if it does not end by itself.
	until, interrupted = "until", "interrupted"
	// needs says that its examples need a real node: make e2e runs them.
	needs = "needs"
)

// clusterFlags ask an offline command for the cluster.
var clusterFlags = []string{"--live", "-A", "--all-namespaces", "--apply"}

// asked counts what the figures are made of.
var asked struct{ commands, examples atomic.Int32 }

func TestExamples(t *testing.T) {
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	for _, command := range ours(plugin.New(streams)) {
		if command.Annotations[needs] != "" {
			continue
		}
		asked.commands.Add(1)
		t.Run(strings.ReplaceAll(command.Name(), " ", "-"), func(t *testing.T) {
			testExamples(t, command)
		})
	}
	file := os.Getenv(figuresFile)
	if file == "" || t.Failed() {
		return
	}
	figures := fmt.Sprintf("commands=%d examples_run=%d\n", asked.commands.Load(), asked.examples.Load())
	require.NoError(t, os.MkdirAll(file, 0o755))
	files.Write(t, filepath.Join(file, "examples"), figures)
}

// ours are the commands below one that do something, except cobra's own.
func ours(root *cobra.Command) []*cobra.Command {
	var list []*cobra.Command
	for _, command := range root.Commands() {
		switch {
		case command.Name() == "help" || command.Name() == "completion" || command.Hidden:
		case command.HasSubCommands():
			list = append(list, ours(command)...)
		default:
			list = append(list, command)
		}
	}
	return list
}

// testExamples runs the examples of a command in a namespace of their own, in their order.
func testExamples(t *testing.T, command *cobra.Command) {
	lines := examples(command.Example)
	require.NotEmpty(t, lines, "the help text has no example")
	u := newUser(t, cluster.Namespace(t))
	if needsCluster(command, lines) {
		cluster.Manager(t, u.namespace)
		if more := filepath.Join("testdata/cluster", command.Name()+".yaml"); exists(more) {
			u.applyFile(t, more)
		}
		u.web(t)
	}
	for _, line := range lines {
		who, stop := u, (func(*os.Process))(nil)
		if isOffline(command, line) {
			who = u.alone()
		}
		if command.Annotations[until] == interrupted {
			stop = func(p *os.Process) { _ = p.Signal(syscall.SIGINT) }
		}
		got := who.run(t, line, stop)
		asked.examples.Add(1)
		switch {
		case got.code != 0 && got.code != 1:
			t.Errorf("%s\nended with %d:\n%s%s", line, got.code, got.stdout, got.stderr)
		case got.code == 1 && strings.Contains(got.stderr, "error:"):
			t.Errorf("%s\nsays that it broke, and ends as if it had found something:\n%s", line, got.stderr)
		case got.stdout == "" && got.code == 0 && stop == nil && !strings.Contains(line, ">"):
			t.Logf("%s\nprinted nothing on stdout; on stderr: %s", line, got.stderr)
		}
	}
}

// examples are the lines of a help text that are run.
func examples(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	return list
}

func needsCluster(command *cobra.Command, lines []string) bool {
	for _, line := range lines {
		if !isOffline(command, line) {
			return true
		}
	}
	return false
}

func isOffline(command *cobra.Command, line string) bool {
	flags := strings.Fields(command.Annotations[offline])
	never := len(flags) == 0
	always := slices.Equal(flags, []string{"true"})
	return !never && (always || hasFlag(line, flags)) && !hasFlag(line, clusterFlags)
}

func hasFlag(line string, flags []string) bool {
	return slices.ContainsFunc(strings.Fields(line), func(field string) bool {
		name, _, _ := strings.Cut(field, "=")
		return slices.Contains(flags, name)
	})
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
