package plugin

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubectl/pkg/cmd/attach"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
)

// runFlags say how a command runs.
type runFlags struct {
	sidecars, stdin, tty, detach bool
}

// exitError is the exit code of a command that ran in a pod.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("the command ended with %d", int(e)) }

// output prints what the command of a Job writes, and returns its exit code as an error unless it is 0.
func (s *cli) output(ctx context.Context, c client.Client, job *batchv1.Job, flags runFlags) error {
	pod, err := s.podOf(ctx, c, job, begun)
	if err != nil {
		return err
	}
	if flags.stdin && pod.Status.Phase == corev1.PodRunning {
		if err := s.attachTo(pod, flags); err != nil {
			return fmt.Errorf("cannot attach to pod %s: %w", pod.Name, err)
		}
	} else if err := s.printLogs(ctx, []corev1.Pod{*pod}, logFlags{follow: true, tail: -1}); err != nil {
		return err
	}
	pod, err = s.podOf(ctx, c, job, ended)
	if err != nil {
		return err
	}
	if state := stateOf(pod).Terminated; state != nil && state.ExitCode != 0 {
		return exitError(state.ExitCode)
	}
	if stateOf(pod).Terminated == nil {
		return fmt.Errorf("pod %s ended without the command: %s", pod.Name, text.Line(pod.Status.Reason+" "+pod.Status.Message))
	}
	return nil
}

// stateOf returns the state of the container that runs the command.
func stateOf(pod *corev1.Pod) corev1.ContainerState {
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name == pod.Spec.Containers[0].Name {
			return status.State
		}
	}
	return corev1.ContainerState{}
}

// begun reports whether the command of a pod has begun.
func begun(pod *corev1.Pod) bool {
	state := stateOf(pod)
	return state.Running != nil || ended(pod)
}

// ended reports whether the command of a pod has ended, or never will begin.
func ended(pod *corev1.Pod) bool {
	phase := pod.Status.Phase
	return stateOf(pod).Terminated != nil || phase == corev1.PodFailed || phase == corev1.PodSucceeded
}

// podOf waits for the pod of a Job to be in a state, and prints each cause why it is not. The error is one that lasts.
func (s *cli) podOf(ctx context.Context, c client.Client, job *batchv1.Job,
	is func(*corev1.Pod) bool) (*corev1.Pod, error) {
	said := map[string]bool{}
	for {
		if err := c.Get(ctx, client.ObjectKeyFromObject(job), job); err != nil {
			return nil, fmt.Errorf("cannot read Job %s: %w", job.Name, err)
		}
		workload, _ := diagnose.WorkloadOf(job)
		found := &diagnose.Findings{Workload: workload, Now: time.Now()}
		if err := diagnose.Collect(ctx, c, found); err != nil {
			return nil, fmt.Errorf("cannot read the pod of Job %s: %w", job.Name, err)
		}
		if at := slices.IndexFunc(found.Pods, func(pod corev1.Pod) bool { return is(&pod) }); at >= 0 {
			return &found.Pods[at], nil
		}
		for _, cause := range diagnose.Causes(*found) {
			if cause.Effect == diagnose.Lasting {
				return nil, fmt.Errorf("%s: %s", cause.Reason, cause.Text())
			}
			if line := cause.Reason + ": " + cause.Text(); !said[line] {
				said[line] = true
				_, _ = fmt.Fprintln(s.ErrOut, text.Line(line))
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// attachTo connects the terminal with a container.
func (s *cli) attachTo(pod *corev1.Pod, flags runFlags) error {
	config, err := s.config()
	if err != nil {
		return err
	}
	options := attach.NewAttachOptions(s.IOStreams)
	options.In, options.Out, options.ErrOut = s.In, raw(s.Out), os.Stderr
	options.Pod, options.Namespace, options.PodName, options.Config = pod, pod.Namespace, pod.Name, config
	options.ContainerName, options.Stdin, options.TTY, options.Quiet = pod.Spec.Containers[0].Name, true, flags.tty, true
	return options.Run()
}
