package plugin

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/generate"
	"github.com/example/appservice-operator/internal/engine/render"
)

// asManifest prints the manifest as in the release record.
const asManifest = "manifest"

// renderOptions are the flags of render.
type renderOptions struct {
	renderFlags
	only    []string
	secrets bool
	output  string
}

func renderCommand(s *cli) *cobra.Command {
	r := &renderOptions{}
	command := &cobra.Command{
		Use:        "render (-f FILE | NAME) [--chart DIR]",
		SuggestFor: []string{"template"},
		Short:      "Show exactly the objects that the operator applies",
		Long: "Render prints the objects of resources as the operator makes them: by the templates of the chart, and the steps after them, which set pod\n" +
			"security, owners, labels and stamps.\n\n" +
			"Offline it makes no request, and uses placeholders for facts about the cluster: the UID of the resource is\n" +
			render.PlaceholderUID + ", the version of ConfigMaps and Secrets that pods refer to is \"unknown\", the namespace enforces no\n" +
			"Pod Security level, and all kinds that the chart names are served. With --live, and for named resources, these facts are read from the\n" +
			"cluster, and nothing is written.\n\n" +
			"The content of Secrets is hidden unless --show-secrets is set. -o manifest prints the manifest as in the release record, byte for byte.",
		Example: `# the objects of app.yaml
kubectl appservice render -f app.yaml

# one template, with a local chart
kubectl appservice render -f app.yaml --chart helm-charts/appservice --show-only templates/service.yaml

# from stdin
cat app.yaml | kubectl appservice render -f -

# the objects of the AppService web in the cluster, like helm get manifest
kubectl appservice render web --live --show-secrets -o manifest`,
		Annotations:       map[string]string{"offline": "true"},
		ValidArgsFunction: s.completeMoreNames,
		RunE: func(command *cobra.Command, names []string) error {
			return s.render(command, r, names)
		},
	}
	r.add(command)
	command.Flags().StringSliceVar(&r.only, "show-only", nil,
		"only the objects of these templates, as in templates/service.yaml")
	command.Flags().BoolVar(&r.secrets, "show-secrets", false, "show the content of Secrets")
	s.outputFlag(command, &r.output, []string{asYAML, asManifest})
	return command
}

func (s *cli) render(command *cobra.Command, r *renderOptions, names []string) error {
	ctx := command.Context()
	charts, w, subjects, err := s.prepare(ctx, &r.renderFlags, names)
	if err != nil {
		return err
	}
	shown := 0
	for _, one := range subjects {
		result, err := w.Render(ctx, charts.Renderers[one.GroupVersionKind()], one.Unstructured, one.release)
		if err == nil {
			// as in the operator: without a kind that the chart requires, nothing is applied
			err = result.Served()
		}
		if err != nil {
			return one.wrap(err)
		}
		for _, key := range result.Unserved {
			s.note("%s: %s is left out: the cluster does not serve its kind", one.name(), key)
		}
		for _, field := range result.Unknown {
			s.note("%s: %s has no effect: neither the operator nor the chart knows it", one.name(), field)
		}
		for _, warning := range result.Warnings {
			s.note("%s: %s: %s", one.name(), warning.Source, warning.Message)
		}
		count, err := r.write(s.Out, result)
		if err != nil {
			return err
		}
		shown += count
	}
	// of several resources, one that has the template is enough
	if shown == 0 && len(r.only) > 0 {
		return fmt.Errorf("--show-only=%s: nothing is rendered: the template does not exist, or is empty for these resources", strings.Join(r.only, ","))
	}
	return nil
}

// write prints the objects selected by --show-only, and returns their number. The content of Secrets is hidden unless
// --show-secrets is set.
func (r *renderOptions) write(out io.Writer, result *render.Result) (count int, err error) {
	shown := render.Result{}
	for i, object := range result.Objects {
		if !r.selects(result.Sources[i]) {
			continue
		}
		body := result.Bodies[i]
		if !r.secrets {
			// only a Secret has another body: any other one stays as it is recorded, byte for byte
			if hidden := r.hide(object); hidden != object {
				if body, err = render.BodyOf(hidden); err != nil {
					return 0, err
				}
				object = hidden
			}
		}
		shown.Objects, shown.Bodies, shown.Sources = append(shown.Objects, object), append(shown.Bodies, body),
			append(shown.Sources, result.Sources[i])
	}
	if r.output == asManifest {
		_, err = io.WriteString(out, shown.Manifest())
		return len(shown.Objects), err
	}
	for i, object := range shown.Objects {
		text, err := asYAMLText(object.Object)
		if err != nil {
			return 0, err
		}
		if _, err := fmt.Fprintf(out, "---\n%s\n%s", comment("Source: "+shown.Sources[i]), text); err != nil {
			return 0, err
		}
	}
	return len(shown.Objects), nil
}

// selects reports whether --show-only selects a template. Sources begin with the name of the chart; the flag may leave
// it out.
func (r *renderOptions) selects(source string) bool {
	_, within, _ := strings.Cut(source, "/")
	return len(r.only) == 0 || slices.Contains(r.only, source) || slices.Contains(r.only, within)
}

// hidden replaces the values of Secrets, and generated those that the operator will make, which no render has.
const (
	hidden    = "***"
	generated = "(generated by the operator)"
)

// hide returns a copy of a Secret with its values hidden, and in YAML with those that the operator will make; any other
// object as it is.
func (r *renderOptions) hide(object *unstructured.Unstructured) *unstructured.Unstructured {
	out := hideContent(object)
	if r.output == asManifest {
		return out
	}
	for _, key := range generate.Of(object).Keys() {
		_ = unstructured.SetNestedField(out.Object, generated, "data", key) // the hooks have checked that data is a map
	}
	return out
}

// hideContent returns a copy of a Secret with its values hidden, and any other object as it is.
func hideContent(object *unstructured.Unstructured) *unstructured.Unstructured {
	if object.GroupVersionKind().GroupKind() != kube.SecretKind.GroupKind() {
		return object
	}
	out := object.DeepCopy()
	for _, field := range []string{"data", "stringData"} {
		content, _ := out.Object[field].(map[string]any)
		for key := range content {
			content[key] = hidden
		}
	}
	if annotations := out.GetAnnotations(); annotations[v1.AnnotationChecksumKey] != "" {
		annotations[v1.AnnotationChecksumKey] = hidden
		out.SetAnnotations(annotations)
	}
	return out
}
