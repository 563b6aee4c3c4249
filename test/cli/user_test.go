//go:build cluster

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// user is a user at a shell.
type user struct {
	namespace, folder, kubeconfig string
	// offline disables the network.
	offline bool
}

// result is the outcome of a line.
type result struct {
	stdout, stderr string
	code           int
}

// newUser makes a user whose kubeconfig is for a namespace, in a folder with the files that examples name.
func newUser(t *testing.T, namespace string) *user {
	t.Helper()
	u := &user{namespace: namespace, folder: t.TempDir()}
	require.NoError(t, os.CopyFS(u.folder, os.DirFS("testdata")))
	for _, name := range []string{"helm-charts", "config"} {
		require.NoError(t, os.CopyFS(filepath.Join(u.folder, name), os.DirFS(filepath.Join(root, name))))
	}
	watches, err := os.ReadFile(filepath.Join(root, "watches.yaml"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(u.folder, "watches.yaml"), watches, 0o600))
	u.kubeconfig = kubeconfigOf(t, cluster, namespace)
	return u
}

// kubeconfigOf writes a kubeconfig for a namespace of a cluster, and returns its file.
func kubeconfigOf(t *testing.T, of *harness.Cluster, namespace string) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(of.Kubeconfig)
	require.NoError(t, err)
	config.Contexts[config.CurrentContext].Namespace = namespace
	file := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, clientcmd.WriteToFile(*config, file))
	return file
}

// alone is the same user without network and without a kubeconfig.
func (u *user) alone() *user {
	return &user{namespace: u.namespace, folder: u.folder, kubeconfig: "/nonexistent", offline: true}
}

// run runs a line in a shell. Stop, if not nil, is called once the line has printed something.
func (u *user) run(t *testing.T, line string, stop func(*os.Process)) result {
	t.Helper()
	command := []string{"sh", "-c", line}
	if stop != nil {
		command[2] = "exec " + line // so that the signal reaches the program
	}
	if u.offline {
		command = append(isolation(t), command...)
	}
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir = u.folder
	cmd.Env = append(os.Environ(), "PATH="+programs+":"+os.Getenv("PATH"), "KUBECONFIG="+u.kubeconfig, "KUBECACHEDIR="+filepath.Join(u.folder, ".cache"))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if stop != nil {
		cmd.Stdout = &first{to: &stdout, then: func() { stop(cmd.Process) }}
	}
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", line, err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// first calls a function after the first line that is written.
type first struct {
	to   *bytes.Buffer
	then func()
}

func (f *first) Write(text []byte) (int, error) {
	n, err := f.to.Write(text)
	if f.then != nil && bytes.ContainsRune(text, '\n') {
		f.then()
		f.then = nil
	}
	return n, err
}

// isolation runs a command without any network but a loopback that is down. Users who are not root need a user namespace for that.
func isolation(t *testing.T) []string {
	t.Helper()
	for _, with := range [][]string{{"unshare", "-n"}, {"unshare", "-rn"}} {
		if exec.CommandContext(t.Context(), with[0], append(with[1:], "true")...).Run() == nil {
			return with
		}
	}
	t.Fatal("no network namespace can be made: run it as root, or allow user namespaces")
	return nil
}

// applyFile creates the objects of a file in the namespace.
func (u *user) applyFile(t *testing.T, name string) {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	objects, err := files.Decode(text)
	require.NoError(t, err)
	for _, object := range objects {
		object.SetNamespace(u.namespace)
		cluster.Create(t, object)
	}
}

// web is the AppService of app.yaml.
func (u *user) web(t *testing.T) *v1.AppService {
	t.Helper()
	u.applyFile(t, "testdata/app.yaml")
	app := harness.Seed(u.namespace, "web")
	cluster.Ready(t, app)
	return app
}

// must runs a line that has to end with a code, and returns its output.
func (u *user) must(t *testing.T, code int, line string) string {
	t.Helper()
	got := u.run(t, line, nil)
	require.EqualValues(t, code, got.code, "%s ended with %d, want %d\n%s%s", line, got.code, code, got.stdout, got.stderr)
	return got.stdout
}

// says waits until a line prints all of some words.
func (u *user) says(t *testing.T, line string, words ...string) string {
	t.Helper()
	var got result
	harness.Eventually(t, line, func() error {
		got = u.run(t, line, nil)
		for _, word := range words {
			if !strings.Contains(got.stdout, word) {
				return fmt.Errorf("it does not say %q:\n%s%s", word, got.stdout, got.stderr)
			}
		}
		return nil
	})
	return got.stdout
}
