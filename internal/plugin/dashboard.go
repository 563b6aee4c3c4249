package plugin

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	mapper, err := s.kube.ToRESTMapper()
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
	options := cache.Options{Mapper: mapper}
	scope := "all namespaces"
	if !here {
		here, err = refused(ctx, reader, kinds)
		if err != nil {
			return err
		}
	}
	if here {
		scope = "namespace " + namespace
		options.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	}
	informers, err := cache.New(config, options)
	if err != nil {
		return fmt.Errorf("cannot watch the cluster: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return fmt.Errorf("cannot listen: %w", err)
	}
	defer func() { _ = listener.Close() }()
	server, err := dashboard.New(dashboard.Cluster{
		Reader: reader, Mapper: mapper, Kinds: kinds, Scope: scope, Now: time.Now,
		Logs: func(ctx context.Context, namespace, pod string, options *corev1.PodLogOptions) (io.ReadCloser, error) {
			return typed.CoreV1().Pods(namespace).GetLogs(pod, options).Stream(ctx)
		},
	}, listener)
	if err != nil {
		return err
	}
	if err := server.Watch(ctx, informers); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(s.Out, "%s, read-only, until Ctrl-C. Open once:\n%s\n", scope, server.URL()); err != nil {
		return err
	}
	return server.Serve(ctx, listener)
}

// refused reports whether the user may not list one of the kinds in all namespaces.
func refused(ctx context.Context, c client.Client, kinds []schema.GroupVersionKind) (bool, error) {
	for _, kind := range kinds {
		mapping, err := c.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
		if err != nil {
			return false, fmt.Errorf("cannot ask the cluster for its kinds: %w", err)
		}
		for _, verb := range []string{"list", "watch"} {
			review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: verb, Group: kind.Group, Version: kind.Version,
					Resource: mapping.Resource.Resource}}}
			if err := c.Create(ctx, review); err != nil {
				return false, fmt.Errorf("cannot ask the cluster what you may list: %w", err)
			}
			if !review.Status.Allowed {
				return true, nil
			}
		}
	}
	return false, nil
}

// kindsOfCharts returns the kinds that the cluster serves in the category of kinds made from charts, AppService first.
func kindsOfCharts(served discovery.DiscoveryInterface) ([]schema.GroupVersionKind, error) {
	lists, err := served.ServerPreferredResources()
	if err != nil && len(lists) == 0 { // a group that does not answer is none of ours
		return nil, fmt.Errorf("cannot ask the cluster for its kinds: %w", err)
	}
	var kinds []schema.GroupVersionKind
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		for _, one := range list.APIResources {
			own := version.Group == v1.GroupVersion.Group || slices.Contains(one.Categories, v1.Category)
			if own && one.Namespaced && !strings.Contains(one.Name, "/") {
				kinds = append(kinds, version.WithKind(one.Kind))
			}
		}
	}
	if len(kinds) == 0 {
		return nil, fmt.Errorf("the cluster serves no AppServices: the operator is not installed there")
	}
	slices.SortFunc(kinds, func(a, b schema.GroupVersionKind) int {
		rank := func(kind schema.GroupVersionKind) int {
			if kind == appServices {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a.Kind, b.Kind))
	})
	return kinds, nil
}
