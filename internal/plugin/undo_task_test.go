package plugin

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/jobs"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/plugin/history"
	"github.com/example/appservice-operator/internal/plugin/preview"
)

// restoring is a plan to go back to an AppService with a release task, while the status reports the chart and the runs.
func restoring(chartDigest string, noted ...any) *history.Undo {
	resource := kube.Object(appServices)
	resource.SetNamespace("shop")
	resource.SetName("web")
	resource.SetAnnotations(map[string]string{"note": "ours"})
	resource.Object["spec"] = map[string]any{"image": "shop:1", "release": map[string]any{"command": []any{"migrate"}}}
	resource.Object["status"] = map[string]any{"runs": noted,
		"release": map[string]any{"revision": int64(2), "chartDigest": chartDigest}}
	return &history.Undo{To: 1, Resource: resource, Changes: []string{"spec.image shop:2 → shop:1"}, HasTask: true}
}

// builtIn returns the digest of the built-in chart of AppServices, and what a release task runs as that renders it.
func builtIn(t *testing.T, resource *unstructured.Unstructured) (chartDigest, task string) {
	t.Helper()
	charts, err := chartsIn("")
	require.NoError(t, err)
	renderer := charts.Renderers[appServices]
	draft, err := renderer.Draft(t.Context(), render.Input{Resource: resource, Capabilities: preview.Serving(charts)})
	require.NoError(t, err)
	require.Len(t, draft.Runs, 1)
	return livestate.ShortDigest(renderer.Identity().Digest), jobs.ContentPart(draft.Runs[0].Digest)
}

func TestUndoLeavesTheReleaseTaskOut(t *testing.T) {
	t.Parallel()
	chart, task := builtIn(t, restoring("").Resource)
	const recorded = "0123456789abcdef01234567"
	ran := func(what, result string) any {
		return map[string]any{"job": "web-release-1", "digest": what + "00000000", "result": result}
	}
	for name, test := range map[string]struct {
		chart  string
		ran    []string // as the record notes it
		noted  any
		change func(*history.Undo)
		run    bool
		want   string // the annotation
		says   string
	}{
		"the operator's chart is built in":    {chart: chart, noted: ran("other", "Complete"), want: task, says: taskRests},
		"the record says the same":            {chart: chart, ran: []string{task}, noted: ran("other", "Complete"), want: task, says: taskRests},
		"the record says something else":      {chart: chart, ran: []string{recorded}, noted: ran("other", "Complete"), want: recorded + "," + task, says: taskRests},
		"another chart, so the record":        {chart: "another", ran: []string{recorded}, noted: ran("other", "Complete"), want: recorded, says: taskRests},
		"nobody knows":                        {chart: "another", noted: ran("other", "Complete")},
		"it is the last that ran":             {chart: chart, noted: ran(task, "Complete")},
		"it is the last that ran, and failed": {chart: chart, noted: ran(task, "Failed"), want: task, says: taskRests},
		"it is asked for":                     {chart: chart, noted: ran("other", "Complete"), run: true, says: taskRuns},
		"it is asked for, and would not run":  {chart: chart, noted: ran(task, "Complete"), run: true},
		"there is no task":                    {chart: chart, noted: ran("other", "Complete"), change: func(u *history.Undo) { u.HasTask = false }},
		"nothing changes":                     {chart: chart, noted: ran("other", "Complete"), change: func(u *history.Undo) { u.Changes = nil }},
		"the restored spec has none": {chart: chart, noted: ran("other", "Complete"), change: func(u *history.Undo) {
			u.Resource.Object["spec"] = map[string]any{"image": "shop:1"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := restoring(test.chart, test.noted)
			plan.RanCommands = test.ran
			if test.change != nil {
				test.change(plan)
			}
			says, err := planTask(t.Context(), plan, test.run)
			require.NoError(t, err)
			require.Equal(t, test.says, says)
			require.Equal(t, test.want, plan.Resource.GetAnnotations()[v1.AnnotationSkipTask])
			require.Equal(t, "ours", plan.Resource.GetAnnotations()["note"])
		})
	}
}
