package harness

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Proxy stands between a manager's process and the API server, on loopback. It forwards everything, watches included, and
// can kill the process at one of its writes.
type Proxy struct {
	// Kubeconfig for the manager.
	Kubeconfig string
	// Requests that went through.
	Requests Requests

	forward *httputil.ReverseProxy
	server  *httptest.Server

	mu    sync.Mutex
	crash *Crash
	count int
}

// Crash is the death of a process at one of its writes. Events do not count.
type Crash struct {
	// Write is the number of the write, 1 and up.
	Write int
	// At chooses the writes that count; nil for all.
	At func(Request) bool
	// Late sends the write on only after Kill has returned.
	Late bool
	// Committed lets the write happen first, without an answer to the process.
	Committed bool
	// Kill ends the process.
	Kill func()

	struck Request
}

// NewProxy starts a proxy to the cluster.
func (c *Cluster) NewProxy(t *testing.T) *Proxy {
	t.Helper()
	target, err := url.Parse(c.Config.Host)
	require.NoError(t, err)
	transport, err := rest.TransportFor(c.identity())
	require.NoError(t, err)
	p := &Proxy{
		Kubeconfig: filepath.Join(t.TempDir(), "kubeconfig"),
		forward: &httputil.ReverseProxy{
			Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
			FlushInterval: -1,
			ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
		},
	}
	p.forward.Transport = p.Requests.Wrap(transport)
	p.server = httptest.NewServer(p)
	t.Cleanup(p.server.Close)
	t.Cleanup(p.server.CloseClientConnections)

	config := clientcmdapi.NewConfig()
	config.Clusters["proxy"] = &clientcmdapi.Cluster{Server: p.server.URL}
	config.Contexts["proxy"] = &clientcmdapi.Context{Cluster: "proxy"}
	config.CurrentContext = "proxy"
	require.NoError(t, clientcmd.WriteToFile(*config, p.Kubeconfig))
	return p
}

// Break breaks all connections once, so that watches start again and rights are checked again.
func (p *Proxy) Break() { p.server.CloseClientConnections() }

// CrashAt arms the proxy: writes are counted from now on.
func (p *Proxy) CrashAt(crash *Crash) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.crash, p.count = crash, 0
}

// Disarm lets everything through again and returns the write at which the process died, if it did.
func (p *Proxy) Disarm() (struck Request, happened bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() { p.crash = nil }()
	return p.crash.struck, p.crash.struck.Verb != ""
}

// ServeHTTP forwards a request, or ends the process that made it.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request := describe(r)
	crash := p.due(request)
	if crash == nil {
		p.forward.ServeHTTP(w, r)
		return
	}
	if crash.Committed {
		p.forward.ServeHTTP(httptest.NewRecorder(), r)
	}
	crash.Kill()
	if crash.Late {
		// The connection may be gone by now; what is on its way arrives all the same.
		p.forward.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithoutCancel(r.Context())))
	}
	panic(http.ErrAbortHandler) // the connection breaks without an answer
}

// due returns the crash if its time has come with this request.
func (p *Proxy) due(request Request) *Crash {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.crash == nil || p.crash.struck.Verb != "" || !request.Writes() || strings.Contains(request.Path, "/events") {
		return nil
	}
	if p.crash.At != nil && !p.crash.At(request) {
		return nil
	}
	if p.count++; p.count != p.crash.Write {
		return nil
	}
	p.crash.struck = request
	return p.crash
}
