// Package harness lets tests run the operator against a real control plane: a cluster that all tests share, a namespace
// for each, a manager that serves this namespace only, and a record of the requests that it makes.
package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/connect"
	"github.com/example/appservice-operator/tools/controlplane"
	"github.com/example/appservice-operator/tools/filelock"
	"github.com/example/appservice-operator/tools/poll"
	"github.com/example/appservice-operator/tools/toolchain"
)

// Cluster is the control plane that the tests of a package share.
type Cluster struct {
	*controlplane.Cluster
	Config *rest.Config
	Client client.Client
	// Operator is the account of operators: that of an installation with all options, which has the rights of config/rbac and config/rights. If
	// nil, they use Config.
	Operator *rest.Config

	seen     cache.Cache // what is needed of the cluster to make objects ready
	passing  bool        // it is deleted when the tests are over, with all its content
	collects sync.Once
	// routes has routes of a kind, and ListenerSets, accepted, once their kind is served.
	routes func(kind string) error
	// scalers has ScaledObjects scale, once their kind is served.
	scalers func() error
}

// Main is the TestMain of packages whose tests share a cluster: it starts the cluster, lets tests run and ends the program with their code.
func Main(name string, tests func(context.Context, *Cluster) (code int, err error), change ...func(*controlplane.Options)) {
	os.Exit(runMain(name, tests, change...))
}

func runMain(name string, tests func(context.Context, *Cluster) (int, error), change ...func(*controlplane.Options)) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cluster, stop, err := Start(ctx, name, change...)
	if stop != nil {
		defer stop()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot start the cluster:", err)
		return 1
	}
	code, err := tests(ctx, cluster)
	if code != 0 || err != nil {
		err = errors.Join(err, cluster.Flaw(ctx))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// Start starts the cluster and installs the CRDs; stop ends what it started. CLUSTER_NAME replaces the name.
func Start(ctx context.Context, name string, change ...func(*controlplane.Options)) (cluster *Cluster, stop func(), err error) {
	name = cmp.Or(os.Getenv("CLUSTER_NAME"), name)
	current, err := controlplane.CurrentWanted()
	if err != nil {
		return nil, nil, err
	}
	release := func() {}
	if !current { // the operators of two runs would serve the same AppServices
		path := filepath.Join(os.TempDir(), fmt.Sprintf("appservice-operator-tests-%s-%d.lock", name, os.Getuid()))
		busy := func() {
			fmt.Fprintf(os.Stderr, "waiting for other tests that use cluster %s; CLUSTER_NAME names another one\n", name)
		}
		if release, err = filelock.Acquire(ctx, path, busy); err != nil {
			return nil, nil, err
		}
	}
	options := controlplane.Options{Name: name, Progress: os.Stderr}
	for _, apply := range change {
		apply(&options)
	}
	up, err := controlplane.FromEnvironment(ctx, options)
	if err != nil {
		release()
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, up.Flaw(ctx))
		}
	}()
	stop = func() {
		if !current {
			_ = controlplane.Down(context.WithoutCancel(ctx), up.Name)
		}
		release()
	}
	config, direct, err := connect.To(up.Kubeconfig)
	if err != nil {
		return nil, stop, err
	}
	version, err := discovery.NewDiscoveryClientForConfigOrDie(config).ServerVersion()
	if err != nil {
		return nil, stop, fmt.Errorf("cannot ask the cluster for its version: %w", err)
	}
	fmt.Fprintf(os.Stderr, "cluster %s runs Kubernetes %s\n", up.Name, version.GitVersion)
	cluster = &Cluster{Cluster: up, Config: config, Client: direct, passing: !current, routes: func(string) error { return nil }, scalers: func() error { return nil }}
	if !current {
		end, err := cluster.serveMetrics(ctx)
		if err != nil {
			return nil, stop, err
		}
		down := stop
		stop = func() { down(); end() }
		served := map[string]func() error{}
		for _, kind := range gatewayKinds {
			served[kind] = sync.OnceValue(func() error { return cluster.serveGateways(ctx, kind) })
		}
		cluster.routes = func(kind string) error { return served[kind]() }
		cluster.scalers = sync.OnceValue(func() error { return cluster.serveScalers(ctx) })
		for _, serve := range []func(context.Context) error{cluster.enroll, cluster.serve} {
			if err := serve(ctx); err != nil {
				return nil, stop, err
			}
		}
	}
	return cluster, stop, cluster.installOurs(ctx)
}

// installOurs installs the CRDs of the kinds that the operator serves.
func (c *Cluster) installOurs(ctx context.Context) error {
	root, err := toolchain.Root()
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(root, "config/crd/bases/*.yaml"))
	if err != nil {
		return err
	}
	known := true
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(text, crd); err != nil {
			return fmt.Errorf("cannot parse %s: %w", file, err)
		}
		known = c.Client.Get(ctx, client.ObjectKeyFromObject(crd), &apiextensionsv1.CustomResourceDefinition{}) == nil && known
		if err := c.InstallCRD(ctx, crd); err != nil {
			return err
		}
	}
	if known {
		return nil
	}
	return c.Rediscover(ctx)
}

// InstallCRD installs a CRD, unless it is there, and waits until the API server serves it.
func (c *Cluster) InstallCRD(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) error {
	if err := c.Client.Create(ctx, crd); client.IgnoreAlreadyExists(err) != nil {
		return fmt.Errorf("cannot install the CRD %s: %w", crd.Name, err)
	}
	err := poll.UntilWithin(ctx, Patience, func(ctx context.Context) error {
		if err := c.Client.Get(ctx, client.ObjectKeyFromObject(crd), crd); err != nil {
			return err
		}
		if !apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established) {
			return fmt.Errorf("the CRD %s is not established yet", crd.Name)
		}
		// Discovery shows a kind a moment after it is established.
		served := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Served })
		_, err := c.Client.RESTMapper().RESTMapping(
			schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}, crd.Spec.Versions[served].Name)
		return err
	})
	switch {
	case err != nil:
		return err
	case slices.Contains(gatewayKinds, crd.Spec.Names.Kind):
		return c.routes(crd.Spec.Names.Kind)
	case crd.Spec.Names.Kind == "ScaledObject":
		return c.scalers()
	case crd.Spec.Names.Kind == "Gateway" && c.passing:
		return c.attachAll(ctx)
	}
	return nil
}

// Install is InstallCRD for tests.
func (c *Cluster) Install(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	require.NoError(t, c.InstallCRD(t.Context(), crd))
}

// AnyCRD is the CRD of a kind that may have any content.
func AnyCRD(kind schema.GroupVersionKind, plural string) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + kind.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: kind.Group,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: kind.Kind},
			Scope: apiextensionsv1.NamespaceScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: kind.Version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: ptr.To(true),
				}},
			}},
		},
	}
}

// WithStatus is a CRD that serves the status of its kind apart from the rest.
func WithStatus(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	crd.Spec.Versions[0].Subresources = &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}}
	return crd
}

// Namespace creates a namespace for a test. In a cluster that stays it is deleted afterwards; in one that does not, deleting it would only slow
// down other tests.
func (c *Cluster) Namespace(t *testing.T) string {
	t.Helper()
	name := strings.ToLower(strings.NewReplacer("/", "-", "_", "-", " ", "-").Replace(t.Name()))
	namespace := &corev1.Namespace{}
	Eventually(t, "a namespace can be created", func() error {
		namespace = &corev1.Namespace{}
		namespace.GenerateName = strings.Trim(name[:min(len(name), 40)], "-") + "-"
		return c.Client.Create(t.Context(), namespace)
	})
	if !c.passing {
		t.Cleanup(func() { _ = c.Client.Delete(context.WithoutCancel(t.Context()), namespace) })
	}
	return namespace.Name
}

// CollectsGarbage waits until the garbage collector has noticed the CRD: at once after Rediscover, else within 40 s.
func (c *Cluster) CollectsGarbage(t *testing.T) {
	t.Helper()
	c.collects.Do(func() {
		namespace := c.Namespace(t)
		owner := Seed(namespace, "owner")
		c.Create(t, owner)
		reference := metav1.NewControllerRef(owner, v1.GroupVersion.WithKind(v1.Kind))
		dependent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: "dependent", OwnerReferences: []metav1.OwnerReference{*reference},
		}}
		c.Create(t, dependent)
		// In the foreground: the collector would otherwise retry at growing intervals.
		require.NoError(t, c.Client.Delete(t.Context(), owner, client.PropagationPolicy(metav1.DeletePropagationForeground)))
		Eventually(t, "the garbage collector works", func() error {
			err := c.Client.Get(t.Context(), client.ObjectKeyFromObject(dependent), dependent)
			if err == nil {
				return fmt.Errorf("the dependent is still there")
			}
			return client.IgnoreNotFound(err)
		})
	})
}

// Cache returns a reader of namespaces that lists each kind once, and then watches it.
func (c *Cluster) Cache(t *testing.T, namespaces ...string) client.Reader {
	t.Helper()
	options := cache.Options{Scheme: c.Client.Scheme(), Mapper: c.Client.RESTMapper(), DefaultNamespaces: map[string]cache.Config{}}
	for _, namespace := range namespaces {
		options.DefaultNamespaces[namespace] = cache.Config{}
	}
	objects, err := cache.New(c.Config, options)
	require.NoError(t, err, "cannot make a cache")
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- objects.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-done, "the cache ended with")
	})
	return objects
}
