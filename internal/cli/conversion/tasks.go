package conversion

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/controller/release"
	"github.com/example/appservice-operator/internal/kube/jobs"
)

// SkippedTasks returns those of some runs that the release tasks of the AppService, or of the one that it takes the
// place of, have done, for the annotation skip-release-task. A new AppService would run them again. The release records
// say it also when that one is gone.
func (l *Looker) SkippedTasks(ctx context.Context, s *State, runs []jobs.Run) (string, error) {
	var ran []string
	for _, run := range runs {
		if run.Before {
			ran = append(ran, jobs.What(run.Digest))
		}
	}
	if len(ran) == 0 {
		return "", nil
	}
	records := &corev1.SecretList{}
	if err := l.Reader.List(ctx, records, client.InNamespace(l.Wanted.GetNamespace()),
		client.MatchingLabels{"owner": "helm", "name": l.Wanted.GetName(), v1.LabelManaged: "true"}); err != nil {
		return "", fmt.Errorf("cannot read the release records, which are Secrets and say what release tasks have run: %w", err)
	}
	var noted []v1.RunStatus
	for i := range records.Items {
		noted = append(noted, s.noted(&records.Items[i])...)
	}
	var skipped []string
	for _, what := range ran {
		if jobs.Ran(what, noted) {
			skipped = append(skipped, what)
		}
	}
	return strings.Join(skipped, ","), nil
}

// noted returns the runs that a release record notes, if it is the AppService's or was left.
func (s *State) noted(record *corev1.Secret) []v1.RunStatus {
	if controller := metav1.GetControllerOfNoCopy(record); controller != nil &&
		(s.App == nil || controller.UID != s.App.GetUID()) {
		return nil
	}
	recorded, err := release.Decode(record)
	if err != nil || recorded.Source == nil {
		return nil
	}
	return recorded.Source.Runs
}
