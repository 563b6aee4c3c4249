package plugin

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/plugin/tree"
)

func waitCommand(s *cli) *cobra.Command {
	timeout := 10 * time.Minute
	cmd := &cobra.Command{
		Use:   "wait NAME...",
		Short: "Wait until AppServices are ready with their latest spec",
		Long: "Wait prints a line for each change until the AppServices are ready with their latest spec, and exits with 0. It exits with 1, and prints\n" +
			"what why says, as soon as one cannot become ready without help: its rollout is stalled, it is paused, deleted, or back at a former\n" +
			"release. Other errors, such as a Secret that is missing, have 30 seconds to end. A rollout that has to wait for its turn is waited for.",
		Example: `# after a change
kubectl apply -f app.yaml && kubectl appservice wait web

# several, for at most five minutes
kubectl appservice wait web api appjob/migrate --timeout 5m`,
		Args:              someNames,
		ValidArgsFunction: s.completeMoreNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.wait(cmd.Context(), args, timeout, clock.RealClock{})
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", timeout, "how long to wait, as in 5m")
	return cmd
}

// seen is a resource as it was last seen, nil if it does not exist.
type seen struct {
	index    int
	resource *unstructured.Unstructured
	err      error
}

// wait waits for all resources that the arguments name.
func (s *cli) wait(ctx context.Context, args []string, timeout time.Duration, clock clock.WithTicker) error {
	reader, err := s.client()
	if err != nil {
		return err
	}
	list := make([]*waited, len(args))
	for i, arg := range args {
		name, err := s.resourceName(arg)
		if err != nil {
			return err
		}
		list[i] = &waited{name: name}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changes := make(chan seen)
	for i, one := range list {
		go follow(ctx, reader, one.name, func(resource *unstructured.Unstructured, err error) {
			select {
			case changes <- seen{i, resource, err}:
			case <-ctx.Done():
			}
		})
	}
	return s.waitFor(ctx, list, changes, timeout, clock)
}

// waitFor judges each change, and each second the state that lasts.
func (s *cli) waitFor(ctx context.Context, list []*waited, changes <-chan seen, timeout time.Duration,
	clock clock.WithTicker) error {
	last := make([]*seen, len(list))
	printed := make([]string, len(list))
	open, failed := len(list), false
	ended := make([]bool, len(list))
	judge := func(i int) error {
		if last[i] == nil || ended[i] {
			return nil
		}
		if last[i].err != nil {
			return last[i].err
		}
		result, line := list[i].verdict(last[i].resource, clock.Now())
		if result == outcomeReady && !s.restarted(ctx, list[i], last[i].resource, clock.Now()) {
			result, line = outcomeWaiting, "the restart has not ended yet"
		}
		if line != printed[i] {
			printed[i] = line
			line = fmt.Sprintf("%s  %s", list[i].name, text.Unbroken(line))
			if _, err := fmt.Fprintln(s.Out, wrapped(line, width(s.Out), "  ")); err != nil {
				return err
			}
		}
		if result == outcomeWaiting {
			return nil
		}
		ended[i] = true
		open--
		if result == outcomeFailed {
			failed = true
			return s.explain(ctx, list[i].name)
		}
		return nil
	}
	ticker, end := clock.NewTicker(time.Second), clock.After(timeout)
	defer ticker.Stop()
	for open > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-end:
			for i, one := range list {
				if !ended[i] {
					_, _ = fmt.Fprintf(s.ErrOut, "%s is not ready after %s: --timeout makes it longer\n", one.name, timeout)
				}
			}
			return errFound
		case <-ticker.C():
			for i := range list {
				if err := judge(i); err != nil {
					return err
				}
			}
		case change := <-changes:
			last[change.index] = &change
			if err := judge(change.index); err != nil {
				return err
			}
		}
	}
	return ifFound(failed)
}

// restartReads is the time between two reads of pods whose restart is waited for.
const restartReads = 3 * time.Second

// restarted reports whether the pods of a resource are those of the restart that its annotation requests: a restart
// changes no generation, so the status does not show it. It is true for pods that cannot be read.
func (s *cli) restarted(ctx context.Context, one *waited, resource *unstructured.Unstructured, now time.Time) bool {
	requested := resource.GetAnnotations()[v1.AnnotationRestartedAt]
	switch {
	case requested == "":
		return true
	case now.Before(one.again):
		return false
	}
	one.again = now.Add(restartReads)
	found, err := s.findings(ctx, one.name.String(), true)
	if err != nil {
		return true
	}
	workload := mainWorkload(found)
	if workload == nil || workload.Kind == "Job" {
		return true
	}
	return workload.Settled && workload.Template.Annotations[v1.AnnotationRestartedAt] == requested
}

// explain prints what why says of a resource, if it is there.
func (s *cli) explain(ctx context.Context, name resourceName) error {
	found, err := s.findings(ctx, name.String(), false)
	if err != nil {
		return nil //nolint:nilerr // its absence was reported
	}
	return s.printTree(tree.Why(found), asText, found.Now)
}

// follow reports a resource as it is, and each change of it, until the context ends. An error is the last report: of
// the first request, and a right that was taken away; others may end.
func follow(ctx context.Context, reader client.WithWatch, name resourceName,
	report func(*unstructured.Unstructured, error)) {
	passes := func(err error) bool {
		return !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err)
	}
	for again := false; ctx.Err() == nil; again = true {
		list := kube.List(name.Kind)
		only := []client.ListOption{client.InNamespace(name.Namespace),
			client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("metadata.name", name.Name)}}
		if err := reader.List(ctx, list, only...); err != nil {
			if again && passes(err) {
				backOff(ctx)
				continue
			}
			report(nil, fmt.Errorf("cannot read %s: %w", name, err))
			return
		}
		var now *unstructured.Unstructured
		if len(list.Items) > 0 {
			now = &list.Items[0]
		}
		report(now, nil)
		since := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}}
		events, err := reader.Watch(ctx, list, append(only, since)...)
		if err != nil {
			if passes(err) {
				backOff(ctx)
				continue
			}
			report(nil, fmt.Errorf("cannot watch %s: %w", name, err))
			return
		}
		for event := range events.ResultChan() {
			resource, is := event.Object.(*unstructured.Unstructured)
			switch {
			case event.Type == watch.Error && !apierrors.IsResourceExpired(apierrors.FromObject(event.Object)):
				report(nil, fmt.Errorf("cannot watch %s: %w", name, apierrors.FromObject(event.Object)))
				events.Stop()
				return
			case event.Type == watch.Deleted:
				report(nil, nil)
			case is && (event.Type == watch.Added || event.Type == watch.Modified):
				report(resource, nil)
			}
		}
		events.Stop()
	}
}

// backOff waits for a second before requests that failed are made again.
func backOff(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Second):
	}
}
