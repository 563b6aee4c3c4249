package plugin

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubectl/pkg/cmd/logs"
	"k8s.io/kubectl/pkg/cmd/util/podcmd"
	"k8s.io/kubectl/pkg/polymorphichelpers"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/stage"
	"github.com/example/appservice-operator/internal/plugin/tree"
)

// logFlags say which logs are printed.
type logFlags struct {
	task, sidecars, follow, previous bool
	tail                             int64
}

func logsCommand(s *cli) *cobra.Command {
	flags := logFlags{tail: -1}
	cmd := &cobra.Command{
		Use:   "logs NAME",
		Short: "Print the logs of the newest pods of an AppService",
		Long: "Logs prints what the application writes: of the pods of the newest release, each line with its pod if there are several. With --task it is the\n" +
			"release task, with --sidecars all containers, with --previous those that have crashed, before they were started again. You need the right to\n" +
			"read pods/log, which the role \"view\" has. It exits with 1 if there is nothing to print.",
		Example: `# as it comes
kubectl appservice logs web -f

# what the container wrote before it crashed
kubectl appservice logs web --previous

# of the migration
kubectl appservice logs web --task`,
		Annotations:       map[string]string{"until": "interrupted"},
		Args:              oneName,
		ValidArgsFunction: s.completeNames,
		RunE:              func(cmd *cobra.Command, args []string) error { return s.logs(cmd.Context(), args[0], flags) },
	}
	cmd.Flags().BoolVar(&flags.task, "task", false, "print those of the Jobs that run for a release")
	cmd.Flags().BoolVar(&flags.sidecars, "sidecars", false, "print those of all containers")
	cmd.Flags().BoolVarP(&flags.follow, "follow", "f", false, "print what comes, until it is interrupted")
	cmd.Flags().BoolVarP(&flags.previous, "previous", "p", false, "print those of containers that have crashed, before they were started again")
	cmd.Flags().Int64Var(&flags.tail, "tail", flags.tail, "how many of the last lines of each; all if it is -1")
	return cmd
}

// logs prints the logs of the pods of the resource that an argument names.
func (s *cli) logs(ctx context.Context, argument string, flags logFlags) error {
	found, err := s.findings(ctx, argument, true)
	if err != nil {
		return err
	}
	pods := logged(found, flags)
	switch {
	case len(pods) > 0:
		err = s.printLogs(ctx, pods, flags)
	case len(found.Gaps) > 0 && found.Status.Replicas != 0:
		return fmt.Errorf("cannot read the pods of %s: %s", argument, found.Gaps[0])
	default:
		_, _ = fmt.Fprintln(s.ErrOut, wrapped(noPods(argument, flags), width(s.ErrOut), ""))
		return errFound
	}
	if flags.follow && ctx.Err() != nil {
		return nil // it was interrupted, which is how that ends
	}
	return err
}

// printLogs prints the logs of pods, as kubectl does.
func (s *cli) printLogs(ctx context.Context, pods []corev1.Pod, flags logFlags) error {
	for i := range pods { // else kubectl says that it takes the first container
		const preferred = podcmd.DefaultContainerAnnotationName
		if pod := &pods[i]; pod.Annotations[preferred] == "" {
			metav1.SetMetaDataAnnotation(&pod.ObjectMeta, preferred, pod.Spec.Containers[0].Name)
		}
	}
	several := len(pods) > 1 || flags.sidecars
	content := &corev1.PodLogOptions{Follow: flags.follow, Previous: flags.previous}
	if flags.tail >= 0 {
		content.TailLines = &flags.tail
	}
	// RunLogsContext of kubectl would end the program at a signal
	requests, err := polymorphichelpers.LogsForObjectFn(s.kube, &corev1.PodList{Items: pods}, content, time.Minute,
		flags.sidecars)
	if err != nil {
		return err
	}
	var all errgroup.Group
	if !flags.follow {
		all.SetLimit(1)
	}
	var line sync.Mutex
	byName := func(a, b corev1.ObjectReference) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.FieldPath, b.FieldPath))
	}
	for _, of := range slices.SortedFunc(maps.Keys(requests), byName) {
		out := s.Out
		if several {
			out = &prefixed{"[pod/" + of.Name + "/" + containerIn(of.FieldPath) + "] ", s.Out, &line}
		}
		all.Go(func() error {
			err := logs.DefaultConsumeRequest(ctx, requests[of], out)
			if err != nil && several && ctx.Err() == nil { // one that has not begun keeps no other from being printed
				_, err = fmt.Fprintln(s.ErrOut, "error: "+err.Error())
			}
			return err
		})
	}
	return all.Wait()
}

// containerIn returns the container in a path such as spec.containers{app}.
func containerIn(path string) string {
	_, name, _ := strings.Cut(path, "{")
	return strings.TrimSuffix(name, "}")
}

// prefixed writes lines, each in one call, with a prefix.
type prefixed struct {
	prefix string
	to     io.Writer
	one    *sync.Mutex
}

func (p *prefixed) Write(line []byte) (int, error) {
	if len(line) == 0 {
		return 0, nil
	}
	p.one.Lock()
	defer p.one.Unlock()
	_, err := p.to.Write(append([]byte(p.prefix), line...))
	return len(line), err
}

// logged returns the pods whose logs are asked for: of the newest release, or of its tasks.
func logged(found *tree.Findings, flags logFlags) (pods []corev1.Pod) {
	for _, object := range found.Objects {
		if object.PodFindings == nil || object.Live == nil || (stage.Of(object.Live) != stage.Main) != flags.task {
			continue
		}
		sights := object.PodFindings.Sights()
		if len(sights) == 0 && !flags.previous {
			pods = append(pods, lastEnded(object.PodFindings.Pods)...)
		}
		for _, sight := range sights {
			if sight.Earlier || flags.previous && !crashed(sight.Pod) {
				continue
			}
			pods = append(pods, *sight.Pod)
		}
	}
	return pods
}

// lastEnded returns the newest pod that has ended, as that of a Job; none if there is none.
func lastEnded(pods []corev1.Pod) (last []corev1.Pod) {
	for _, pod := range pods {
		if kube.PodEnded(&pod) && (len(last) == 0 || last[0].CreationTimestamp.Before(&pod.CreationTimestamp)) {
			last = []corev1.Pod{pod}
		}
	}
	return last
}

// crashed reports whether a container of a pod ended and was started again.
func crashed(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses,
		func(status corev1.ContainerStatus) bool { return status.LastTerminationState.Terminated != nil })
}

// noPods returns why there is nothing to print.
func noPods(name string, flags logFlags) string {
	switch {
	case flags.previous:
		return fmt.Sprintf("no container of %s was started again: leave out --previous", name)
	case flags.task:
		return fmt.Sprintf("no Job of a release of %s has pods: kubectl appservice history %s says how it ended", name, name)
	}
	return fmt.Sprintf("%s has no pods: kubectl appservice why %s says why", name, name)
}
