package controlplane

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/tools/lifecycle"
	"github.com/example/appservice-operator/tools/processes"
)

// TestLife takes a cluster through its life. It needs all programs, which takes minutes where they are not built yet.
func TestLife(t *testing.T) {
	if os.Getenv("CONTROLPLANE_TEST") == "" {
		t.Skip("set CONTROLPLANE_TEST=1 to bring up a cluster")
	}
	ctx := t.Context()
	options := Options{Name: "controlplane-test", Nodes: 3, Progress: t.Output()}
	t.Cleanup(func() {
		assert.NoError(t, Down(context.Background(), options.Name))
	})
	up := func() *Cluster {
		t.Helper()
		c, err := Up(ctx, options)
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
			if _, release, err := lock(impatient, "other", nil); err == nil {
				release()
				t.Errorf("another cluster may be started without %s, and take its ports", name)
			}
		})
		require.NoError(t, err)
		if _, err := c.kubectl(ctx, "get", "configmap", "witness"); err != nil {
			t.Errorf("what was there is lost with %s: %v", name, err)
		}
	}
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
	i, release, err := lock(t.Context(), name, nil)
	require.NoError(t, err)
	release()
	return i
}
