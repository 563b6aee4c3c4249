package node

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/example/appservice-operator/tools/processes"
	"github.com/example/appservice-operator/tools/toolchain"
)

// TestLife takes a node through its life. It needs root, and all programs, which takes minutes where they are not built.
func TestLife(t *testing.T) {
	if os.Getenv("NODE_TEST") == "" {
		t.Skip("set NODE_TEST=1 to bring up a node")
	}
	ctx := t.Context()
	options := Options{Name: "node-test", Progress: t.Output()}
	t.Cleanup(func() {
		assert.NoError(t, Down(context.Background(), options))
	})
	up := func() *Node {
		t.Helper()
		n, err := Up(ctx, options)
		require.NoError(t, err)
		return n
	}
	n := up()
	if _, err := n.instance.kubectl(ctx, "create", "configmap", "witness"); err != nil {
		t.Fatal(err)
	}
	if _, err := up().instance.kubectl(ctx, "get", "configmap", "witness"); err != nil {
		t.Errorf("a node that was up was not used again: %v", err)
	}
	assert.NoError(t, n.RestartKubelet(ctx))
	running, err := processes.Of(ctx, n.instance.dir)
	if err != nil || len(running["kube-proxy"]) != 1 {
		t.Fatalf("got processes %v (error %v), want one kube-proxy", running, err)
	}
	require.NoError(t, processes.Kill("kube-proxy", running["kube-proxy"]))
	if _, err := up().instance.kubectl(ctx, "get", "configmap", "witness"); err == nil {
		t.Error("a node without a kube-proxy was not made again")
	}
	require.NoError(t, Down(ctx, options))
	expectNothing(t, n.instance)
}

// expectNothing checks that nothing of a node is left on the machine.
func expectNothing(t *testing.T, i *instance) {
	t.Helper()
	if running, err := processes.Of(t.Context(), i.dir); err != nil || len(running) > 0 {
		t.Errorf("got processes %v (error %v) after the end, want none", running, err)
	}
	roots, err := groupRoots()
	require.NoError(t, err)
	paths := []string{i.dir, filepath.Join("/sys/class/net", linkOf(i.name).name)}
	for _, root := range roots {
		paths = append(paths, filepath.Join(root, i.group()))
	}
	for _, path := range paths {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there (error %v)", path, err)
		}
	}
	mounts, err := os.ReadFile("/proc/mounts")
	if err != nil || strings.Contains(string(mounts), i.dir) {
		t.Errorf("something is still mounted in %s (error %v)", i.dir, err)
	}
}

func TestNames(t *testing.T) {
	for _, name := range []string{"../other", "Other", "a.b", strings.Repeat("a", 31)} {
		if _, err := Up(t.Context(), Options{Name: name}); err == nil || !strings.Contains(err.Error(), "cannot name a node") {
			t.Errorf("name %q: got error %v", name, err)
		}
	}
}

func TestLink(t *testing.T) {
	tests := netip.MustParsePrefix("198.18.0.0/15")
	seen := map[netip.Addr]string{}
	for _, name := range []string{"appservice-node", "n1", "n2", "e2e", "node-test"} {
		l := linkOf(name)
		if network := netip.PrefixFrom(l.host, 30); !network.Contains(l.node) || !tests.Contains(l.node) || l.host == l.node {
			t.Errorf("%s: got addresses %s and %s, want two of a network of four in %s", name, l.host, l.node, tests)
		}
		if len(l.name) > 15 {
			t.Errorf("%s: an interface cannot be named %s", name, l.name)
		}
		if other := seen[l.node]; other != "" {
			t.Errorf("nodes %s and %s have the same address", name, other)
		}
		seen[l.node] = name
	}
}

func TestCredentials(t *testing.T) {
	i := &instance{name: "test", dir: t.TempDir()}
	require.NoError(t, i.writeCredentials())
	authorities := x509.NewCertPool()
	ca, err := os.ReadFile(i.path("pki", "ca.crt"))
	if err != nil || !authorities.AppendCertsFromPEM(ca) {
		t.Fatalf("cannot read the authority's certificate (error %v)", err)
	}
	served, err := tls.LoadX509KeyPair(i.path("pki", "apiserver.crt"), i.path("pki", "apiserver.key"))
	require.NoError(t, err)
	for _, host := range []string{linkOf("test").node.String(), apiService, "kubernetes.default.svc"} {
		if _, err := served.Leaf.Verify(x509.VerifyOptions{Roots: authorities, DNSName: host}); err != nil {
			t.Errorf("the API server's certificate is not good for %s: %v", host, err)
		}
	}
	config, err := clientcmd.LoadFromFile(i.path(kubelet + ".kubeconfig"))
	require.NoError(t, err)
	client, err := tls.X509KeyPair(config.AuthInfos["test"].ClientCertificateData, config.AuthInfos["test"].ClientKeyData)
	require.NoError(t, err)
	if got := client.Leaf.Subject.String(); got != "CN=system:node:test,O=system:nodes" {
		t.Errorf("got user %s for the kubelet", got)
	}
}

func TestSettingsAreTheNodesOwn(t *testing.T) {
	i := &instance{name: "test", dir: t.TempDir(), programs: toolchain.Programs{shim: "/cache/shim"}}
	for _, name := range settings() {
		require.NoError(t, i.writeSettings(name))
		content, err := os.ReadFile(i.path(name))
		require.NoError(t, err)
		if strings.Contains(string(content), "{{") || strings.Contains(string(content), "<no value>") {
			t.Errorf("%s is not filled in:\n%s", name, content)
		}
	}
}
