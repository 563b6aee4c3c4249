package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/tools/lifecycle"
	"github.com/example/appservice-operator/tools/poll"
	"github.com/example/appservice-operator/tools/processes"
)

// TestLife takes a cluster through its life. It needs all programs, which takes minutes where they are not built yet.
func TestLife(t *testing.T) {
	if os.Getenv("CONTROLPLANE_TEST") == "" {
		t.Skip("set CONTROLPLANE_TEST=1 to bring up a cluster")
	}
	ctx := t.Context()
	supervised, unsupervised := context.WithCancel(ctx)
	defer unsupervised()
	output := &progress{}
	options := Options{Name: "controlplane-test", Nodes: 3, Progress: io.MultiWriter(t.Output(), output)}
	t.Cleanup(func() {
		assert.NoError(t, Down(context.Background(), options.Name))
	})
	up := func() *Cluster {
		t.Helper()
		c, err := Up(supervised, options)
		require.NoError(t, err)
		if ready, err := c.readyNodes(ctx); err != nil || ready != 3 {
			t.Fatalf("got %d ready nodes (error %v), want 3", ready, err)
		}
		return c
	}

	c := up()
	if _, err := c.kubectl(ctx, "create", "configmap", "witness"); err != nil {
		t.Fatal(err)
	}
	up()
	if _, err := c.kubectl(ctx, "get", "configmap", "witness"); err != nil {
		t.Errorf("a cluster that was up was not used again: %v", err)
	}

	i := instanceOf(t, options.Name)
	before, err := processes.Of(ctx, i.dir())
	require.NoError(t, err)
	require.NoError(t, c.Rediscover(ctx))
	running, err := processes.Of(ctx, i.dir())
	if err != nil || len(running["kube-apiserver"]) != 1 {
		t.Fatalf("got processes %v (error %v), want one API server", running, err)
	}
	for _, name := range components() {
		if anew := !slices.Equal(running[name], before[name]); anew != (name == "kube-controller-manager") {
			t.Errorf("%s: got processes %v, before %v", name, running[name], before[name])
		}
	}
	for _, name := range []string{"kube-apiserver", "etcd"} {
		err := c.Without(ctx, name, func() {
			running, err := processes.Of(ctx, i.dir())
			if err != nil || len(running[name]) > 0 {
				t.Errorf("got processes %v (error %v) without %s", running, err, name)
			}
			impatient, cancel := context.WithCancel(ctx)
			cancel()
			if _, release, err := lock(impatient, "other", io.Discard); err == nil {
				release()
				t.Errorf("another cluster may be started without %s, and take its ports", name)
			}
		})
		require.NoError(t, err)
		if _, err := c.kubectl(ctx, "get", "configmap", "witness"); err != nil {
			t.Errorf("what was there is lost with %s: %v", name, err)
		}
	}
	for _, name := range components() {
		require.NoError(t, i.kill(ctx, name))
		isStartedAgain(t, i, name, output)
		require.NoError(t, poll.UntilWithin(ctx, patience, func(ctx context.Context) error { return c.ready(ctx, 3) }))
	}
	unsupervised()
	supervised = ctx
	require.NoError(t, i.kill(ctx, "kube-apiserver"))
	c = up()
	if _, err := c.kubectl(ctx, "get", "configmap", "witness"); err == nil {
		t.Error("a cluster without an API server was not made again")
	}

	require.NoError(t, Down(ctx, options.Name))
	if running, err := processes.Of(ctx, i.dir()); err != nil || len(running) > 0 {
		t.Errorf("got processes %v (error %v) after the end, want none", running, err)
	}
	if _, err := os.Stat(i.dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the cluster's folder is still there (error %v)", err)
	}
}

// progress is the text that was reported so far.
type progress struct {
	mu   sync.Mutex
	text strings.Builder
}

func (p *progress) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(text)
}

func (p *progress) contains(part string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Contains(p.text.String(), part)
}

// isStartedAgain waits until a program runs, whose end was reported.
func isStartedAgain(t *testing.T, i *instance, name string, output *progress) {
	t.Helper()
	require.NoError(t, poll.UntilWithin(t.Context(), patience, func(ctx context.Context) error {
		running, err := processes.Of(ctx, i.dir())
		if err == nil && len(running[name]) != 1 {
			err = fmt.Errorf("got processes %v of %s, want one", running[name], name)
		}
		return err
	}))
	want := name + " of cluster " + i.name + " has ended, and is started again; the end of " + i.log(name) + ":\n"
	assert.True(t, output.contains(want), "not reported: %s", want)
}

// The programs are others, that only wait: kwokctl has started them, and they end.
func TestAProgramThatEndsIsStartedAgain(t *testing.T) {
	t.Setenv("APPSERVICE_CACHE", t.TempDir())
	sleep, err := exec.LookPath("sleep")
	require.NoError(t, err)
	i, output := instanceOf(t, "test"), &progress{}
	i.progress = output
	t.Cleanup(func() { assert.NoError(t, Down(context.Background(), "test")) })
	configuration := "kind: KwokConfiguration\n---\nkind: KwokctlConfiguration\ncomponents:\n"
	for _, folder := range []string{"bin", "logs", "pids"} {
		require.NoError(t, os.MkdirAll(filepath.Join(i.dir(), folder), 0o755))
	}
	for _, name := range components() {
		binary := filepath.Join(i.dir(), "bin", name)
		require.NoError(t, os.Symlink(sleep, binary))
		require.NoError(t, os.WriteFile(filepath.Join(i.dir(), "pids", name+".pid"), nil, 0o600))
		require.NoError(t, os.WriteFile(i.log(name), []byte("it gives up\n"), 0o600))
		configuration += fmt.Sprintf("- {name: %s, binary: %s, workDir: %s, args: ['600']}\n", name, binary, i.dir())
	}
	require.NoError(t, os.WriteFile(filepath.Join(i.dir(), "kwok.yaml"), []byte(configuration), 0o600))
	go i.superviseOn(t.Context())
	require.NoError(t, os.WriteFile(i.lifecycle(Options{}).MadeFrom(), nil, 0o600)) // it is complete
	for _, name := range components() {
		isStartedAgain(t, i, name, output)
	}
	assert.True(t, output.contains("it gives up\n"), "the end of a log is not shown")
}

// kubectl is a program here that fails for some requests.
func TestWhatIsNotReadyIsNamedWithTheEndOfItsLog(t *testing.T) {
	dir := t.TempDir()
	c := &Cluster{Kubeconfig: filepath.Join(dir, "kubeconfig.yaml"), Kubectl: filepath.Join(dir, "kubectl"), ours: true}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "logs"), 0o755))
	for _, name := range components() {
		require.NoError(t, os.WriteFile(c.log(name), []byte(name+" gives up\n"), 0o600))
	}
	cases := map[string]struct{ fails, want string }{
		"all is well":          {"nothing", ""},
		"no API server":        {"*/readyz*", "kube-apiserver"},
		"no default account":   {"*serviceaccount*", "kube-controller-manager"},
		"no node can be asked": {"*nodes*", "kwok-controller"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			script := "#!/bin/sh\ncase \"$*\" in " + tc.fails + ") echo refused >&2; exit 1;; *nodes*) echo True;; esac\n"
			require.NoError(t, os.WriteFile(c.Kubectl, []byte(script), 0o700))
			err := c.Flaw(t.Context())
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.want+" is not ready: kubectl: exit status 1: refused; the end of "+c.log(tc.want)+":\n"+tc.want+" gives up")
		})
	}
}

func TestRediscoverLeavesOtherClustersAlone(t *testing.T) {
	t.Setenv("APPSERVICE_CACHE", "/dev/null/no-cache")
	if err := (&Cluster{Name: "appservice"}).Rediscover(t.Context()); err != nil {
		t.Errorf("got error %v, want nothing done", err)
	}
	if err := (&Cluster{Name: "appservice"}).Without(t.Context(), "etcd", func() {}); !errors.Is(err, errNotOurs) {
		t.Errorf("got error %v, want nothing ended", err)
	}
	if err := (&Cluster{Name: "appservice", ours: true}).Rediscover(t.Context()); err == nil {
		t.Error("got no error for a cluster of ours without a cache")
	}
}

func TestNames(t *testing.T) {
	cases := map[string]struct {
		options Options
		wantErr string
	}{
		"a folder elsewhere": {options: Options{Name: "../other"}, wantErr: `cannot name a cluster "../other"`},
		"upper case":         {options: Options{Name: "Other"}, wantErr: `cannot name a cluster "Other"`},
		"too few nodes":      {options: Options{Nodes: -1}, wantErr: "it cannot have -1 nodes"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := Up(t.Context(), tc.options); err == nil || !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("got error %v, want %q", err, tc.wantErr)
			}
		})
	}
}

func TestFlaw(t *testing.T) {
	t.Setenv("APPSERVICE_CACHE", t.TempDir())
	i := instanceOf(t, "test")
	expect := func(want string) {
		t.Helper()
		if got, err := i.lifecycle(Options{}).Flaw(t.Context()); err != nil || got != want {
			t.Errorf("got flaw %q (error %v), want %q", got, err, want)
		}
	}
	expect(lifecycle.Absent)
	require.NoError(t, os.MkdirAll(i.dir(), 0o755))
	expect("it was never finished")
	madeFrom := i.lifecycle(Options{}).MadeFrom()
	require.NoError(t, os.WriteFile(madeFrom, []byte("something else"), 0o644))
	expect("it was made from other versions or settings")
	require.NoError(t, os.WriteFile(madeFrom, []byte(i.recipe()), 0o644))
	expect("etcd is not running")

	require.NoError(t, Down(t.Context(), "test"))
	expect(lifecycle.Absent)
}

func TestEnvironmentOfKwokctl(t *testing.T) {
	got := environment([]string{"HOME=/home/me", "KWOK_RUNTIME=docker", "KUBECONFIG=/mine"}, "KWOK_WORKDIR=/cache")
	if want := []string{"HOME=/home/me", "KWOK_WORKDIR=/cache"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func instanceOf(t *testing.T, name string) *instance {
	t.Helper()
	i, release, err := lock(t.Context(), name, io.Discard)
	require.NoError(t, err)
	release()
	return i
}
