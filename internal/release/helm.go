package release

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	helmclient "github.com/operator-framework/helm-operator-plugins/pkg/client"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/kube"
	"helm.sh/helm/v3/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/observe"
)

// newActionClients makes the source of Helm action clients: those of helm-operator-plugins, with failure rollbacks off
// (the state machine recovers instead) and release records that belong to the resource and are noted in the journal.
func newActionClients(config *rest.Config, mapper meta.RESTMapper, observer *observe.Observer) (helmclient.ActionClientGetter, error) {
	secrets, err := typedcorev1.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client for release records: %w", err)
	}
	records := func(_ context.Context, owner client.Object, _ *rest.Config) (driver.Driver, error) {
		reference := metav1.NewControllerRef(owner, owner.GetObjectKind().GroupVersionKind())
		noted := &notedSecrets{SecretInterface: secrets.Secrets(owner.GetNamespace()), owner: owner, observer: observer}
		return driver.NewSecrets(helmclient.NewOwnerRefSecretClient(noted, []metav1.OwnerReference{*reference}, nil)), nil
	}
	configs, err := helmclient.NewActionConfigGetter(config, mapper, helmclient.StorageDriverMapper(records))
	if err != nil {
		return nil, err
	}
	return helmclient.NewActionClientGetter(configs, helmclient.WithFailureRollbacks(false))
}

// notedSecrets notes each write of a release record.
type notedSecrets struct {
	typedcorev1.SecretInterface
	owner    client.Object
	observer *observe.Observer
}

func (s *notedSecrets) Create(ctx context.Context, secret *corev1.Secret, options metav1.CreateOptions) (*corev1.Secret, error) {
	written, err := s.SecretInterface.Create(ctx, secret, options)
	s.note(written, err)
	return written, err
}

func (s *notedSecrets) Update(ctx context.Context, secret *corev1.Secret, options metav1.UpdateOptions) (*corev1.Secret, error) {
	written, err := s.SecretInterface.Update(ctx, secret, options)
	s.note(written, err)
	return written, err
}

func (s *notedSecrets) note(written *corev1.Secret, err error) {
	if err != nil {
		return
	}
	record := &metav1.PartialObjectMetadata{ObjectMeta: *written.ObjectMeta.DeepCopy()}
	record.SetGroupVersionKind(observe.SecretKind)
	s.observer.Wrote(s.owner.GetUID(), record)
}

// open prepares the Helm action client of a resource. Where Helm would write objects, write is called instead.
func (a *Actor) open(ctx context.Context, owner client.Object, write func() error) (helmclient.ActionInterface, error) {
	actions, err := a.actions.ActionClientFor(ctx, owner)
	if err != nil {
		return nil, fmt.Errorf("cannot prepare the release: %w", err)
	}
	config := actions.Config()
	config.Capabilities = chartutil.DefaultCapabilities // nothing is rendered with them
	config.HookOutputFunc = func(string, string, string) io.Writer { return io.Discard }
	config.KubeClient = &planned{Interface: config.KubeClient, write: write}
	return actions, nil
}

// skeleton is the chart without its templates: what it renders is known already, and the record stays small.
func skeleton(c *chart.Chart) *chart.Chart {
	metadata := *c.Metadata
	metadata.Dependencies, metadata.KubeVersion = nil, ""
	return &chart.Chart{Metadata: &metadata, Values: c.Values}
}

// printed gives Helm the rendered manifest in place of its own, which is empty.
func printed(manifest string) helmclient.PostRendererFunc {
	return func(*bytes.Buffer) (*bytes.Buffer, error) { return bytes.NewBufferString(manifest), nil }
}

// planned is Helm's view of the cluster: one object that stands for all of a release. Helm keeps the records; what is
// written, and in which order, is the plan's.
type planned struct {
	kube.Interface
	write func() error
}

// IsReachable spares a request: the next one will tell.
func (p *planned) IsReachable() error { return nil }

// Build gives the one object.
func (p *planned) Build(io.Reader, bool) (kube.ResourceList, error) {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetName("release")
	return kube.ResourceList{&resource.Info{
		Client:  nothingThere{},
		Mapping: &meta.RESTMapping{Resource: corev1.SchemeGroupVersion.WithResource("releases"), Scope: meta.RESTScopeNamespace},
		Name:    "release",
		Object:  object,
	}}, nil
}

// Create carries out the plan of an install.
func (p *planned) Create(resources kube.ResourceList) (*kube.Result, error) {
	return &kube.Result{Created: resources}, p.write()
}

// Update carries out the plan of an upgrade.
func (p *planned) Update(_, target kube.ResourceList, _ bool) (*kube.Result, error) {
	return &kube.Result{Updated: target}, p.write()
}

// nothingThere answers Helm's question whether the object exists: what is in the way was looked for before.
type nothingThere struct{ resource.RESTClient }

// Get makes a request that is answered with 404 without a network.
func (nothingThere) Get() *rest.Request {
	content := rest.ClientContentConfig{Negotiator: runtime.NewClientNegotiator(scheme.Codecs.WithoutConversion(), corev1.SchemeGroupVersion)}
	return rest.NewRequestWithClient(&url.URL{Scheme: "https", Host: "release.invalid"}, "", content, &http.Client{Transport: notFound{}})
}

type notFound struct{}

func (notFound) RoundTrip(request *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: http.NoBody, Request: request}, nil
}
