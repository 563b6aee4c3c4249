package preview

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/jobs"
)

// migrating is what an AppService with a release task is rendered to, with annotations of the AppService.
func migrating(t *testing.T, image string, annotations map[string]string) Outcome {
	t.Helper()
	list := objects(t, "{apiVersion: batch/v1, kind: Job, metadata: {name: web-release, annotations: {app.example.com/stage: before, app.example.com/rerun-on-change: image}},"+
		" spec: {template: {spec: {containers: [{name: release, image: '"+image+"', command: [bin/migrate, now], args: [secret]}]}}}}\n---\n"+
		strings.Replace(aDeployment, "nodeName: a", "nodeName: '"+image+"'", 1))
	resource := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"image": image}}}
	resource.SetAnnotations(annotations)
	run, err := jobs.Of(list[0], resource, nil)
	require.NoError(t, err)
	list[0].SetName(run.Name(""))
	return Outcome{Objects: list, Runs: []jobs.Run{run}}
}

// TestWhetherTheReleaseTaskRuns: what is noted in the cluster decides, or else whether the rendering before has the same task.
func TestWhetherTheReleaseTaskRuns(t *testing.T) {
	t.Parallel()
	after := migrating(t, "b", nil)
	digest := after.Runs[0].Digest
	noted := func(digest string, result v1.RunResult) []v1.RunStatus {
		return []v1.RunStatus{{Job: "web-release-1", Digest: digest, Result: result}}
	}
	skips := migrating(t, "b", map[string]string{v1.AnnotationSkipTask: digest})
	for name, test := range map[string]struct {
		noted []v1.RunStatus
		after Outcome
		want  Consequence
	}{
		"it never ran":        {nil, after, Consequence{Runs, "the release task WILL run: bin/migrate now"}},
		"another one ran":     {noted("other", v1.RunComplete), after, Consequence{Runs, "the release task WILL run: bin/migrate now"}},
		"it ran":              {noted(digest, v1.RunComplete), after, Consequence{Rests, "the release task does not run"}},
		"it was skipped":      {noted(digest, v1.RunSkipped), after, Consequence{Rests, "the release task does not run"}},
		"it failed":           {noted(digest, v1.RunFailed), after, Consequence{Rests, "the release task does not run again: it failed, and kubectl appservice restart runs it again"}},
		"it runs":             {noted(digest, ""), after, Consequence{Rests, "the release task does not run again: it runs now"}},
		"it is to be skipped": {nil, skips, Consequence{Rests, "the release task does not run: the annotation app.example.com/skip-release-task names it"}},
	} {
		t.Run(name, func(t *testing.T) {
			before := migrating(t, "a", nil)
			before.RecordedRuns = test.noted
			d := DiffOf("AppService shop/web", before, test.after)
			require.Contains(t, d.Consequences, test.want)
			require.Equal(t, test.want.Effect == Runs, d.Has(Runs))
			require.Len(t, d.Consequences, 2, "the Job itself is no workload whose pods go")
		})
	}
}

func TestOfWhatIsRefusedNoTaskRuns(t *testing.T) {
	t.Parallel()
	after := migrating(t, "b", nil)
	require.NoError(t, unstructured.SetNestedField(after.Objects[1].Object, "other", "spec", "selector", "matchLabels", "app"))
	if d := DiffOf("AppService shop/web", migrating(t, "a", nil), after); !d.Has(Refused) || d.Has(Runs) || d.Has(Rests) {
		t.Errorf("got %v", d.Consequences)
	}
}

// TestARunIsNotCompared: the operator leaves a Job that runs once as it was created, so nothing of it is refused.
func TestARunIsNotCompared(t *testing.T) {
	t.Parallel()
	before, after := migrating(t, "a", nil), migrating(t, "a", nil)
	require.NoError(t, unstructured.SetNestedField(after.Objects[0].Object, "else", "spec", "template", "spec", "nodeName"))
	if d := DiffOf("AppService shop/web", before, after); !d.Empty() {
		t.Errorf("it differs: %v", d.Lines())
	}
}

func TestNamesOfNotedRuns(t *testing.T) {
	t.Parallel()
	run, again := migrating(t, "a", nil).Runs[0], migrating(t, "a", map[string]string{v1.AnnotationRestartedAt: "now"}).Runs[0]
	noted := []v1.RunStatus{{Job: "web-release-1", Digest: run.Digest, Result: v1.RunComplete}}
	if got := jobs.Names(jobs.Settle([]jobs.Run{again}, noted), noted); got["web-release"] != "web-release-1" {
		t.Errorf("a run that is complete has another name after a restart: %v", got)
	}
	noted[0].Result = v1.RunFailed
	if got := jobs.Names(jobs.Settle([]jobs.Run{again}, noted), noted); len(got) > 0 {
		t.Errorf("a run that failed is not made again after a restart: %v", got)
	}
}
