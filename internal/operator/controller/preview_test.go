package controller

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	appservice "github.com/example/appservice-operator"
	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/engine/render/defaults"
	"github.com/example/appservice-operator/internal/operator/policy"
	"github.com/example/appservice-operator/internal/operator/status"
	"github.com/example/appservice-operator/internal/plugin/preview"
)

// twin is what the reconciler and the commands read in these tests, each in its own way.
type twin struct {
	client.Client
	factSource
	config       *corev1.ConfigMap
	capabilities *chartutil.Capabilities
	rules        *policy.Policy
}

// Facts implements ReferenceSource, with the same objects as the caches of an operator would have.
func (s *twin) Facts(
	ctx context.Context, resource client.Object, references []reference.Reference,
) (postrender.Facts, error) {
	reader := reference.NewDependencies(s.Client, s.Client)
	labels, err := reader.Labels(ctx, resource.GetNamespace())
	if err != nil {
		return postrender.Facts{}, err
	}
	facts := policy.FactsOf(resource.GetNamespace(), labels, s.rules)
	return facts, facts.Find(references, func(r reference.Reference) (reference.State, bool, error) {
		state, err := reader.Look(ctx, resource.GetNamespace(), r.Object, true)
		return state, true, err
	})
}

// Of implements DefaultsSource.
func (s *twin) Of(context.Context, string) (defaults.Text, error) {
	return defaults.Of(s.config, v1.Kind), nil
}

// capabilitiesSource implements watch.CapabilitiesSource.
type capabilitiesSource struct{ *chartutil.Capabilities }

func (s capabilitiesSource) Get(context.Context) (*chartutil.Capabilities, int64, error) {
	return s.Capabilities, 1, nil
}

// sharing returns what is shared by a namespace whose ConfigMap with defaults has a text.
func sharing(t *testing.T, text string) *twin {
	t.Helper()
	config := &corev1.ConfigMap{Data: map[string]string{}}
	config.Namespace, config.Name = "shop", defaults.Name
	if text != "" {
		config.Data["appservice.yaml"] = text
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: "shop", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "baseline"},
	}}
	return &twin{
		Client: fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(namespace, config).Build(),
		config: config, rules: policy.Default(),
	}
}

// reconciled returns what a reconcile of a resource renders. Objects that are missing are no error: only the operator
// waits for them.
func (s *twin) reconciled(
	t *testing.T, renderer *render.Renderer, resource *unstructured.Unstructured,
) (*render.Result, error) {
	t.Helper()
	compact, err := kube.Compact(resource.DeepCopy(), 0)
	require.NoError(t, err)
	r := &Reconciler{
		Kind: appService, Charts: render.NewCurrent(renderer), Capabilities: capabilitiesSource{s.capabilities}, Defaults: s,
		Observer: livestate.New(nil, nil, nil), Tracker: &syncedSource{}, References: s, Live: s.Client,
		Client: cached{s.Client, compact}, Clock: clocktesting.NewFakePassiveClock(start), Status: &status.Writer{},
	}
	scope, err := r.read(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(resource)})
	require.NoError(t, err)
	out, err := r.render(t.Context(), scope, &livestate.Snapshot{})
	if missing := (*reference.MissingError)(nil); err != nil && !errors.As(err, &missing) {
		return nil, err
	}
	result, err := out.packed.Unpack()
	require.NoError(t, err)
	return result, nil
}

// cached holds one resource as the cache of an operator does.
type cached struct {
	client.Client
	resource *unstructured.Unstructured
}

func (c cached) Get(ctx context.Context, name client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if into, is := object.(*unstructured.Unstructured); is && name == client.ObjectKeyFromObject(c.resource) {
		*into = *c.resource
		return nil
	}
	return c.Client.Get(ctx, name, object, options...)
}

// previewed returns what the commands render.
func (s *twin) previewed(
	t *testing.T, renderer *render.Renderer, resource *unstructured.Unstructured,
) (*render.Result, error) {
	t.Helper()
	discovery := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{"major": "1", "minor": "36", "gitVersion": "v1.36.0"}`)
	}))
	defer discovery.Close()
	c, err := preview.Open(t.Context(), s.Client, &rest.Config{Host: discovery.URL}, func(text string) { t.Error(text) })
	require.NoError(t, err)
	c.Capabilities, c.Policy = s.capabilities, s.rules
	result, err := c.Render(t.Context(), renderer, resource.DeepCopy(), nil)
	if err == nil {
		err = result.Served()
	}
	return result, err
}

// appServices returns the renderer of AppServices as it is shipped.
func appServices(t *testing.T) *render.Renderer {
	t.Helper()
	charts, err := preview.LoadCharts(appservice.Files)
	require.NoError(t, err)
	return charts.Renderers[appService]
}

func parsedResource(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	resource := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	require.NoError(t, utiljson.Unmarshal(data, &resource.Object))
	resource.SetGroupVersionKind(appService)
	resource.SetNamespace("shop")
	resource.SetUID(types.UID(render.PlaceholderUID))
	return resource
}

// keep puts the keys of checksums among some objects into the cluster: commands do not foresee them.
func (s *twin) keep(t *testing.T, objects []*unstructured.Unstructured) {
	t.Helper()
	for name, key := range postrender.ChecksumKeys(objects) {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Annotations: map[string]string{v1.AnnotationChecksumKey: key}}}
		require.NoError(t, client.IgnoreAlreadyExists(s.Create(t.Context(), secret)))
		require.NoError(t, s.Update(t.Context(), secret))
	}
}

// same reconciles and previews a resource, fails the test if they differ, and returns the error of both; empty if there
// is none.
func (s *twin) same(t *testing.T, renderer *render.Renderer, resource *unstructured.Unstructured) string {
	t.Helper()
	applied, refused := s.reconciled(t, renderer, resource)
	if refused == nil {
		s.keep(t, applied.Objects)
	}
	foreseen, err := s.previewed(t, renderer, resource)
	switch {
	case refused != nil && err != nil:
		if refused.Error() != err.Error() {
			t.Errorf("the operator refuses it with\n%v\nand the commands with\n%v", refused, err)
		}
		return err.Error()
	case refused != nil || err != nil:
		t.Errorf("the operator refuses it with %v, and the commands with %v", refused, err)
	case applied.Digest != foreseen.Digest || applied.Manifest() != foreseen.Manifest():
		t.Errorf("the operator renders\n%s\nand the commands\n%s", applied.Manifest(), foreseen.Manifest())
	}
	return ""
}

// Commands show the objects that the operator applies: of all golden cases, also with defaults beneath their specs.
func TestCommandsShowWhatTheOperatorRenders(t *testing.T) {
	files, err := filepath.Glob("../../../test/testdata/cases/*/cr.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d cases, error %v", len(files), err)
	}
	renderer := appServices(t)
	for _, text := range []string{"", "{tolerations: [{key: batch}], resources: {limits: {memory: 1Gi}}, minReadySeconds: 7}"} {
		s, refused := sharing(t, text), 0
		s.capabilities = render.Serving(renderer.Chart)
		for _, file := range files {
			t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
				content, err := os.ReadFile(file)
				require.NoError(t, err)
				if s.same(t, renderer, parsedResource(t, string(content))) != "" {
					refused++
				}
			})
		}
		if refused > 5 {
			t.Errorf("%d of %d cases are refused, want few", refused, len(files))
		}
	}
}

// Commands refuse the specs that the operator refuses, with the same words.
func TestCommandsRefuseWhatTheOperatorRefuses(t *testing.T) {
	list := func(count int, format string) string {
		var items []string
		for i := range count {
			items = append(items, fmt.Sprintf(format, i))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	references := "envFrom: " + list(60, "{configMapRef: {name: c%d}}") +
		", envs: " + list(60, "{name: E%[1]d, valueFrom: {configMapKeyRef: {name: d%[1]d, key: e}}}")
	route := "route: {parentRefs: [{name: public}], hostnames: " + list(16, "h%d.example.com") +
		", rules: " + list(16, "{matches: [{path: /%d}]}") + "}"
	for name, test := range map[string]struct{ spec, defaults, want string }{
		"too large itself":          {"{image: " + strings.Repeat("x", 48<<10) + "}", "", "more than 48 KiB"},
		"too many references":       {"{image: a, " + references + "}", "", "more than 100"},
		"too many hosts and paths":  {"{image: a, ports: [{port: 80}], " + route + "}", "", "more than 128"},
		"an invalid spec":           {"{image: 7}", "", "spec.image"},
		"Pod Security":              {"{image: a, podTemplate: {spec: {hostNetwork: true}}}", "", "violate the Pod Security Standard"},
		"the policy":                {"{image: a, tolerations: [{operator: Exists}]}", "", "violates the platform's policy"},
		"an API that is not served": {"{image: a, autoscaling: {maxReplicas: 9, triggers: [{type: cron}]}}", "", "does not serve ScaledObject"},
		"defaults that are invalid": {"{image: a}", "image: b", "ConfigMap appservice-defaults"},
		"defaults that are refused": {"{image: a}", "tolerations: [{operator: Exists}]", "ConfigMap appservice-defaults"},
	} {
		t.Run(name, func(t *testing.T) {
			s, renderer := sharing(t, test.defaults), appServices(t)
			s.capabilities = render.Serving(renderer.Chart)
			if strings.HasPrefix(test.want, "does not serve") {
				s.capabilities = chartutil.DefaultCapabilities
			}
			got := s.same(t, renderer, parsedResource(t, "metadata: {name: web}\nspec: "+test.spec))
			if !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q in it", got, test.want)
			}
		})
	}
}
