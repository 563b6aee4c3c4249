package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"helm.sh/helm/v3/pkg/chartutil"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/chart"
	"github.com/example/appservice-operator/internal/compare"
	"github.com/example/appservice-operator/internal/defaults"
	"github.com/example/appservice-operator/internal/dependency"
	"github.com/example/appservice-operator/internal/live"
	"github.com/example/appservice-operator/internal/policy"
	"github.com/example/appservice-operator/internal/postrender"
	"github.com/example/appservice-operator/internal/render"
)

// inputs are the flags of commands that render: the resources, the charts and the properties of the cluster.
type inputs struct {
	files       []string
	charts      string
	kubeVersion string
	apiVersions []string
	defaults    string
	policy      string
	live        bool
}

func (i *inputs) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringSliceVarP(&i.files, "filename", "f", nil, "files or folders with the resources; - for stdin")
	flags.StringVar(&i.charts, "chart", "", "a chart, or the folder that contains helm-charts (default: the built-in charts)")
	i.addCluster(command)
}

// addCluster adds the flags for properties of the cluster.
func (i *inputs) addCluster(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&i.kubeVersion, "kube-version", "", "the Kubernetes version that templates see")
	flags.StringSliceVar(&i.apiVersions, "api-versions", nil,
		"custom kinds that the cluster serves, as in keda.sh/v1alpha1/ScaledObject (default: all that the charts name)")
	flags.StringVar(&i.defaults, "defaults", "", "file with the ConfigMap "+defaults.Name+" of the namespace")
	flags.StringVar(&i.policy, "policy", "", "file with the platform's policy (default: none, everything is allowed)")
	flags.BoolVar(&i.live, "live", false, "read the inputs of rendering from the cluster; always on for named resources")
	for _, name := range []string{"filename", "defaults", "policy"} {
		if flags.Lookup(name) != nil {
			_ = command.MarkFlagFilename(name, "yaml", "yml", "json") // the flag exists
		}
	}
}

// world is the environment that resources are rendered for: a cluster, or the flags that stand for one.
type world struct {
	// cluster is nil offline.
	cluster      *live.Cluster
	capabilities *chartutil.Capabilities
	defaults     *corev1.ConfigMap
	policy       *policy.Policy
}

// world builds the environment from the flags. Without --live it makes no request, and reads no kubeconfig.
func (s *shell) world(ctx context.Context, i *inputs, charts ...*compare.Charts) (*world, error) {
	w := &world{}
	if i.policy != "" {
		text, err := os.ReadFile(i.policy)
		if err != nil {
			return nil, err
		}
		if w.policy, err = policy.Read(i.policy, text); err != nil {
			return nil, err
		}
	}
	if i.defaults != "" {
		text, err := os.ReadFile(i.defaults)
		if err != nil {
			return nil, err
		}
		w.defaults = &corev1.ConfigMap{}
		if err := yaml.UnmarshalStrict(text, w.defaults); err != nil {
			return nil, fmt.Errorf("%s is not a valid ConfigMap: %w", i.defaults, err)
		}
	}
	if i.live {
		return w, s.lookAt(ctx, w)
	}
	w.capabilities = compare.Serving(charts...)
	if len(i.apiVersions) > 0 {
		w.capabilities.APIVersions = slices.Concat(chartutil.DefaultCapabilities.APIVersions, i.apiVersions)
	}
	if i.kubeVersion != "" {
		version, err := chartutil.ParseKubeVersion(i.kubeVersion)
		if err != nil {
			return nil, fmt.Errorf("--kube-version=%s: it is not a version of Kubernetes, such as 1.36: %w", i.kubeVersion, err)
		}
		w.capabilities.KubeVersion = *version
	}
	return w, nil
}

// lookAt connects a world to the cluster of the current context.
func (s *shell) lookAt(ctx context.Context, w *world) error {
	config, err := s.config()
	if err != nil {
		return err
	}
	reader, err := s.client()
	if err != nil {
		return err
	}
	w.cluster, err = live.Open(ctx, reader, config, func(text string) { s.note("%s", text) })
	if err != nil {
		return fmt.Errorf("cannot reach the cluster: %w", err)
	}
	w.cluster.Policy, w.capabilities = w.policy, w.cluster.Capabilities
	return nil
}

// note prints a message to stderr.
func (s *shell) note(text string, args ...any) {
	_, _ = fmt.Fprintf(s.ErrOut, "note: "+text+"\n", args...)
}

// compareCharts loads the charts of a folder, or one chart; the built-in ones for "".
func compareCharts(dir string) (*compare.Charts, error) {
	served, err := chartsIn(dir)
	if err != nil {
		return nil, explained("charts of "+cmp.Or(dir, "this program"), err)
	}
	return served.charts()
}

// subject is a resource to render, with its last release.
type subject struct {
	document
	// there is the resource as it is in the cluster; nil if it does not exist, or was not read.
	there    *unstructured.Unstructured
	released *live.Release
}

// name returns the kind, namespace and name, as in "AppService shop/web".
func (d document) name() string {
	return fmt.Sprintf("%s %s/%s", d.GetKind(), d.GetNamespace(), d.GetName())
}

// subjects returns the resources of the files, and those of the cluster named by arguments. Documents of kinds that are not served are skipped.
func (s *shell) subjects(ctx context.Context, i *inputs, w *world, charts *compare.Charts, names []string) ([]subject, error) {
	if len(i.files) == 0 && len(names) == 0 {
		return nil, errors.New("name the resources: files with -f, or names in the cluster")
	}
	if w.cluster != nil && *s.kube.Namespace == "" {
		namespace, err := s.namespace()
		if err != nil {
			return nil, err
		}
		s.kube.Namespace = &namespace
	}
	var list []subject
	if len(i.files) > 0 {
		documents, err := s.documents(i.files)
		if err != nil {
			return nil, err
		}
		for _, d := range documents {
			if charts.Renderers[d.GroupVersionKind()] != nil {
				list = append(list, subject{document: d})
			}
		}
		if len(list) == 0 {
			return nil, fmt.Errorf("%s: %s is not served: these are: %s", documents[0].at(), documents[0].GroupVersionKind(), kindsOf(charts))
		}
	}
	for _, argument := range names {
		named, err := s.named(argument)
		if err != nil {
			return nil, err
		}
		if charts.Renderers[named.Kind] == nil {
			return nil, fmt.Errorf("%s: %s is not served: these are: %s", argument, named.Kind.Kind, kindsOf(charts))
		}
		d := document{Unstructured: &unstructured.Unstructured{}}
		d.SetGroupVersionKind(named.Kind)
		d.SetNamespace(named.Namespace)
		d.SetName(named.Name)
		list = append(list, subject{document: d})
	}
	for at := range list {
		if err := list[at].find(ctx, w); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// find looks up a resource in the cluster, with its last release. A resource of a file gets the UID, labels and annotations that it would have after
// the file is applied.
func (u *subject) find(ctx context.Context, w *world) error {
	if w.cluster == nil {
		if u.GetUID() == "" {
			u.SetUID(render.PlaceholderUID)
		}
		return nil
	}
	there, err := w.cluster.Resource(ctx, u.GroupVersionKind(), types.NamespacedName{Namespace: u.GetNamespace(), Name: u.GetName()})
	switch {
	case apierrors.IsNotFound(err) && u.File != "":
		u.SetUID(render.PlaceholderUID)
		return nil
	case err != nil:
		return err
	}
	u.there = there
	if u.released, err = w.cluster.Release(ctx, there); err != nil {
		return err
	}
	if u.File == "" {
		u.Unstructured = there
		return nil
	}
	u.SetUID(there.GetUID())
	u.SetCreationTimestamp(there.GetCreationTimestamp())
	u.SetLabels(over(there.GetLabels(), u.GetLabels()))
	u.SetAnnotations(over(there.GetAnnotations(), u.GetAnnotations()))
	return nil
}

func over(beneath, above map[string]string) map[string]string {
	all := map[string]string{}
	for _, layer := range []map[string]string{beneath, above} {
		for key, value := range layer {
			all[key] = value
		}
	}
	return all
}

// render renders a resource with the defaults and the policy of the world.
func (w *world) render(ctx context.Context, renderer *render.Renderer, resource *unstructured.Unstructured, released *live.Release) (*render.Result, error) {
	if w.cluster != nil {
		content := dependency.Content{}
		if released != nil {
			content = released.Content
		}
		return w.cluster.Render(ctx, renderer, resource, content)
	}
	said := defaults.Text{}
	if w.defaults != nil {
		said = defaults.Of(w.defaults, resource.GetKind())
	}
	in := render.Input{Resource: resource, Defaults: said, Capabilities: w.capabilities}
	return renderer.Predict(ctx, in, func(context.Context, *render.Draft) (postrender.Facts, error) {
		return postrender.FactsOf(resource.GetNamespace(), nil, w.policy), nil
	})
}

// layers returns the layers of default values beneath the spec of a resource.
func (w *world) layers(ctx context.Context, renderer *render.Renderer, resource *unstructured.Unstructured) ([]defaults.Layer, error) {
	switch {
	case w.defaults != nil:
		return renderer.Layers(defaults.Of(w.defaults, resource.GetKind()))
	case w.cluster != nil:
		said, err := w.cluster.Defaults(ctx, resource)
		if err != nil {
			return nil, err
		}
		return renderer.Layers(said)
	}
	return renderer.Layers(defaults.Text{})
}

// explained wraps an error of a resource or a chart, and adds the lines of the template around its position, if it has one.
func explained(what string, err error) error {
	var explains interface{ Explain() string }
	if !errors.As(err, &explains) {
		return fmt.Errorf("%s: %w", what, err)
	}
	return &explainedError{what + ":\n" + strings.TrimSuffix(chart.Explain(err), "\n"), err}
}

type explainedError struct {
	text string
	err  error
}

func (e *explainedError) Error() string { return e.text }
func (e *explainedError) Unwrap() error { return e.err }

// failed wraps an error with the name of the resource, and its file and line if it has any.
func (d document) failed(err error) error {
	if d.File == "" {
		return explained(d.name(), err)
	}
	return explained(d.at()+": "+d.name(), err)
}

func kindsOf(charts *compare.Charts) string {
	var list []string
	for _, kind := range charts.Kinds {
		list = append(list, kind.Kind)
	}
	return strings.Join(list, ", ")
}
