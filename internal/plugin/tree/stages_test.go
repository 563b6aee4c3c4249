package tree

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/example/appservice-operator/api/v1"
)

// waitingFor returns a world whose release task has a state, with the status of a release that waits for it.
func waitingFor(t *testing.T, state v1.ResourceState) (*world, *v1.AppServiceStatus) {
	t.Helper()
	w := recorded(t, "well")
	job := &batchv1.Job{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}}
	job.Namespace, job.Name, job.UID = w.app.GetNamespace(), "web-release-1", "job"
	job.Annotations = map[string]string{v1.AnnotationStage: "before"}
	job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(w.app, w.app.GroupVersionKind())}
	w.others = append(w.others, job)
	said := w.said(t)
	for i := range said.Conditions {
		if said.Conditions[i].Type == v1.ConditionReady {
			said.Conditions[i].Status, said.Conditions[i].Message = metav1.ConditionFalse, "stage before: Job web-release-1: it runs"
		}
	}
	said.Resources = append(said.Resources, v1.ResourceStatus{Kind: "Job", Name: "web-release-1", State: state, Message: "it runs"})
	return w, said
}

func TestAReleaseThatWaitsForAStage(t *testing.T) {
	const waits, kept = "held back", "the next release  waiting for the stage before: not ready are Job web-release-1; nothing else has changed, release 1 still runs"
	w, said := waitingFor(t, v1.ResourceWaiting)
	text := printed(t, Why(w.look(t, said, nil)), w.at)
	inOrder(t, text, "Ready=False", "Job web-release-1 [before]  it runs", waits, kept)
	require.NotContains(t, text, "kubectl appservice restart")
	require.Equal(t, "stage before", HeldBack(said, time.Now()))

	w, said = waitingFor(t, v1.ResourceFailed)
	inOrder(t, printed(t, Why(w.look(t, said, nil)), w.at), waits, kept, "hint: change the spec; or retry a failed task: kubectl appservice restart web; or return to the running version: kubectl appservice undo web")

	w, said = waitingFor(t, v1.ResourceFailed)
	said.Release = nil
	text = printed(t, Why(w.look(t, said, nil)), w.at)
	inOrder(t, text, waits, "the first release  waiting for the stage before: not ready are Job web-release-1; nothing else is created yet", "hint: change the spec; or retry a failed task")
	require.NotContains(t, text, "kubectl appservice undo")
}

func TestATreeShowsStages(t *testing.T) {
	w, said := waitingFor(t, v1.ResourceWaiting)
	inOrder(t, printed(t, Tree(w.look(t, said, nil)), w.at), "Deployment web", "Job web-release-1 [before]  it runs")
}
