package history

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/release"
)

const digest = "0123456789abcdef01234567" + "89abcdef"

// tasked is a record of a release with a release task, and of another Job that runs once.
func tasked(t *testing.T) *Revision {
	t.Helper()
	task, other := object("Job", "web-release-1", "a"), object("Job", "web-other-1", "a")
	for _, job := range []*unstructured.Unstructured{task, other} {
		job.SetAPIVersion("batch/v1")
		job.SetAnnotations(map[string]string{v1.AnnotationRerun: "image"})
	}
	task.SetAnnotations(map[string]string{v1.AnnotationRerun: "image", v1.AnnotationStage: "before"})
	return &Revision{Runs: []v1.RunStatus{{Job: "web-other-1", Digest: "other"}, {Job: "web-release-1", Digest: digest}},
		recorded: &release.Recorded{Objects: []*unstructured.Unstructured{task, other}, Release: &helmrelease.Release{}}}
}

func TestTheReleaseTaskOfARecord(t *testing.T) {
	require.Equal(t, []string{"web-release-1"}, tasked(t).taskNames())
	require.Equal(t, []string{digest[:24]}, tasked(t).ranCommands())
	require.Empty(t, (&Revision{}).ranCommands(), "of a record that cannot be read")
}

func TestUndoKnowsTheReleaseTask(t *testing.T) {
	record := secret(t, made{1, helmrelease.StatusSuperseded, "1.0.0", 1, "x", "a"})
	var source map[string]any
	require.NoError(t, json.Unmarshal(record.Data["resource"], &source))
	source["runs"] = []v1.RunStatus{{Job: "web-release-1", Digest: digest, Result: v1.RunComplete}}
	var err error
	record.Data["resource"], err = json.Marshal(source)
	require.NoError(t, err)
	list := listed(t, record, secret(t, made{2, helmrelease.StatusDeployed, "1.0.0", 2, "x", "b"}))
	require.Len(t, list[0].Runs, 1)
	plan, err := PlanUndo(reporting(app("b"), 2), list, 1)
	require.NoError(t, err)
	require.False(t, plan.HasTask, "no record has a Job of the stage before")
	list[1].recorded = tasked(t).recorded
	plan, err = PlanUndo(reporting(app("b"), 2), list, 1)
	require.NoError(t, err)
	require.True(t, plan.HasTask, "the newest release has one")
	require.Empty(t, plan.RanCommands)
	list[0].recorded.Objects = tasked(t).recorded.Objects
	plan, err = PlanUndo(reporting(app("b"), 2), list, 1)
	require.NoError(t, err)
	require.Equal(t, []string{digest[:24]}, plan.RanCommands)
}

// The annotation is written with the spec, beside what others annotate meanwhile.
func TestUndoWritesTheAnnotationBesideOthers(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, v1.AddToScheme(scheme))
	const key = v1.AnnotationSkipTask
	for name, test := range map[string]struct {
		read      map[string]string
		skip      string
		meanwhile map[string]string // nil for none
		want      map[string]string
		changed   bool
	}{
		"the first":                       {nil, "a", nil, map[string]string{key: "a"}, false},
		"the first, and others came":      {nil, "a", map[string]string{"x": "y"}, map[string]string{"x": "y"}, true},
		"beside another":                  {map[string]string{"x": "y"}, "a", nil, map[string]string{"x": "y", key: "a"}, false},
		"beside another that was changed": {map[string]string{"x": "y"}, "a", map[string]string{"x": "z", "u": "v"}, map[string]string{"x": "z", "u": "v", key: "a"}, false},
		"in place of one":                 {map[string]string{key: "b"}, "a", nil, map[string]string{key: "a"}, false},
		"the same":                        {map[string]string{key: "a"}, "a", nil, map[string]string{key: "a"}, false},
		"none, and none was there":        {map[string]string{"x": "y"}, "", nil, map[string]string{"x": "y"}, false},
		"none, one was there":             {map[string]string{key: "b", "x": "y"}, "", nil, map[string]string{"x": "y"}, false},
		"none, and it went":               {map[string]string{key: "b", "x": "y"}, "", map[string]string{"x": "y"}, map[string]string{"x": "y"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			stored := app("b")
			stored.SetAnnotations(test.read)
			server := fake.NewClientBuilder().WithScheme(scheme).WithObjects(stored).Build()
			read := func() *unstructured.Unstructured {
				resource := app("")
				require.NoError(t, server.Get(t.Context(), client.ObjectKeyFromObject(resource), resource))
				return resource
			}
			plan := &Undo{Resource: read()}
			require.NoError(t, unstructured.SetNestedField(plan.Resource.Object, "a", "spec", "image"))
			plan.Skip(test.skip)
			if test.meanwhile != nil {
				now := read()
				now.SetAnnotations(test.meanwhile)
				require.NoError(t, server.Update(t.Context(), now))
			}
			err := plan.Write(t.Context(), server, "kubectl-appservice", false)
			image, _, _ := unstructured.NestedString(read().Object, "spec", "image")
			if (err != nil) != test.changed || test.changed && (err != ErrChanged || image != "b") || !test.changed && image != "a" { //nolint:errorlint // it is not wrapped
				t.Errorf("the error is %v, the image %s", err, image)
			}
			if got := read().GetAnnotations(); !maps.Equal(got, test.want) {
				t.Errorf("the annotations are %v", got)
			}
		})
	}
}

// A source that a GitOps tool applies has the annotation, too.
func TestASourceNamesTheTaskThatIsSkipped(t *testing.T) {
	plan := &Undo{Resource: app("a")}
	plan.Skip(digest[:24])
	require.Equal(t, map[string]string{v1.AnnotationSkipTask: digest[:24]}, SourceOf(plan.Resource).GetAnnotations())
}
