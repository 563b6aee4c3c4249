package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/history"
)

func undoCommand(s *shell) *cobra.Command {
	var dry string
	var to int
	cmd := &cobra.Command{
		Use:   "undo NAME",
		Short: "Go back to the spec of a former release",
		Long: "Undo gives an AppService the spec again that a former release was made of, and the operator follows: that is a new release. Without\n" +
			"--to-revision, it is the newest one with another spec than there is now. Where Argo CD or Flux applies the AppService, nothing is written,\n" +
			"since it would be taken back: the AppService is printed as its source has to have it.\n\n" +
			"kubectl rollout undo, and helm rollback, change what the operator puts back.",
		Example: `# what would be changed
kubectl appservice undo web --to-revision 1 --dry-run`,
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
			return s.undo(cmd.Context(), args[0], writer, resource, list, to, dry)
		},
	}
	cmd.Flags().IntVar(&to, "to-revision", 0, "the revision to go back to; 0 for the newest one with another spec than there is now")
	dryFlag(cmd, &dry)
	return cmd
}

// undo sets the spec of a resource to that of a revision, or prints the manifest to commit if a GitOps tool applies the resource.
func (s *shell) undo(ctx context.Context, argument string, writer client.Client, resource *unstructured.Unstructured, list []history.Revision, to int, dry string) error {
	name, err := s.named(argument)
	if err != nil {
		return err
	}
	plan, err := history.PlanUndo(resource, list, to)
	if err != nil {
		return err
	}
	if len(plan.Changes) == 0 {
		_, err := fmt.Fprintf(s.Out, "%s has the spec of revision %d already\n", name, plan.To)
		return err
	}
	if plan.Owner != "" {
		return s.printSource(name, plan)
	}
	if dry != dryClient {
		switch err := plan.Write(ctx, writer, fieldManager, dry == dryServer); {
		case errors.Is(err, history.ErrChanged):
			return fmt.Errorf("%s: %w", name, err)
		case err != nil:
			return explainRefusal(name, err)
		}
	}
	if _, err := fmt.Fprintf(s.Out, "%s has the spec of revision %d again%s\n", name, plan.To, drySuffix[dry]); err != nil {
		return err
	}
	for _, change := range plan.Changes {
		if _, err := fmt.Fprintln(s.Out, "  "+change); err != nil {
			return err
		}
	}
	return nil
}

// printSource prints the manifest to commit to the source that a GitOps tool applies.
func (s *shell) printSource(name named, plan *history.Undo) error {
	text, err := yaml.Marshal(plan.Source().Object)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(s.ErrOut, "%s is applied by %s, which would take the change back: nothing was written. This is what its source has to say:\n", name, plan.Owner)
	_, err = s.Out.Write(text)
	return err
}
