package plugin

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"k8s.io/kubectl/pkg/cmd/attach"
	"k8s.io/kubectl/pkg/cmd/logs"
	"k8s.io/kubectl/pkg/util/interrupt"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
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
	if err := s.stream(ctx, pod, flags); err != nil {
		return err
	}
	pod, err = s.podOf(ctx, c, job, ended)
	if err != nil {
		return err
	}
	if state := stateOf(pod).Terminated; state != nil && state.ExitCode != 0 {
		if state.Reason != "Error" && state.Message != "" { // it did not begin
			_, _ = fmt.Fprintln(s.ErrOut, text.Line(state.Reason+": "+state.Message))
		}
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
	return stateOf(pod).Terminated != nil || kube.PodEnded(pod)
}

// podOf waits for the pod of a Job to be in a state, and prints each cause why it is not. The error is one that lasts.
func (s *cli) podOf(ctx context.Context, c client.Client, job *batchv1.Job,
	is func(*corev1.Pod) bool) (*corev1.Pod, error) {
	said := map[string]bool{}
	for {
		if err := c.Get(ctx, client.ObjectKeyFromObject(job), job); err != nil {
			return nil, fmt.Errorf("cannot read Job %s: %w", job.Name, err)
		}
		over := slices.ContainsFunc(job.Status.Conditions, func(condition batchv1.JobCondition) bool {
			return condition.Type == batchv1.JobFailed && condition.Status == corev1.ConditionTrue
		})
		workload, _ := diagnose.WorkloadOf(job)
		found := &diagnose.Findings{Workload: workload, Now: time.Now()}
		if err := diagnose.Collect(ctx, c, found); err != nil {
			return nil, fmt.Errorf("cannot read the pod of Job %s: %w", job.Name, err)
		}
		if at := slices.IndexFunc(found.Pods, func(pod corev1.Pod) bool { return is(&pod) }); at >= 0 {
			return &found.Pods[at], nil
		}
		if over && len(found.Pods) == 0 {
			return nil, fmt.Errorf("the pod of Job %s was deleted before its command ended", job.Name)
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

// settling is for how long the output of a command that has ended may still come.
const settling = 5 * time.Second

// stream prints what the command of a pod writes until it has ended, or until the context ends.
func (s *cli) stream(ctx context.Context, pod *corev1.Pod, flags runFlags) error {
	config, err := s.config()
	if err != nil {
		return err
	}
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("cannot reach the cluster: %w", err)
	}
	reading, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1) // nobody may wait for it any more
	go func() {
		if flags.stdin && pod.Status.Phase == corev1.PodRunning {
			err := s.attachTo(config, pod, flags)
			if err == nil {
				done <- nil
				return
			}
			// it may have ended meanwhile, so its log has all
			_, _ = fmt.Fprintf(s.ErrOut, "cannot attach to pod %s, its log follows: %v\n", pod.Name, err)
		}
		log := &corev1.PodLogOptions{Container: pod.Spec.Containers[0].Name, Follow: true}
		done <- logs.DefaultConsumeRequest(reading, typed.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, log), s.Out)
	}()
	over := make(chan struct{})
	go func() { // a connection that is lost does not say that the command has ended
		one := cache.NewListWatchFromClient(typed.CoreV1().RESTClient(), "pods", pod.Namespace,
			fields.OneTermEqualSelector("metadata.name", pod.Name))
		_, err := watchtools.UntilWithSync(reading, one, &corev1.Pod{}, nil, func(event watch.Event) (bool, error) {
			now, is := event.Object.(*corev1.Pod)
			return event.Type == watch.Deleted || is && ended(now), nil
		})
		if err == nil {
			close(over)
		}
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err = <-done:
	case <-over:
		select {
		case err = <-done:
		case <-time.After(settling):
		}
	}
	if err != nil {
		return fmt.Errorf("cannot read the output of pod %s: %w", pod.Name, err)
	}
	return nil
}

// attachTo connects the terminal with a container.
func (s *cli) attachTo(config *rest.Config, pod *corev1.Pod, flags runFlags) error {
	config = rest.CopyConfig(config) // what is below, commands of kubectl have in their configuration
	config.GroupVersion, config.APIPath = &corev1.SchemeGroupVersion, "/api"
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	options := attach.NewAttachOptions(s.IOStreams)
	options.In, options.Out, options.ErrOut = s.In, raw(s.Out), os.Stderr
	options.Pod, options.Namespace, options.PodName, options.Config = pod, pod.Namespace, pod.Name, config
	options.ContainerName, options.Stdin, options.TTY, options.Quiet = pod.Spec.Containers[0].Name, true, flags.tty, true
	options.InterruptParent = interrupt.New(func(os.Signal) {}) // the default ends the program, and leaves the Job
	return options.Run()
}
