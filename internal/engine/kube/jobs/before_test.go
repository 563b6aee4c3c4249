package jobs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/stage"
)

// before identifies a Job of the stage before, of an image.
func before(t *testing.T, image string, annotations map[string]string) Run {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "batch/v1", "kind": "Job"}}
	object.SetName("migrate")
	object.SetAnnotations(map[string]string{v1.AnnotationRerun: "image", v1.AnnotationStage: string(stage.Before)})
	resource := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"image": image}}}
	resource.SetAnnotations(annotations)
	run, err := Of(object, resource, nil)
	require.NoError(t, err)
	return run
}

func requested(value string) map[string]string {
	return map[string]string{v1.AnnotationRestartedAt: value}
}

// A successful run never runs again, whoever requests it; a failed one runs again for each new request.
func TestARunOfTheStageBeforeIsSettled(t *testing.T) {
	first, again := before(t, "migrate:1", nil), before(t, "migrate:1", requested("now"))
	require.NotEqual(t, first.Digest, again.Digest)
	require.Equal(t, first.contentPart(), again.contentPart())
	require.NotEqual(t, first.Name(""), again.Name(""), "the Job that failed still has the name")
	other := before(t, "migrate:2", nil)
	for name, test := range map[string]struct {
		noted v1.RunStatus
		want  string
	}{
		"it was complete":                 {v1.RunStatus{Digest: first.Digest, Result: v1.RunComplete}, first.Digest},
		"it was skipped":                  {v1.RunStatus{Digest: first.Digest, Result: v1.RunSkipped}, first.Digest},
		"it still runs":                   {v1.RunStatus{Digest: first.Digest, UID: "1"}, first.Digest},
		"it failed before the request":    {v1.RunStatus{Digest: first.Digest, Result: v1.RunFailed}, again.Digest},
		"it was gone before its end":      {v1.RunStatus{Digest: first.Digest, Result: v1.RunUnknown}, again.Digest},
		"it failed since the request":     {v1.RunStatus{Digest: again.Digest, Result: v1.RunFailed}, again.Digest},
		"another one was complete":        {v1.RunStatus{Digest: other.Digest, Result: v1.RunComplete}, again.Digest},
		"a digest of another form":        {v1.RunStatus{Digest: first.contentPart(), Result: v1.RunComplete}, again.Digest},
		"the name says nothing about one": {v1.RunStatus{Job: again.Name(""), Digest: other.Digest}, again.Digest},
	} {
		if got := again.Settled([]v1.RunStatus{test.noted}); got.Digest != test.want {
			t.Errorf("%s: got %s, want %s", name, got.Digest, test.want)
		}
	}
}

// Jobs of other stages run again on request, whatever they came to.
func TestARunOfAnotherStageIsNeverSettled(t *testing.T) {
	const fields = "image"
	first, again := identify(t, fields, "{}", "{image: x}", ""), identify(t, fields, "{}", "{image: x}", "now")
	noted := []v1.RunStatus{{Digest: first.Digest, Result: v1.RunComplete}}
	if got := again.Settled(noted); got.Digest != again.Digest {
		t.Errorf("it is taken for %s", got.Digest)
	}
}

func TestWhatARequestToRunAgainRepeats(t *testing.T) {
	again := before(t, "migrate:1", requested("now"))
	for image, want := range map[string]bool{"migrate:1": true, "migrate:2": false} {
		if again.Repeats(map[string]any{"image": image}, "earlier") != want {
			t.Errorf("that it repeats the release of %s is %t", image, !want)
		}
	}
}

func TestARunIsSkippedIfTheAnnotationNamesIt(t *testing.T) {
	digest := before(t, "migrate:1", nil).Digest
	failed := before(t, "migrate:1", requested("now")).Digest
	for name, test := range map[string]struct {
		value string
		want  bool
	}{
		"its digest":                    {digest, true},
		"that of an earlier request":    {failed, true},
		"what it runs, without more":    {digest[:contentLength], true},
		"less than that":                {digest[:contentLength-1], false},
		"nothing":                       {"", false},
		"another digest":                {before(t, "migrate:2", nil).Digest, false},
		"a word, as somebody guesses":   {"true", false},
		"among others":                  {"other, " + digest, true},
		"as many other characters":      {strings.Repeat("0", digestLength), false},
		"the digest in capital letters": {strings.ToUpper(digest), digest == strings.ToUpper(digest)},
	} {
		run := before(t, "migrate:1", map[string]string{v1.AnnotationSkipTask: test.value})
		if run.Skipped != test.want {
			t.Errorf("%s: that it is skipped is %t", name, run.Skipped)
		}
		if run.Digest != digest {
			t.Errorf("%s: the digest is another one, %s", name, run.Digest)
		}
	}
}

// The annotation is for the stage before: other Jobs follow the running ones.
func TestNoJobOfAnotherStageIsSkipped(t *testing.T) {
	run := identify(t, "image", "{}", "{image: x}", "")
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "batch/v1", "kind": "Job"}}
	object.SetName("migrate")
	object.SetAnnotations(map[string]string{v1.AnnotationRerun: "image", v1.AnnotationStage: string(stage.After)})
	resource := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"image": "x"}}}
	resource.SetAnnotations(map[string]string{v1.AnnotationSkipTask: run.Digest})
	got, err := Of(object, resource, nil)
	require.NoError(t, err)
	if got.Skipped || got.Before || got.Digest != run.Digest {
		t.Errorf("got %+v", got)
	}
}
