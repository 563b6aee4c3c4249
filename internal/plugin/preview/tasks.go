package preview

import (
	"cmp"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/jobs"
	"github.com/example/appservice-operator/internal/engine/text"
)

// taskConsequences says of each Job of the stage `before` whether the change makes it run.
func taskConsequences(before, after Outcome) []Consequence {
	var list []Consequence
	for _, run := range after.Runs {
		switch {
		case !run.Before:
		case run.Due(before.RecordedRuns):
			list = append(list, Consequence{Runs, "the release task WILL run: " + commandOf(run, after)})
		default:
			list = append(list, Consequence{Rests, "the release task does not run" + because(run, before)})
		}
	}
	return list
}

// because says why a task does not run, if that is not that it has run.
func because(run jobs.Run, before Outcome) string {
	if run.Skipped {
		return ": the annotation " + v1.AnnotationSkipTask + " names it"
	}
	settled := run.Settled(before.RecordedRuns)
	for _, known := range before.RecordedRuns {
		switch {
		case known.Digest != settled.Digest:
		case known.Result == v1.RunFailed || known.Result == v1.RunUnknown:
			return " again: it failed, and kubectl appservice restart runs it again"
		case known.Result == "":
			return " again: it runs now"
		}
	}
	return ""
}

// commandOf returns the command of the Job that a rendering has for a run, without arguments, which may be secret; the
// name of the Job if the image decides.
func commandOf(run jobs.Run, of Outcome) string {
	for _, object := range of.Objects {
		job := kube.As[batchv1.Job](object)
		if job == nil || !jobs.RunsOnce(object) || !run.Named(job.Name) || len(job.Spec.Template.Spec.Containers) == 0 {
			continue
		}
		return cmp.Or(text.Line(strings.Join(job.Spec.Template.Spec.Containers[0].Command, " ")), "Job "+job.Name)
	}
	return "Job " + run.Name("")
}
