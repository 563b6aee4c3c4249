package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/cli/importer"
	"github.com/example/appservice-operator/internal/render"
)

// Values of --notes.
const (
	notesStderr   = "stderr"
	notesComments = "comments"
)

// importing are the flags of import.
type importing struct {
	*shell
	file, charts, notes string
	strict              bool
}

func importCommand(s *shell) *cobra.Command {
	i := &importing{shell: s}
	command := &cobra.Command{
		Use:   "import deployment/NAME | statefulset/NAME | release/NAME | -f FILE",
		Short: "Write AppServices for existing workloads",
		Long: "Import writes an AppService for a Deployment or a StatefulSet and its related objects, for a Helm release or\n" +
			"for a manifest of objects. It prints YAML, and changes nothing.\n\n" +
			"The AppService is rendered and compared with the original: a note explains each difference, and what to do about it.",
		Example: `# import a Deployment with its Service, Ingress, autoscaler and so on
kubectl appservice import deployment/legacy

# import a Helm release, with the notes as comments in the YAML
kubectl appservice import release/legacy --notes comments

# import the objects of a manifest; notes are findings
kubectl appservice import -f manifest.yaml --strict`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return i.run(command.Context(), args)
		},
	}
	flags := command.Flags()
	flags.StringVarP(&i.file, "filename", "f", "", "manifest to import instead of objects in the cluster; - for stdin")
	flags.StringVar(&i.charts, chartFlag, "", chartUsage)
	flags.StringVar(&i.notes, "notes", notesStderr, "where notes go: stderr, or comments in the YAML")
	flags.BoolVar(&i.strict, "strict", false, "exit with 1 if there are notes")
	return command
}

func (i *importing) run(ctx context.Context, args []string) error {
	if i.notes != notesStderr && i.notes != notesComments {
		return fmt.Errorf("--notes=%s: it can be %s or %s", i.notes, notesStderr, notesComments)
	}
	if (i.file == "") == (len(args) == 0) {
		return errors.New("name one thing to import: deployment/NAME, statefulset/NAME, release/NAME or -f FILE")
	}
	made, err := i.importer()
	if err != nil {
		return err
	}
	var results []importer.Result
	var left []importer.Note
	if i.file != "" {
		results, left, err = i.fromFile(ctx, made)
	} else {
		results, left, err = i.fromCluster(ctx, made, args[0])
	}
	if err != nil {
		return err
	}
	return i.print(results, left)
}

// importer returns an importer that renders like the operator, for a cluster that serves all kinds of the chart.
func (i *importing) importer() (*importer.Importer, error) {
	charts, err := chartsIn(i.charts)
	if err != nil {
		return nil, err
	}
	kind := v1.GroupVersion.WithKind(v1.Kind)
	renderer := charts.Renderers[kind]
	if renderer == nil {
		return nil, fmt.Errorf("the charts serve no %s, which import writes: they serve %s", v1.Kind, kindsOf(charts))
	}
	capabilities := render.Serving(renderer.Chart)
	admission, err := definitionOf(shipped, kind)
	if err != nil {
		return nil, err
	}
	return &importer.Importer{
		Render: func(ctx context.Context, app *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
			result, err := renderer.Render(ctx, app, capabilities)
			if err != nil {
				return nil, err
			}
			return result.Objects, nil
		},
		Check: func(app *unstructured.Unstructured) error {
			app = app.DeepCopy()
			app.SetNamespace(cmp.Or(app.GetNamespace(), i.offlineNamespace()))
			return admission.Admit(context.Background(), app).Errors.ToAggregate()
		},
	}, nil
}

func (i *importing) fromFile(
	ctx context.Context, made *importer.Importer,
) (results []importer.Result, left []importer.Note, err error) {
	text, err := i.content(i.file)
	if err != nil {
		return nil, nil, err
	}
	objects, err := importer.Manifest(text, *i.kube.Namespace)
	if err == nil {
		results, left, err = made.Objects(ctx, objects, "")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", i.file, err)
	}
	return results, left, nil
}

func (i *importing) fromCluster(ctx context.Context, made *importer.Importer,
	what string) ([]importer.Result, []importer.Note, error) {
	kind, name, found := strings.Cut(what, "/")
	if !found || name == "" {
		return nil, nil, fmt.Errorf("%q: write deployment/NAME, statefulset/NAME or release/NAME", what)
	}
	namespace, err := i.namespace()
	if err != nil {
		return nil, nil, err
	}
	c, err := i.client()
	if err != nil {
		return nil, nil, err
	}
	key := client.ObjectKey{Namespace: namespace, Name: name}
	switch strings.ToLower(kind) {
	case "release":
		objects, err := importer.Release(ctx, c, key)
		if err != nil {
			return nil, nil, err
		}
		return made.Objects(ctx, objects, "")
	case "deployment", "deployments", "deploy", "deployment.apps":
		kind = "Deployment"
	case "statefulset", "statefulsets", "sts", "statefulset.apps":
		kind = "StatefulSet"
	default:
		return nil, nil, fmt.Errorf("%q: a %s cannot be imported: deployment/NAME, statefulset/NAME and release/NAME can",
			what, kind)
	}
	objects, unseen, err := importer.Workload(ctx, c, kind, key)
	if err != nil {
		return nil, nil, err
	}
	results, _, err := made.Objects(ctx, objects, name)
	return results, unseen, err
}

// print writes the AppServices, and the notes to stderr or as comments. It returns errFound if --strict is set and
// there are notes.
func (i *importing) print(results []importer.Result, left []importer.Note) error {
	noted := len(left)
	for n, result := range results {
		noted += len(result.Notes)
		text, err := asYAMLText(result.AppService.Object)
		if err != nil {
			return err
		}
		if n > 0 || len(results) > 1 {
			_, _ = fmt.Fprintln(i.Out, "---")
		}
		i.say(result.Notes)
		_, _ = i.Out.Write(text)
	}
	if len(left) > 0 && i.notes == notesComments {
		_, _ = fmt.Fprintln(i.Out, "---")
	}
	i.say(left)
	return ifFound(i.strict && noted > 0)
}

func (i *importing) say(notes []importer.Note) {
	for _, note := range notes {
		if i.notes == notesComments {
			_, _ = fmt.Fprintln(i.Out, "#", note)
			continue
		}
		rest := strings.TrimPrefix(note.String(), note.Place())
		_, _ = fmt.Fprintln(i.ErrOut, i.paint(i.ErrOut, yellow, note.Place())+rest)
	}
}
