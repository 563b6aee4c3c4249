package harness

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/tools/processes"
	"github.com/example/appservice-operator/tools/toolchain"
)

// With the race detector if the tests have it: compiled packages are used again. Without it, as users run it.
var (
	buildOnce   = sync.OnceValues(func() (string, error) { return build(fmt.Sprintf("-race=%t", raceDetector)) })
	releaseOnce = sync.OnceValues(func() (string, error) { return build("-race=false") })
)

func build(flag string) (string, error) {
	root, err := toolchain.Root()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "appservice-manager-")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "manager")
	build := exec.Command("go", "build", flag, "-o", binary, "./cmd/manager")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build the manager: %w: %s", err, out)
	}
	return binary, nil
}

// Binary builds the manager's program once for all tests of a package.
func Binary(t *testing.T) string { return built(t, buildOnce) }

func built(t *testing.T, once func() (string, error)) string {
	t.Helper()
	binary, err := once()
	require.NoError(t, err)
	return binary
}

// Process is the manager's program, which can be killed.
type Process struct {
	*processes.Child
	// Output until now, once it has ended.
	Output bytes.Buffer
}

// Run starts the manager's program with a kubeconfig. It is killed at the end of the test if it still runs.
func Run(t *testing.T, kubeconfig string, args ...string) *Process {
	t.Helper()
	return RunBinary(t, Binary(t), kubeconfig, args...)
}

// MemoryLimit is that of the manager's container, in megabytes.
const MemoryLimit = 512

// RunAsUsersDo is Run with that limit, and without the race detector, which needs several times the memory.
func RunAsUsersDo(t *testing.T, kubeconfig string, args ...string) *Process {
	t.Helper()
	return RunWithMemory(t, MemoryLimit, kubeconfig, args...)
}

// RunWithMemory is RunAsUsersDo in a container of so many megabytes.
func RunWithMemory(t *testing.T, megabytes int, kubeconfig string, args ...string) *Process {
	t.Helper()
	return run(t, built(t, releaseOnce), kubeconfig, []string{fmt.Sprint("MEMORY_LIMIT=", megabytes<<20)}, args)
}

// RunBinary is Run for another program, such as the manager of an earlier version.
func RunBinary(t *testing.T, binary, kubeconfig string, args ...string) *Process {
	t.Helper()
	return run(t, binary, kubeconfig, nil, args)
}

func run(t *testing.T, binary, kubeconfig string, env, args []string) *Process {
	t.Helper()
	p := &Process{}
	command := exec.Command(binary, append([]string{"--health-probe-bind-address=0", "--metrics-bind-address=0"}, args...)...)
	command.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "HOME="+t.TempDir(), "GOGC=") // its own
	command.Env = append(command.Env, env...)
	command.Stdout, command.Stderr = &p.Output, &p.Output
	var err error
	if p.Child, err = processes.Start(command); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}
