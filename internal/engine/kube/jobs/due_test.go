package jobs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
)

// taskOf returns what a Job of the stage before runs for an image, with annotations of the resource.
func taskOf(t *testing.T, image string, annotations map[string]string) Run {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "batch/v1", "kind": "Job", "spec": map[string]any{}}}
	object.SetName("shop-release")
	object.SetAnnotations(map[string]string{v1.AnnotationRerun: "image", v1.AnnotationStage: "before"})
	resource := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"image": image}}}
	resource.SetAnnotations(annotations)
	run, err := Of(object, resource, nil)
	require.NoError(t, err)
	return run
}

func TestWhichTasksAreSkipped(t *testing.T) {
	one, other := taskOf(t, "a", nil).Digest, taskOf(t, "b", nil).Digest
	for list, want := range map[string]bool{
		"": false, one: true, one[:24]: true, one[:23]: false, other: false, other + "," + one[:24]: true, other + ", " + one: true, ",": false,
	} {
		if got := taskOf(t, "a", map[string]string{v1.AnnotationSkipTask: list}).Skipped; got != want {
			t.Errorf("%q: %t, want %t", list, got, want)
		}
	}
}

func TestWhetherATaskIsDue(t *testing.T) {
	digest := taskOf(t, "a", nil).Digest
	for name, test := range map[string]struct {
		noted     v1.RunResult // of the same; none if there is only another run
		other     bool
		restarted string
		due       bool
	}{
		"another one has run":           {noted: v1.RunComplete, other: true, due: true},
		"it has run":                    {noted: v1.RunComplete},
		"it has run, pods restart":      {noted: v1.RunComplete, restarted: "now"},
		"it runs":                       {restarted: "now"},
		"it was skipped":                {noted: v1.RunSkipped},
		"it failed":                     {noted: v1.RunFailed},
		"it failed, and is asked for":   {noted: v1.RunFailed, restarted: "now", due: true},
		"nobody knows":                  {noted: v1.RunUnknown},
		"nobody knows, it is asked for": {noted: v1.RunUnknown, restarted: "now", due: true},
	} {
		t.Run(name, func(t *testing.T) {
			noted := []v1.RunStatus{{Job: "shop-release-1", Digest: digest, Result: test.noted}}
			if test.other {
				noted[0].Digest = taskOf(t, "b", nil).Digest
			}
			run := taskOf(t, "a", map[string]string{v1.AnnotationRestartedAt: test.restarted})
			if got := run.Due(noted); got != test.due {
				t.Errorf("got %t", got)
			}
			skipped := taskOf(t, "a", map[string]string{v1.AnnotationRestartedAt: test.restarted, v1.AnnotationSkipTask: digest})
			if skipped.Due(noted) {
				t.Error("it is due though it is skipped")
			}
		})
	}
}

func TestWhatADigestStandsFor(t *testing.T) {
	digest := taskOf(t, "a", nil).Digest
	again := taskOf(t, "a", map[string]string{v1.AnnotationRestartedAt: "now"}).Digest
	if ContentPart(digest) != ContentPart(again) || digest == again || !strings.HasPrefix(digest, ContentPart(digest)) || ContentPart("short") != "short" {
		t.Errorf("%s and %s", digest, again)
	}
	for result, want := range map[v1.RunResult]bool{"": true, v1.RunComplete: true, v1.RunSkipped: true, v1.RunFailed: false, v1.RunUnknown: false} {
		if got := Ran(ContentPart(again), []v1.RunStatus{{Digest: digest, Result: result}}); got != want {
			t.Errorf("%q: %t", result, got)
		}
	}
}
