package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/chart/crd"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/plugin/importer"
	"github.com/example/appservice-operator/internal/plugin/importer/read"
	"github.com/example/appservice-operator/internal/plugin/importer/translate"
	"github.com/example/appservice-operator/internal/plugin/preview"
)

// Values of --notes.
const (
	notesStderr   = "stderr"
	notesComments = "comments"
)

// importOptions are the flags of import.
type importOptions struct {
	*cli
	file, charts, notes string
	names               []string
	strict              bool
}

func importCommand(s *cli) *cobra.Command {
	i := &importOptions{cli: s}
	command := &cobra.Command{
		Use:   "import KIND/NAME | release/NAME | -f FILE",
		Short: "Write AppServices for existing workloads",
		Long: "Import writes an AppService for a Deployment, StatefulSet, ReplicaSet or Pod and its related objects, an AppJob for a\n" +
			"Job or CronJob, and both for a Helm release or a manifest of objects. It prints YAML, and changes nothing.\n\n" +
			"The result is rendered and compared with the original: a note explains each difference, and what to do about it.\n" +
			"A workload that cannot be imported is named, with the reason, and the others are: the exit code is 1 then, as it is for\n" +
			"a difference that no note explains, which is a bug.",
		Example: `# import a Deployment with its Service, Ingress, autoscaler and so on
kubectl appservice import deployment/legacy

# import a Helm release, with the notes as comments in the YAML
kubectl appservice import release/legacy --notes comments

# import the objects of a manifest; notes are findings
kubectl appservice import -f manifest.yaml --strict

# give what is made another name than the workload has
kubectl appservice import -f manifest.yaml --name 2048-game=game-2048`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return i.run(command.Context(), args)
		},
	}
	flags := command.Flags()
	flags.StringVarP(&i.file, "filename", "f", "", "manifest to import instead of objects in the cluster; - for stdin")
	flags.StringVar(&i.charts, chartFlag, "", chartUsage)
	flags.StringVar(&i.notes, "notes", notesStderr, "where notes go: stderr, or comments in the YAML")
	flags.StringArrayVar(&i.names, "name", nil, "name of the new resource: NAME for the only workload, else WORKLOAD=NAME or KIND/WORKLOAD=NAME")
	flags.BoolVar(&i.strict, "strict", false, "exit with 1 if there are notes")
	return command
}

func (i *importOptions) run(ctx context.Context, args []string) error {
	if i.notes != notesStderr && i.notes != notesComments {
		return fmt.Errorf("--notes=%s: it can be %s or %s", i.notes, notesStderr, notesComments)
	}
	if (i.file == "") == (len(args) == 0) {
		return errors.New("name one thing to import: KIND/NAME, release/NAME or -f FILE")
	}
	made, err := i.importer()
	if err != nil {
		return err
	}
	var imported *importer.Import
	if i.file != "" {
		imported, err = i.fromFile(ctx, made)
	} else {
		imported, err = i.fromCluster(ctx, made, args[0])
	}
	if err != nil {
		return err
	}
	return i.print(imported)
}

// importer returns an importer that renders like the operator, for a cluster that serves all kinds of the chart.
func (i *importOptions) importer() (*importer.Importer, error) {
	charts, err := chartsIn(i.charts)
	if err != nil {
		return nil, err
	}
	kinds := map[string]*importTarget{}
	for _, kind := range []string{v1.Kind, read.JobKind} {
		if kinds[kind], err = importTargetOf(charts, kind); err != nil {
			return nil, err
		}
	}
	return &importer.Importer{
		Renderer: translate.Renderer{
			Render: func(ctx context.Context, app *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
				of := kinds[app.GetKind()]
				result, err := of.renderer.Render(ctx, app, of.capabilities)
				if err != nil {
					return nil, err
				}
				return result.Objects, nil
			},
			Check: func(app *unstructured.Unstructured) error {
				app = app.DeepCopy()
				app.SetNamespace(cmp.Or(app.GetNamespace(), i.offlineNamespace()))
				return kinds[app.GetKind()].definition.Admit(context.Background(), app).Errors.ToAggregate()
			},
		},
		Names: i.renamed(),
	}, nil
}

// importTarget renders and checks the resources of a kind.
type importTarget struct {
	renderer     *render.Renderer
	capabilities *chartutil.Capabilities
	definition   *crd.Definition
}

// importTargetOf returns the target of a kind, for a cluster that serves all kinds of the chart.
func importTargetOf(charts *preview.Charts, kind string) (*importTarget, error) {
	of := v1.GroupVersion.WithKind(kind)
	renderer := charts.Renderers[of]
	if renderer == nil {
		return nil, fmt.Errorf("the charts serve no %s, which import writes: they serve %s", kind, kindsOf(charts))
	}
	definition, err := definitionOf(builtInFiles, of)
	return &importTarget{renderer, render.Serving(renderer.Chart), definition}, err
}

// renamed reads --name.
func (i *importOptions) renamed() map[string]string {
	names := map[string]string{}
	for _, text := range i.names {
		of, name, found := strings.Cut(text, "=")
		if !found {
			of, name = "", text
		}
		names[strings.ToLower(of)] = name
	}
	return names
}

func (i *importOptions) fromFile(ctx context.Context, made *importer.Importer) (*importer.Import, error) {
	text, err := i.content(i.file)
	if err != nil {
		return nil, err
	}
	objects, err := read.FromManifest(text, *i.kube.Namespace)
	var imported *importer.Import
	if err == nil {
		imported, err = made.Objects(ctx, objects, "")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", i.file, err)
	}
	return imported, nil
}

// workloads are the kinds that can be named, by the names that kubectl knows.
var workloads = map[string]schema.GroupVersionKind{
	"deployment": {Group: "apps", Version: "v1", Kind: "Deployment"}, "deploy": {Group: "apps", Version: "v1", Kind: "Deployment"},
	"statefulset": {Group: "apps", Version: "v1", Kind: "StatefulSet"}, "sts": {Group: "apps", Version: "v1", Kind: "StatefulSet"},
	"replicaset": {Group: "apps", Version: "v1", Kind: "ReplicaSet"}, "rs": {Group: "apps", Version: "v1", Kind: "ReplicaSet"},
	"replicationcontroller": {Version: "v1", Kind: "ReplicationController"}, "rc": {Version: "v1", Kind: "ReplicationController"},
	"pod": {Version: "v1", Kind: "Pod"}, "po": {Version: "v1", Kind: "Pod"},
	"job":     {Group: "batch", Version: "v1", Kind: "Job"},
	"cronjob": {Group: "batch", Version: "v1", Kind: "CronJob"}, "cj": {Group: "batch", Version: "v1", Kind: "CronJob"},
}

func (i *importOptions) fromCluster(ctx context.Context, made *importer.Importer,
	arg string) (*importer.Import, error) {
	kind, name, found := strings.Cut(arg, "/")
	if !found || name == "" {
		return nil, fmt.Errorf("%q: write deployment/NAME, statefulset/NAME, another kind/NAME, or release/NAME", arg)
	}
	namespace, err := i.namespace()
	if err != nil {
		return nil, err
	}
	c, err := i.client()
	if err != nil {
		return nil, err
	}
	key := client.ObjectKey{Namespace: namespace, Name: name}
	// kubectl accepts deployment.apps/NAME and plurals, too
	short, _, _ := strings.Cut(strings.ToLower(kind), ".")
	if short == "release" {
		objects, err := read.FromRelease(ctx, c, key)
		if err != nil {
			return nil, err
		}
		return made.Objects(ctx, objects, "")
	}
	of, known := workloads[short]
	if !known {
		if of, known = workloads[strings.TrimSuffix(short, "s")]; !known {
			return nil, fmt.Errorf("%q: a %s cannot be imported: a Deployment, StatefulSet, ReplicaSet, ReplicationController, Pod, Job, "+
				"CronJob and release/NAME can", arg, kind)
		}
	}
	objects, unseen, err := read.FromCluster(ctx, c, of, key)
	if err != nil {
		return nil, err
	}
	imported, err := made.Objects(ctx, objects, name)
	if err != nil {
		return nil, err
	}
	imported.Left = unseen
	return imported, nil
}

// print writes the resources, and the notes to stderr or as comments. It returns errFound for workloads that cannot be
// imported, for differences that nothing explains, and if --strict is set and there are notes.
func (i *importOptions) print(imported *importer.Import) error {
	notes := len(imported.Left)
	for n, result := range imported.Results {
		notes += len(result.Notes)
		text, err := asYAMLText(result.Resource.Object)
		if err != nil {
			return err
		}
		if n > 0 || len(imported.Results) > 1 {
			_, _ = fmt.Fprintln(i.Out, "---")
		}
		i.printNotes(result.Notes)
		_, _ = i.Out.Write(text)
	}
	if len(imported.Left) > 0 && i.notes == notesComments {
		_, _ = fmt.Fprintln(i.Out, "---")
	}
	i.printNotes(imported.Left)
	return ifFound(i.reportFailures(imported) || i.strict && notes > 0)
}

// reportFailures prints the failures and the number of bugs, and reports whether there are any.
func (i *importOptions) reportFailures(imported *importer.Import) bool {
	for _, failure := range imported.Failed {
		_, _ = fmt.Fprintf(i.ErrOut, "%s: %v\n", i.paint(i.ErrOut, red, text.Line(failure.Object)+" is not imported"), text.Line(failure.Err.Error()))
	}
	bugs := imported.Unexplained()
	if len(imported.Failed) > 0 {
		_, _ = fmt.Fprintf(i.ErrOut, "%d imported, %d not\n", len(imported.Results), len(imported.Failed))
	}
	if bugs > 0 {
		_, _ = fmt.Fprintf(i.ErrOut, "%d %s no explanation: this is a bug of kubectl appservice import\n",
			bugs, text.Agree(bugs, "difference has", "differences have"))
	}
	return bugs+len(imported.Failed) > 0
}

func (i *importOptions) printNotes(notes []read.Note) {
	for _, note := range notes {
		if i.notes == notesComments {
			_, _ = fmt.Fprintln(i.Out, comment(note.String()))
			continue
		}
		place := text.Line(note.Place())
		_, _ = fmt.Fprintln(i.ErrOut, i.paint(i.ErrOut, yellow, place)+strings.TrimPrefix(text.Line(note.String()), place))
	}
}
