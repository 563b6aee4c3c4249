package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
)

// Values of --dry-run.
const (
	dryNone   = "none"
	dryClient = "client"
	dryServer = "server"
)

// change is a change that a command makes to a resource.
type change struct {
	// verb names a command that works on AppServices only, as in "pause"; empty if it works on all kinds. For a kind with
	// spec.suspend, suspend is the value of that field with the same effect.
	verb, suspend string
	// done is printed after the change, as in "paused"; already if there is nothing to do.
	done, already string
	// patch returns the fields to set; nil if they already have these values.
	patch func(resource *unstructured.Unstructured) map[string]any
}

func pauseCommand(s *cli) *cobra.Command {
	return s.changeCommand(&cobra.Command{
		Use:   "pause NAME...",
		Short: "Pause reconciliation of an AppService",
		Long: "Pause sets spec.paused: nothing is installed, upgraded or repaired until kubectl appservice resume removes it. Pods keep running. If a GitOps\n" +
			"tool applies the AppService, set spec.paused in its source, or the tool may revert it. Other kinds have their own fields: AppJob has spec.suspend.",
		Example: `# preview the change
kubectl appservice pause web --dry-run=server

# pause it during an investigation
kubectl appservice pause web`,
	}, change{verb: "pause", suspend: "true", done: "paused", already: "is paused already",
		patch: func(resource *unstructured.Unstructured) map[string]any {
			if isPaused(resource) {
				return nil
			}
			return map[string]any{"spec": map[string]any{"paused": true}}
		}})
}

func resumeCommand(s *cli) *cobra.Command {
	return s.changeCommand(&cobra.Command{
		Use:   "resume NAME...",
		Short: "Resume reconciliation of a paused AppService",
		Long:  "Resume removes spec.paused. The operator then applies changes of the spec, and corrects drift of the objects, since the pause.",
		Example: `# resume reconciliation
kubectl appservice resume web`,
	}, change{verb: "resume", suspend: "null", done: "resumed", already: "is not paused",
		patch: func(resource *unstructured.Unstructured) map[string]any {
			if !isPaused(resource) {
				return nil
			}
			return map[string]any{"spec": map[string]any{"paused": nil}}
		}})
}

func isPaused(resource *unstructured.Unstructured) bool {
	paused, _, _ := unstructured.NestedBool(resource.Object, "spec", "paused")
	return paused
}

func restartCommand(s *cli) *cobra.Command {
	return s.changeCommand(&cobra.Command{
		Use:   "restart NAME...",
		Short: "Replace the pods of an AppService, a few at a time",
		Long: "Restart sets the annotation " + v1.AnnotationRestartedAt +
			", and the operator rolls the pods as after a change of the spec. kubectl rollout restart\n" +
			"of the Deployment works, too: the operator keeps its annotation. The Job of an AppJob runs again; with a schedule, the next run has new pods.\n\n" +
			"A release task (spec.release) that failed runs again, and the release that waits for it continues if it succeeds; until then, pods of the\n" +
			"previous version are not replaced. A task that has succeeded does not run again.",
		Example: `# replace the pods, or run a release task again that failed
kubectl appservice restart web`,
	}, change{done: "restarted", patch: func(*unstructured.Unstructured) map[string]any {
		at := time.Now().UTC().Format(time.RFC3339Nano) // two restarts within a second differ
		return map[string]any{"metadata": map[string]any{"annotations": map[string]any{v1.AnnotationRestartedAt: at}}}
	}})
}

// changeCommand completes a command that makes a change to each resource named.
func (s *cli) changeCommand(cmd *cobra.Command, c change) *cobra.Command {
	var dry string
	cmd.Args = someNames
	cmd.ValidArgsFunction = s.completeMoreNames
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkDry(dry); err != nil {
			return err
		}
		for _, arg := range args {
			if err := s.apply(cmd.Context(), arg, c, dry); err != nil {
				return err
			}
		}
		return nil
	}
	dryFlag(cmd, &dry)
	return cmd
}

// dryFlag adds the flag --dry-run; checkDry validates its value.
func dryFlag(cmd *cobra.Command, dry *string) {
	cmd.Flags().StringVar(dry, "dry-run", dryNone,
		"none, client (nothing is sent) or server (the API server checks it, and stores nothing)")
	cmd.Flags().Lookup("dry-run").NoOptDefVal = dryClient
	// the flag exists
	_ = cmd.RegisterFlagCompletionFunc("dry-run",
		cobra.FixedCompletions([]string{dryNone, dryClient, dryServer}, cobra.ShellCompDirectiveNoFileComp))
}

func checkDry(dry string) error {
	if dry == dryNone || dry == dryClient || dry == dryServer {
		return nil
	}
	return fmt.Errorf("--dry-run=%s: it can be none, client (nothing is sent) or server (the API server checks it, and stores nothing)", dry)
}

// drySuffix is appended to the output of a dry run, by the value of --dry-run.
var drySuffix = map[string]string{dryClient: " (dry run)", dryServer: " (server dry run)"}

// apply makes a change to the resource that an argument names. It patches only the fields of the change, without a
// resourceVersion: concurrent changes of other fields are kept.
func (s *cli) apply(ctx context.Context, argument string, c change, dry string) error {
	name, err := s.resourceName(argument)
	if err != nil {
		return err
	}
	if c.verb != "" && name.Kind != appServices {
		return c.refusal(name)
	}
	writer, err := s.client()
	if err != nil {
		return err
	}
	resource, err := name.read(ctx, writer)
	if err != nil {
		return err
	}
	fields := c.patch(resource)
	if fields == nil {
		_, err := fmt.Fprintf(s.Out, "%s %s\n", name, c.already)
		return err
	}
	if dry != dryClient {
		if err := patch(ctx, writer, resource, fields, dry); err != nil {
			return explainRefusal(name, err)
		}
	}
	_, err = fmt.Fprintf(s.Out, "%s %s%s\n", name, c.done, drySuffix[dry])
	return err
}

// refusal returns the error for a resource of another kind than AppService.
func (c change) refusal(name resourceName) error {
	kind := strings.ToLower(name.Kind.Kind)
	return fmt.Errorf("cannot %s %s: the operator honors spec.paused of AppServices only. "+
		"kubectl explain %s.spec lists the fields that its chart declares; a kind with spec.suspend, such as AppJob, is %s by "+
		"kubectl patch %s %s --namespace=%s --type=merge --patch='{\"spec\":{\"suspend\":%s}}'",
		c.verb, name, kind, c.done, kind, name.Name, name.Namespace, c.suspend)
}

// patch sends fields as a merge patch. It carries the UID of the resource that was read, so a resource deleted and
// created again is not patched.
func patch(ctx context.Context, writer client.Client, resource *unstructured.Unstructured, fields map[string]any,
	dry string) error {
	metadata, _ := fields["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		fields["metadata"] = metadata
	}
	metadata["uid"] = string(resource.GetUID())
	body, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	options := []client.PatchOption{client.FieldOwner(fieldManager), client.FieldValidation("Strict")}
	if dry == dryServer {
		options = append(options, client.DryRunAll)
	}
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		return writer.Patch(ctx, resource, client.RawPatch(types.MergePatchType, body), options...)
	})
}

// explainRefusal wraps an error of the API server, and adds whom to ask if a permission is missing.
func explainRefusal(name resourceName, err error) error {
	if apierrors.IsForbidden(err) {
		return fmt.Errorf("cannot change %s: %w (the role \"edit\" of the namespace has that right; ask whoever runs the namespace)", name, err)
	}
	if _, unknown, found := strings.Cut(err.Error(), "strict decoding error: unknown field "); found {
		return fmt.Errorf("cannot change %s: its kind has no field %s, so it cannot be set", name, unknown)
	}
	return fmt.Errorf("cannot change %s: %w", name, err)
}
