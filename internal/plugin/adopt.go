package plugin

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/release/plan"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/plugin/history"
)

// adoptOptions are the flags of adopt.
type adoptOptions struct {
	*cli
	renderFlags
	release      string
	restart, yes bool
	output       string
}

func adoptCommand(s *cli) *cobra.Command {
	a := &adoptOptions{cli: s, renderFlags: renderFlags{live: true}}
	cmd := &cobra.Command{
		Use:   "adopt (NAME | -f FILE)",
		Short: "Let an AppService take over existing objects",
		Long: "Adopt shows what an AppService would take over: each object, its current owner, the fields that would change, whether pods would\n" +
			"restart, and what prevents the adoption. It uses server-side dry runs, as the operator does, and changes nothing.\n\n" +
			"With --yes, if nothing prevents the adoption, it sets the annotations that request it: on an AppService in the cluster, or on one in a\n" +
			"file, such as one written by kubectl appservice import, which it applies. If Argo CD or Flux applies the AppService, nothing is written,\n" +
			"since it would be reverted: the AppService to commit is printed instead.\n\n" +
			"It exits with 1 if something prevents the adoption.",
		Example: `# show what an AppService in a file would take over
kubectl appservice import deployment/legacy > legacy.yaml
kubectl appservice adopt -f legacy.yaml

# the same, if pods may restart
kubectl appservice adopt -f legacy.yaml --restart

# request the adoption
kubectl appservice adopt -f legacy.yaml --restart --yes

# the objects of a Helm release, for an AppService in the cluster
kubectl appservice adopt web --release legacy`,
		Args: func(cmd *cobra.Command, names []string) error {
			if len(a.files) > 0 && len(names) == 0 {
				return nil
			}
			if len(a.files) > 0 {
				return errors.New("name a resource, or its file: not both")
			}
			return oneName(cmd, names)
		},
		ValidArgsFunction: s.completeNames,
		RunE: func(cmd *cobra.Command, names []string) error {
			return a.run(cmd.Context(), names)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&a.files, "filename", "f", nil, "files or folders with the resources; - for stdin")
	_ = cmd.MarkFlagFilename("filename", "yaml", "yml", "json") // the flag exists
	a.addCharts(cmd, "")
	flags.StringVar(&a.policy, "policy", "", policyUsage)
	flags.StringVar(&a.release, "release", "", "the Helm release that owns the objects; its records are deleted")
	flags.BoolVar(&a.restart, "restart", false, "allow pods to restart or to be deleted")
	flags.BoolVar(&a.yes, "yes", false, "request the adoption, if nothing prevents it")
	s.outputFlag(cmd, &a.output, reportFormats)
	return cmd
}

func (a *adoptOptions) run(ctx context.Context, names []string) error {
	charts, w, list, err := a.prepare(ctx, &a.renderFlags, names)
	if err != nil {
		return err
	}
	writer, actor, err := a.actor()
	if err != nil {
		return err
	}
	var reports []*adoption
	for _, one := range list {
		// as if they were written: the survey reads the annotations, and refuses a resource without them
		annotate(one.Unstructured, a.release, a.restart)
		result, err := w.Render(ctx, charts.Renderers[one.GroupVersionKind()], one.Unstructured, one.release)
		if err != nil {
			return one.wrap(err)
		}
		report, err := surveyAdoption(ctx, actor, one, result)
		if err != nil {
			return one.wrap(err)
		}
		reports = append(reports, report)
		if report.Refused() || len(report.Objects) == 0 {
			continue
		}
		if err := a.request(ctx, writer, one, report); err != nil {
			return err
		}
	}
	return a.print(reports)
}

// actor returns a client and the operator's own actor, which is used for dry runs only.
func (a *adoptOptions) actor() (client.Client, *release.Actor, error) {
	config, err := a.config()
	if err != nil {
		return nil, nil, err
	}
	writer, err := a.client()
	if err != nil {
		return nil, nil, err
	}
	secrets, err := typedcorev1.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	// neither caches nor indexes: a survey reads live objects, and applies them in dry runs
	return writer, release.NewActor(&livestate.Writer{Client: writer, Secrets: secrets,
		Observer: livestate.New(nil, nil, nil)}, writer, 1), nil
}

// annotate sets the adoption annotations. Release is the Helm release whose objects are adopted, too; empty for none.
func annotate(resource *unstructured.Unstructured, release string, restart bool) {
	annotations := labels.Merge(resource.GetAnnotations(), map[string]string{v1.AnnotationAdopt: "true"})
	if release != "" {
		annotations[v1.AnnotationAdoptRelease] = release
	}
	if restart {
		annotations[v1.AnnotationAdoptRestart] = "true"
	}
	resource.SetAnnotations(annotations)
}

// adoptionAnnotations returns the adoption annotations of a resource.
func adoptionAnnotations(resource *unstructured.Unstructured) map[string]string {
	fields := map[string]string{}
	for _, key := range []string{v1.AnnotationAdopt, v1.AnnotationAdoptRelease, v1.AnnotationAdoptRestart} {
		if value, has := resource.GetAnnotations()[key]; has {
			fields[key] = value
		}
	}
	return fields
}

// request writes the annotations that request adoption, and records the result in the report. Without --yes it is a
// server-side dry run. It writes nothing if a GitOps tool applies the resource.
func (a *adoptOptions) request(ctx context.Context, writer client.Client, one subject, report *adoption) error {
	if report.owner = history.OwnerOf(one.Unstructured); report.owner != "" {
		report.source = history.SourceOf(one.Unstructured)
		return nil
	}
	err := send(ctx, writer, one, !a.yes)
	switch {
	case err == nil:
		if a.yes {
			report.Requested = true
		}
		return nil
	case release.Refused(err):
		report.refuse(err.Error())
		return nil
	}
	return explainRefusal(nameOf(one.Unstructured), err)
}

// send applies a resource of a file, or annotates one that exists in the cluster.
func send(ctx context.Context, writer client.Client, one subject, dry bool) error {
	if one.File == "" {
		mode := dryNone
		if dry {
			mode = dryServer
		}
		return patch(ctx, writer, one.live.DeepCopy(),
			map[string]any{"metadata": map[string]any{"annotations": adoptionAnnotations(one.Unstructured)}}, mode)
	}
	applied := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(one.Text, &applied.Object); err != nil {
		return err
	}
	applied.SetNamespace(one.GetNamespace())
	applied.SetAnnotations(labels.Merge(applied.GetAnnotations(), adoptionAnnotations(one.Unstructured)))
	options := []client.ApplyOption{client.FieldOwner(fieldManager), client.ForceOwnership}
	if dry {
		options = append(options, client.DryRunAll)
	}
	return writer.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), options...)
}

// print prints the reports, or the manifests to commit for resources that a GitOps tool applies. It returns errFound if
// an adoption is refused.
func (a *adoptOptions) print(reports []*adoption) error {
	refused := false
	for _, report := range reports {
		refused, report.Summary = refused || report.Refused(), report.summary()
		if a.output != asText {
			continue
		}
		if err := a.printText(report); err != nil {
			return err
		}
	}
	if a.output != asText {
		if err := a.printData(reports, a.output); err != nil {
			return err
		}
	}
	return ifFound(refused)
}

func (a *adoptOptions) printText(report *adoption) error {
	asSource := a.yes && report.source != nil && !report.Refused()
	out := a.Out
	if asSource {
		out = a.ErrOut // stdout is for the source
	}
	if err := a.writeLines(out, report.lines()); err != nil {
		return err
	}
	switch {
	case report.Refused(), len(report.Objects) == 0:
		return nil
	case asSource:
		return a.printSource(report.Name, report.owner, report.source)
	case report.Requested:
		_, _ = fmt.Fprintln(a.ErrOut, "adoption was requested: kubectl appservice status shows the result")
	default:
		_, _ = fmt.Fprintln(a.ErrOut, "nothing was written: --yes requests the adoption")
	}
	return nil
}

// surveyAdoption reports the effects of an adoption, by the operator's own code. A refusal is part of the report, and
// no error.
func surveyAdoption(ctx context.Context, actor *release.Actor, one subject, result *render.Result) (*adoption, error) {
	survey, err := actor.Survey(ctx, release.Task{Owner: one.Unstructured, Desired: result})
	known := (*plan.RefusedError)(nil)
	if err != nil && (survey == nil || !errors.As(err, &known) && !release.Refused(err)) {
		return nil, err
	}
	report := adoptionOf(one, survey)
	if err != nil {
		report.refuse(err.Error())
	}
	return report, nil
}
