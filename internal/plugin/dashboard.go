package plugin

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/plugin/dashboard"
)

func dashboardCommand(s *cli) *cobra.Command {
	var here bool
	var port int
	cmd := &cobra.Command{
		Use:   "dashboard",
		Short: "Show AppServices on a page in the browser",
		Long: "Dashboard serves a read-only page on 127.0.0.1 until it is interrupted, and prints its address, which can be opened once. The page lists\n" +
			"AppServices and the kinds made from charts, those that are not ready first, and shows of each why it is not, its rollout, releases, objects\n" +
			"and pods.\n\n" +
			"It reads with your rights, and nothing is installed in the cluster. Texts of objects are left out where they may hold a password. It\n" +
			"shows all namespaces if you may list them, else the one of the context.",
		Example: `# all namespaces, if you may list them
kubectl appservice dashboard

# one namespace
kubectl appservice dashboard -n shop`,
		Annotations: map[string]string{"until": "interrupted"},
		Args:        cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.serveDashboard(cmd.Context(), port, here || *s.kube.Namespace != "")
		},
	}
	cmd.Flags().BoolVar(&here, "current-namespace", false, "show the namespace of the context only")
	cmd.Flags().IntVar(&port, "port", 0, "the port on 127.0.0.1; any free one if it is 0")
	return cmd
}

// serveDashboard serves the page until the context ends.
func (s *cli) serveDashboard(ctx context.Context, port int, here bool) error {
	config, err := s.config()
	if err != nil {
		return err
	}
	reader, err := s.client()
	if err != nil {
		return err
	}
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("cannot reach the cluster: %w", err)
	}
	kinds, err := kindsOfCharts(typed.Discovery())
	if err != nil {
		return err
	}
	namespace, err := s.namespace()
	if err != nil {
		return err
	}
	namespaces := []string{corev1.NamespaceAll, namespace}
	if here {
		namespaces = namespaces[1:]
	}
	view, err := dashboard.ViewOf(ctx, reader, kinds, namespaces...)
	if err != nil {
		return err
	}
	for _, left := range view.Left {
		_, _ = fmt.Fprintln(s.ErrOut, left)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return fmt.Errorf("cannot listen: %w", err)
	}
	defer func() { _ = listener.Close() }()
	server, err := dashboard.New(dashboard.Cluster{
		Reader: reader, Mapper: reader.RESTMapper(), View: view, Now: time.Now,
		Logs: func(ctx context.Context, namespace, pod string, options *corev1.PodLogOptions) (io.ReadCloser, error) {
			return typed.CoreV1().Pods(namespace).GetLogs(pod, options).Stream(ctx)
		},
	}, listener)
	if err != nil {
		return err
	}
	log.SetLogger(logr.Discard()) // the page says what goes wrong
	transport, err := rest.TransportFor(config)
	if err != nil {
		return fmt.Errorf("cannot watch the cluster: %w", err)
	}
	informers, err := cache.New(config, cache.Options{Mapper: reader.RESTMapper(),
		DefaultNamespaces: map[string]cache.Config{view.Namespace: {}},
		HTTPClient:        &http.Client{Transport: server.Observed(transport), Timeout: config.Timeout}})
	if err != nil {
		return fmt.Errorf("cannot watch the cluster: %w", err)
	}
	if err := server.Watch(ctx, informers); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.Out, "%s, read-only, until Ctrl-C. Open once:\n%s\n", view.Scope, server.URL())
	if err != nil {
		return err
	}
	return server.Serve(ctx, listener)
}

// kindsOfCharts returns the kinds that the cluster serves in the category of kinds made from charts.
func kindsOfCharts(served discovery.DiscoveryInterface) ([]schema.GroupVersionKind, error) {
	lists, err := served.ServerPreferredNamespacedResources()
	if err != nil && len(lists) == 0 { // a group that does not answer is none of ours
		return nil, fmt.Errorf("cannot ask the cluster for its kinds: %w", err)
	}
	var kinds []schema.GroupVersionKind
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		for _, one := range list.APIResources {
			if err == nil && (version.Group == v1.GroupVersion.Group || slices.Contains(one.Categories, v1.Category)) {
				kinds = append(kinds, version.WithKind(one.Kind))
			}
		}
	}
	if len(kinds) == 0 {
		return nil, fmt.Errorf("the cluster serves no AppServices: the operator is not installed there")
	}
	slices.SortFunc(kinds, func(a, b schema.GroupVersionKind) int { return strings.Compare(a.Kind, b.Kind) })
	return kinds, nil
}
