package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"helm.sh/helm/v3/pkg/chartutil"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/engine/render/defaults"
	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/operator/policy"
	"github.com/example/appservice-operator/internal/plugin/preview"
)

// Flags that several commands have, and a value.
const (
	chartFlag   = "chart"
	chartUsage  = "a chart, or the folder that contains helm-charts (default: the built-in charts)"
	policyUsage = "file with the platform's policy, like the operator's --policy, or none for no policy (default: the operator's built-in policy shared)"
	noPolicy    = "none"
)

// oldFlags returns the present name of a flag: --chart-dir was --chart in some commands.
func oldFlags(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if name == "chart-dir" {
		name = chartFlag
	}
	return pflag.NormalizedName(name)
}

// renderFlags are the flags of commands that render: the resources, the charts and the properties of the cluster.
type renderFlags struct {
	files       []string
	charts      string
	kubeVersion string
	apiVersions []string
	defaults    string
	policy      string
	live        bool
}

func (i *renderFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringArrayVarP(&i.files, "filename", "f", nil, "files or folders with the resources; - for stdin")
	i.addCharts(command, "")
	i.addCluster(command)
}

// addCharts adds the flag --chart, with a default value.
func (i *renderFlags) addCharts(command *cobra.Command, without string) {
	command.Flags().StringVar(&i.charts, chartFlag, without, chartUsage)
}

// addCluster adds the flags for properties of the cluster.
func (i *renderFlags) addCluster(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&i.kubeVersion, "kube-version", "", "the Kubernetes version that templates see")
	flags.StringSliceVar(&i.apiVersions, "api-versions", nil,
		"custom kinds that the cluster serves, as in keda.sh/v1alpha1/ScaledObject (default: all that the charts name)")
	flags.StringVar(&i.defaults, "defaults", "", "file with the ConfigMap "+defaults.Name+" of the namespace")
	flags.StringVar(&i.policy, "policy", "", policyUsage)
	flags.BoolVar(&i.live, "live", false, "read the inputs of rendering from the cluster; always on for named resources")
	for _, name := range []string{"filename", "defaults", "policy"} {
		if flags.Lookup(name) != nil {
			_ = command.MarkFlagFilename(name, "yaml", "yml", "json") // the flag exists
		}
	}
}

// clusterOf returns the cluster that resources are rendered for: with --live the one of the current context, else one
// that the flags stand for, which makes no request and reads no kubeconfig.
func (s *cli) clusterOf(ctx context.Context, i *renderFlags, charts ...*preview.Charts) (*preview.Cluster, error) {
	w := &preview.Cluster{Capabilities: preview.Serving(charts...)}
	var err error
	if i.live {
		if w, err = s.openCluster(ctx); err != nil {
			return nil, err
		}
	}
	if w.Policy, err = policyOf(i.policy); err != nil {
		return nil, err
	}
	if i.defaults != "" {
		text, err := os.ReadFile(i.defaults)
		if err != nil {
			return nil, err
		}
		w.Defaults = &corev1.ConfigMap{}
		if err := yaml.UnmarshalStrict(text, w.Defaults); err != nil {
			return nil, fmt.Errorf("%s is not a valid ConfigMap: %w", i.defaults, err)
		}
	}
	// a real cluster has its own version and kinds
	if i.live {
		return w, nil
	}
	if len(i.apiVersions) > 0 {
		w.Capabilities.APIVersions = slices.Concat(chartutil.DefaultCapabilities.APIVersions, i.apiVersions)
	}
	if i.kubeVersion != "" {
		version, err := chartutil.ParseKubeVersion(i.kubeVersion)
		if err != nil {
			return nil, fmt.Errorf("--kube-version=%s: it is not a version of Kubernetes, such as 1.36: %w", i.kubeVersion, err)
		}
		w.Capabilities.KubeVersion = *version
	}
	return w, nil
}

// policyOf returns the policy that --policy names: that of a file, none, or by default the operator's built-in one.
func policyOf(flag string) (*policy.Policy, error) {
	switch flag {
	case "":
		return policy.Default(), nil
	case noPolicy:
		return nil, nil
	}
	text, err := os.ReadFile(flag)
	if err != nil {
		return nil, err
	}
	return policy.Read(flag, text)
}

// prepare returns the charts, the cluster and the resources that the flags and the names in the cluster stand for.
func (s *cli) prepare(
	ctx context.Context, i *renderFlags, names []string,
) (*preview.Charts, *preview.Cluster, []subject, error) {
	charts, err := chartsIn(i.charts)
	if err != nil {
		return nil, nil, nil, err
	}
	i.live = i.live || len(names) > 0
	w, err := s.clusterOf(ctx, i, charts)
	if err != nil {
		return nil, nil, nil, err
	}
	subjects, err := s.subjects(ctx, i, w, charts, names)
	return charts, w, subjects, err
}

// openCluster returns the cluster of the current context, whose namespace is that of resources without one.
func (s *cli) openCluster(ctx context.Context) (*preview.Cluster, error) {
	config, err := s.config()
	if err != nil {
		return nil, err
	}
	reader, err := s.client()
	if err != nil {
		return nil, err
	}
	if *s.kube.Namespace, err = s.namespace(); err != nil {
		return nil, err
	}
	w, err := preview.Open(ctx, reader, config, func(text string) { s.note("%s", text) })
	if err != nil {
		return nil, fmt.Errorf("cannot reach the cluster: %w", err)
	}
	return w, nil
}

// note prints a message to stderr.
func (s *cli) note(text string, args ...any) {
	_, _ = fmt.Fprintf(s.ErrOut, "note: "+text+"\n", args...)
}

// subject is a resource to render, with its last release.
type subject struct {
	document
	// live is the resource as it is in the cluster; nil if it does not exist, or was not read.
	live    *unstructured.Unstructured
	release *preview.Release
}

// name returns the kind, namespace and name, as in "AppService shop/web".
func (d document) name() string {
	return fmt.Sprintf("%s %s/%s", d.GetKind(), d.GetNamespace(), d.GetName())
}

// subjects returns the resources of the files, and those of the cluster named by arguments. Documents of kinds that are
// not served are skipped.
func (s *cli) subjects(ctx context.Context, i *renderFlags, w *preview.Cluster, charts *preview.Charts,
	names []string) ([]subject, error) {
	if len(i.files) == 0 && len(names) == 0 {
		return nil, errors.New("name the resources: files with -f, or names in the cluster")
	}
	var list []subject
	if len(i.files) > 0 {
		documents, err := s.documents(i.files)
		if err != nil {
			return nil, err
		}
		for _, d := range documents {
			// a file may have other objects beside the resources
			if charts.Renderers[d.GroupVersionKind()] != nil {
				list = append(list, subject{document: d})
			}
		}
		if len(list) == 0 {
			return nil, fmt.Errorf("%s: %s is not served; served are %s", documents[0].at(), text.Line(documents[0].GroupVersionKind().String()),
				kindsOf(charts))
		}
	}
	for _, argument := range names {
		named, err := s.resourceName(argument)
		if err != nil {
			return nil, err
		}
		if charts.Renderers[named.Kind] == nil {
			return nil, fmt.Errorf("%s: %s is not served; served are %s", argument, named.Kind.Kind, kindsOf(charts))
		}
		// a name alone: find reads the rest
		d := document{Unstructured: kube.Object(named.Kind)}
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

// find looks up a resource in the cluster, with its last release. A resource of a file gets the UID, the labels, the
// annotations and the status that it would have after the file is applied.
func (u *subject) find(ctx context.Context, w *preview.Cluster) error {
	if w.Assumed() {
		return nil
	}
	live, err := w.Resource(ctx, u.GroupVersionKind(),
		types.NamespacedName{Namespace: u.GetNamespace(), Name: u.GetName()})
	switch {
	case apierrors.IsNotFound(err) && u.File != "":
		u.SetUID(render.PlaceholderUID)
		return nil
	case err != nil:
		return err
	}
	u.live = live
	if u.release, err = w.Release(ctx, live); err != nil {
		return err
	}
	if u.File == "" {
		u.Unstructured = live
		return nil
	}
	u.SetUID(live.GetUID())
	u.SetCreationTimestamp(live.GetCreationTimestamp())
	if said, found := live.Object["status"]; found {
		u.Object["status"] = said
	}
	u.SetLabels(labels.Merge(live.GetLabels(), u.GetLabels()))
	u.SetAnnotations(labels.Merge(live.GetAnnotations(), u.GetAnnotations()))
	return nil
}

// explainError wraps an error of a resource or a chart, and adds the lines of the template around its position, if it
// has one.
func explainError(what string, err error) error {
	what = text.Line(what)
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

// wrap wraps an error with the name of the resource, and its file and line if it has any.
func (d document) wrap(err error) error {
	if d.File == "" {
		return explainError(d.name(), err)
	}
	return explainError(d.at()+": "+d.name(), err)
}

func kindsOf(charts *preview.Charts) string {
	var list []string
	for _, entry := range charts.Watches {
		list = append(list, entry.Kind)
	}
	return strings.Join(list, ", ")
}
