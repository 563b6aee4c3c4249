package plugin

import (
	"context"
	"slices"
	"strings"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/jobs"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/operator/status"
	"github.com/example/appservice-operator/internal/plugin/history"
	"github.com/example/appservice-operator/internal/plugin/preview"
)

// Sentences of undo about the release task of the restored release, before it asks.
const (
	taskRests = "the release task does not run again (--run-task runs it); what a task has done, as the migration of a database, is not undone"
	taskRuns  = "the release task runs before anything else changes; what another one has done, as the migration of a database, is not undone"
)

// planTask decides whether the release task of the restored release runs, and returns a sentence about that; empty if
// there is none, or if it would not run anyway.
func planTask(ctx context.Context, plan *history.Undo, run bool) (string, error) {
	if run {
		plan.Skip("")
	}
	current, err := status.Of(plan.Resource)
	if err != nil || !plan.HasTask || len(plan.Changes) == 0 {
		return "", err
	}
	charts, err := chartsIn("")
	if err != nil {
		return "", err
	}
	tasks := slices.DeleteFunc(tasksOf(ctx, charts, plan, current.Release),
		func(task string) bool { return jobs.Ran(task, current.Runs) })
	switch {
	case len(tasks) == 0:
		return "", nil
	case run:
		return taskRuns, nil
	}
	plan.Skip(strings.Join(tasks, ","))
	return taskRests, nil
}

// tasksOf returns the commands of the release task of the restored spec: as the charts render it, if the operator has
// the same, and as the record of the restored release has it.
func tasksOf(ctx context.Context, charts *preview.Charts, plan *history.Undo, released *v1.ReleaseStatus) []string {
	tasks := slices.Clone(plan.RanCommands)
	renderer := charts.Renderers[plan.Resource.GroupVersionKind()]
	if renderer == nil || released == nil || livestate.ShortDigest(renderer.Identity().Digest) != released.ChartDigest {
		return tasks
	}
	draft, err := renderer.Draft(ctx, render.Input{Resource: plan.Resource, Capabilities: preview.Serving(charts)})
	if err != nil { // the API server or the operator says so, too
		return tasks
	}
	for _, run := range draft.Runs {
		if what := jobs.ContentPart(run.Digest); run.Before && !slices.Contains(tasks, what) {
			tasks = append(tasks, what)
		}
	}
	return tasks
}
