package plugin

import (
	"context"
	"fmt"
	"io"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/text"
)

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
	} else if err := s.copyLog(ctx, pod); err != nil {
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
	return stateOf(pod).Terminated != nil || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// podOf waits for the pod of a Job to be in a state, and prints why it is not yet, once for each reason.
func (s *cli) podOf(ctx context.Context, c client.Client, job *batchv1.Job, is func(*corev1.Pod) bool) (*corev1.Pod, error) {
	var found *corev1.Pod
	said := ""
	err := wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		pods := &corev1.PodList{}
		if err := c.List(ctx, pods, client.InNamespace(job.Namespace), client.MatchingLabels{batchv1.JobNameLabel: job.Name}); err != nil {
			return false, fmt.Errorf("cannot read the pod of Job %s: %w", job.Name, err)
		}
		why := ""
		for i := range pods.Items {
			if found = &pods.Items[i]; is(found) {
				return true, nil
			}
			why = waitsFor(found)
		}
		if len(pods.Items) == 0 {
			refused, err := s.refusedPods(ctx, c, job)
			if err != nil || refused != "" {
				return false, fmt.Errorf("no pod was created for Job %s: %s", job.Name, refused)
			}
		}
		if why != said {
			said = why
			_, _ = fmt.Fprintf(s.ErrOut, "pod %s waits: %s\n", found.Name, text.Line(why))
		}
		return false, nil
	})
	return found, err
}

// waitsFor returns why a pod has not begun; empty if it is not known.
func waitsFor(pod *corev1.Pod) string {
	if waiting := stateOf(pod).Waiting; waiting != nil && waiting.Message != "" {
		return waiting.Reason + ": " + waiting.Message
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return condition.Reason + ": " + condition.Message
		}
	}
	return ""
}

// refusedPods returns why the API server refuses the pods of a Job; empty if it does not.
func (s *cli) refusedPods(ctx context.Context, c client.Client, job *batchv1.Job) (string, error) {
	events := &corev1.EventList{}
	err := c.List(ctx, events, client.InNamespace(job.Namespace), client.MatchingFields{"involvedObject.uid": string(job.UID)})
	if err != nil {
		return "", nil //nolint:nilerr // who may not read events waits
	}
	for _, event := range events.Items {
		if event.Reason == "FailedCreate" {
			return event.Message, nil
		}
	}
	return "", nil
}

// copyLog prints what the command writes until it ends.
func (s *cli) copyLog(ctx context.Context, pod *corev1.Pod) error {
	config, err := s.config()
	if err != nil {
		return err
	}
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("cannot reach the cluster: %w", err)
	}
	options := &corev1.PodLogOptions{Container: pod.Spec.Containers[0].Name, Follow: true}
	stream, err := typed.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, options).Stream(ctx)
	if err != nil {
		return fmt.Errorf("cannot read the log of pod %s: %w", pod.Name, err)
	}
	defer func() { _ = stream.Close() }()
	if _, err := io.Copy(s.Out, stream); err != nil && ctx.Err() == nil {
		return fmt.Errorf("the log of pod %s ended: %w", pod.Name, err)
	}
	return ctx.Err()
}
