package dashboard

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Cluster is what the page shows, read with the rights of the user.
type Cluster struct {
	Reader client.Reader
	Mapper meta.RESTMapper
	// View is what is shown.
	View
	// Logs of a container.
	Logs func(ctx context.Context, namespace, pod string, options *corev1.PodLogOptions) (io.ReadCloser, error)
	Now  func() time.Time
}

// Server is the page.
type Server struct {
	cluster Cluster
	rows    *rows
	guard   *guard
}

// New returns a server for the address of a listener on the loopback interface.
func New(cluster Cluster, listener net.Listener) (*Server, error) {
	address := listener.Addr().String()
	host, port, err := net.SplitHostPort(address)
	if err != nil || !net.ParseIP(host).IsLoopback() {
		return nil, fmt.Errorf("cannot serve at %s: it has to be a loopback address", address)
	}
	return &Server{cluster: cluster, rows: newRows(), guard: newGuard(address, port)}, nil
}

// URL returns the address to open, which works once.
func (s *Server) URL() string { return "http://" + s.guard.host + "/?token=" + s.guard.token }
