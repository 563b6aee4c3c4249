package plugin

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube/stage"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
	"github.com/example/appservice-operator/internal/plugin/tree"
)

func runCommand(s *cli) *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use:        "run NAME -- COMMAND [ARG...]",
		SuggestFor: []string{"exec"},
		Short:      "Run a command with the image, environment and volumes of an AppService",
		Long: "Run creates a Job with your rights, from the workload as it is now: the same image, environment, account and volumes, without ports, probes, init\n" +
			"containers and sidecars, and with labels that no Service selects. It prints what the command writes, ends with its exit code, and deletes the\n" +
			"Job, also if it is interrupted. If the application may reach only some addresses, so may the command, unless you may not create policies:\n" +
			"a warning says so, and the command runs.",
		Example: `# one command
kubectl appservice run web -- ./manage.py createcachetable

# a shell
kubectl appservice run web -it -- sh`,
		Annotations: map[string]string{"needs": "node"},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 || cmd.ArgsLenAtDash() != 1 {
				return fmt.Errorf("name one resource, and the command after --: %s", cmd.UseLine())
			}
			return nil
		},
		ValidArgsFunction: s.completeNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.run(cmd.Context(), args[0], args[1:], flags)
		},
	}
	cmd.Flags().BoolVar(&flags.sidecars, "with-sidecars", false, "start the sidecars, too")
	cmd.Flags().BoolVarP(&flags.stdin, "stdin", "i", false, "pass stdin to the command")
	cmd.Flags().BoolVarP(&flags.tty, "tty", "t", false, "give the command a terminal, with -i")
	cmd.Flags().BoolVar(&flags.detach, "detach", false, "print the name of the Job and leave it; it is deleted a day after it ended")
	return cmd
}

// run runs a command for the resource that an argument names.
func (s *cli) run(ctx context.Context, argument string, command []string, flags runFlags) error {
	found, err := s.findings(ctx, argument, true)
	if err != nil {
		return err
	}
	workload := mainWorkload(found)
	if workload == nil && len(found.Gaps) > 0 {
		return fmt.Errorf("cannot read the workload whose pods are copied: %s", found.Gaps[0])
	}
	if workload == nil {
		return fmt.Errorf("%s has no workload whose pods could be copied: kubectl appservice tree %s lists its objects", argument, argument)
	}
	template := workload.Template
	c, err := s.client()
	if err != nil {
		return err
	}
	namespace := found.Resource.GetNamespace()
	if err := s.checkClaims(ctx, c, namespace, template); err != nil {
		return err
	}
	wanted := commandJob{name: runName(found.Resource.GetName(), rand.String(5)), namespace: namespace, command: command,
		sidecars: flags.sidecars, stdin: flags.stdin, tty: flags.stdin && flags.tty}
	if own := ownVolumes(template); len(own) > 0 {
		_, _ = fmt.Fprintf(s.ErrOut, "each replica has its own volume %s, which the command has not: kubectl exec runs one in a replica\n",
			strings.Join(own, ", "))
	}
	job, policy := wanted.of(template), (*networkingv1.NetworkPolicy)(nil)
	policies := &networkingv1.NetworkPolicyList{}
	if err := c.List(ctx, policies, client.InNamespace(namespace)); ctx.Err() != nil {
		return ctx.Err()
	} else if err != nil {
		s.unlimited(err)
	} else if policy, err = egressOf(policies.Items, template, job); err != nil {
		return err
	}
	return s.start(ctx, c, job, policy, flags)
}

// start creates a Job, suspended until its policy is there, if it has one. Only a detached Job stays once it has begun.
func (s *cli) start(ctx context.Context, c client.Client, job *batchv1.Job, policy *networkingv1.NetworkPolicy,
	flags runFlags) error {
	signal.Ignore(syscall.SIGPIPE) // else "| head" would end the program, and leave the Job
	job.Spec.Suspend = ptr.To(policy != nil)
	// An interrupt does not end this request: else the Job might be there, and nobody would know.
	if err := c.Create(context.WithoutCancel(ctx), job); err != nil {
		return fmt.Errorf("cannot create Job %s: %w", job.Name, err)
	}
	stays := false
	defer func() {
		if !stays {
			s.takeAway(ctx, c, job)
		}
	}()
	if policy != nil {
		if err := s.limit(ctx, c, job, policy); err != nil {
			return err
		}
	}
	if stays = flags.detach; stays {
		_, err := fmt.Fprintf(s.Out, "job.batch/%s\n", job.Name)
		return err
	}
	return s.output(ctx, c, job, flags)
}

// mainWorkload returns the workload of the main stage; nil if there is none.
func mainWorkload(found *tree.Findings) *diagnose.Workload {
	for _, object := range found.Objects {
		if object.Live == nil || stage.Of(object.Live) != stage.Main {
			continue
		}
		if workload, is := diagnose.WorkloadOf(object.Live); is && workload.Template != nil {
			return workload
		}
	}
	return nil
}

// checkClaims refuses a command whose volumes are in use elsewhere.
func (s *cli) checkClaims(ctx context.Context, c client.Client, namespace string,
	template *corev1.PodTemplateSpec) error {
	claims := map[string]*corev1.PersistentVolumeClaim{}
	for _, volume := range template.Spec.Volumes {
		if volume.PersistentVolumeClaim == nil {
			continue
		}
		claim := &corev1.PersistentVolumeClaim{}
		key := types.NamespacedName{Namespace: namespace, Name: volume.PersistentVolumeClaim.ClaimName}
		if err := c.Get(ctx, key, claim); err != nil {
			return fmt.Errorf("cannot read the claim that the pods have: %w", err)
		}
		claims[claim.Name] = claim
	}
	if len(claims) == 0 {
		return nil
	}
	pods := &corev1.PodList{}
	if err := c.List(ctx, pods, client.InNamespace(namespace)); err != nil {
		return fmt.Errorf("cannot read who uses the claims: %w", err)
	}
	if why := inUse(template, claims, pods.Items); why != "" {
		return errors.New(why)
	}
	return nil
}

// limit creates a policy owned by a suspended Job, then lets the Job begin.
func (s *cli) limit(ctx context.Context, c client.Client, job *batchv1.Job, policy *networkingv1.NetworkPolicy) error {
	policy.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: job.Name, UID: job.UID}}
	if err := c.Create(ctx, policy); ctx.Err() != nil {
		return ctx.Err()
	} else if err != nil {
		s.unlimited(err)
	}
	begin := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"suspend":false}}`))
	if err := c.Patch(ctx, job, begin); err != nil {
		return fmt.Errorf("cannot start Job %s: %w", job.Name, err)
	}
	return nil
}

// unlimited says that the command is not limited as the application is.
func (s *cli) unlimited(err error) {
	_, _ = fmt.Fprintf(s.ErrOut, "the policies of the application do not apply to this command, which may reach more, or less: %v\n", err)
}

// takeAway deletes a Job with its pods, also after an interrupt.
func (s *cli) takeAway(ctx context.Context, c client.Client, job *batchv1.Job) {
	err := c.Delete(context.WithoutCancel(ctx), job, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) != nil {
		_, _ = fmt.Fprintf(s.ErrOut, "cannot delete Job %s: %v\n", job.Name, err)
	}
}
