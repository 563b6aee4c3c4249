package plugin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/plugin/history"
)

func undoCommand(s *cli) *cobra.Command {
	var dry string
	var to int
	var yes, runTask bool
	cmd := &cobra.Command{
		Use:        "undo NAME",
		SuggestFor: []string{"rollback"},
		Short:      "Go back to the spec of an earlier release",
		Long: "Undo sets the spec of an AppService to that of an earlier release, and the operator applies it as a new release. Without --to-revision, it\n" +
			"takes the newest release with a different spec. It shows the change and asks before it writes; --yes answers for scripts. If Argo CD or Flux\n" +
			"applies the AppService, nothing is written, since it would be reverted: the AppService to commit is printed instead.\n\n" +
			"The release task of that release (spec.release) does not run again: the annotation " + v1.AnnotationSkipTask + ", written\n" +
			"with the spec, names it. --run-task runs it. Changes made by a task, such as the migration of a database, are not undone.\n\n" +
			"The operator reverts the changes of kubectl rollout undo and helm rollback.",
		Example: `# go back to revision 1, one of those that kubectl appservice history web lists
kubectl appservice undo web --to-revision 1

# preview the change
kubectl appservice undo web --to-revision 1 --dry-run

# the same with the release task of that release
kubectl appservice undo web --to-revision 1 --run-task --dry-run`,
		Args:              oneName,
		ValidArgsFunction: s.completeNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkDry(dry); err != nil {
				return err
			}
			writer, resource, list, err := s.released(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			plan, err := history.PlanUndo(resource, list, to)
			if err != nil {
				return err
			}
			task, err := planTask(cmd.Context(), plan, runTask)
			if err != nil {
				return err
			}
			return s.undo(cmd.Context(), writer, plan, task, dry, yes)
		},
	}
	cmd.Flags().IntVar(&to, "to-revision", 0, "the revision to go back to; 0 for the newest one with a different spec")
	dryFlag(cmd, &dry)
	cmd.Flags().BoolVar(&yes, "yes", false, "write without asking")
	cmd.Flags().BoolVar(&runTask, "run-task", false, "run the release task of that release, too")
	return cmd
}

// undo shows a change and makes it, or prints the manifest to commit if a GitOps tool applies the resource. Task is a
// sentence about the release task.
func (s *cli) undo(ctx context.Context, writer client.Client, plan *history.Undo, task, dry string, yes bool) error {
	name := nameOf(plan.Resource)
	if len(plan.Changes) == 0 {
		_, err := fmt.Fprintf(s.Out, "%s has the spec of revision %d already\n", name, plan.To)
		return err
	}
	if len(plan.NewReferences) > 0 {
		_, _ = fmt.Fprintf(s.ErrOut, "warning: the spec of revision %d names what the present one does not: %s. Its pods get them "+
			"by your rights: make sure that the application may have them\n", plan.To, text.Line(strings.Join(plan.NewReferences, ", ")))
	}
	// stdout is for the resource to commit, so everything else goes to stderr
	if plan.Owner != "" {
		if task != "" {
			_, _ = fmt.Fprintln(s.ErrOut, task)
		}
		return s.printSource(name.String(), plan.Owner, history.SourceOf(plan.Resource))
	}
	if task != "" {
		task = "\n  " + task
	}
	changes := ""
	for _, change := range plan.Changes {
		changes += "\n  " + text.Line(change)
	}
	if _, err := fmt.Fprintf(s.Out, "%s goes back to revision %d:%s\n", name, plan.To, changes+task); err != nil {
		return err
	}
	if dry == dryNone && !yes {
		if err := s.confirm(); err != nil {
			return err
		}
	}
	if dry != dryClient {
		switch err := plan.Write(ctx, writer, fieldManager, dry == dryServer); {
		case errors.Is(err, history.ErrChanged):
			return fmt.Errorf("%s: %w", name, err)
		case err != nil:
			return explainRefusal(name, err)
		}
	}
	_, err := fmt.Fprintf(s.Out, "%s has the spec of revision %d again%s\n", name, plan.To, drySuffix[dry])
	return err
}

// printSource prints the manifest to commit to the source that a GitOps tool applies.
func (s *cli) printSource(name, owner string, source *unstructured.Unstructured) error {
	text, err := asYAMLText(source.Object)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(s.ErrOut, "%s is applied by %s, which would revert the change: nothing was written. Commit this to its source:\n", name, owner)
	_, err = s.Out.Write(text)
	return err
}
