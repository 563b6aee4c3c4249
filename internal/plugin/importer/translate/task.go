package translate

import (
	"cmp"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/stage"
	"github.com/example/appservice-operator/internal/plugin/importer/read"
)

// hookWeight is the annotation by which Helm orders hooks of one event.
const hookWeight = "helm.sh/hook-weight"

// defaultRetries is the API server's default of a Job's backoffLimit.
const defaultRetries = 6

// isEarlyHook reports whether an object is a hook that Helm runs before it changes anything, which the stage `before`
// takes the place of.
func isEarlyHook(object *unstructured.Unstructured) bool {
	return stage.OfHook(object.GetAnnotations()[read.HookAnnotation]) == stage.Before
}

// takeTask chooses the Job that becomes spec.release: the first hook before installs and upgrades that has the image of
// this workload, and of no other one.
func (a *Application) takeTask() {
	image := a.container().Image
	if a.Objects.Sharing(image) > 1 {
		return
	}
	var found []read.Pair[batchv1.Job]
	for _, object := range a.Objects.All {
		if object.GetKind() != "Job" || read.GroupOf(object) != batchv1.GroupName || !isEarlyHook(object) {
			continue
		}
		job, err := read.As[batchv1.Job](object)
		if err != nil {
			continue
		}
		if containers := job.Spec.Template.Spec.Containers; len(containers) == 1 && containers[0].Image == image {
			found = append(found, read.Pair[batchv1.Job]{Object: object, Read: job})
		}
	}
	slices.SortStableFunc(found, func(a, b read.Pair[batchv1.Job]) int { return cmp.Compare(weightOf(a), weightOf(b)) })
	a.chooseTask(found)
}

func weightOf(job read.Pair[batchv1.Job]) int {
	weight, _ := strconv.Atoi(job.Object.GetAnnotations()[hookWeight]) // 0 without one, as for Helm
	return weight
}

// chooseTask takes the first Job that has a command, and puts the others aside.
func (a *Application) chooseTask(found []read.Pair[batchv1.Job]) {
	for _, job := range found {
		switch {
		case len(job.Read.Spec.Template.Spec.Containers[0].Command) == 0:
			a.aside(job.Object, "it has no command, which spec.release needs in place of the image's entry point",
				"write spec.release with that entry point as its command")
		case a.task != nil:
			a.aside(job.Object, "an AppService has one release task, which is made of another hook",
				"run both by one command, or in a chart of your own with the annotation "+v1.AnnotationStage+": before")
		default:
			a.task = &job
			a.take(job.Object)
			a.Notes.Add(read.Describe(job.Object), "", "it becomes spec.release: it runs once for each change of image, config, envs, envFrom or of "+
				"its own fields, before any pod of the new version, and not again with each helm upgrade",
				"nothing to do, if it may be skipped when nothing of these changes")
		}
	}
}

// taskPieces returns the pieces of spec.release, its command first.
func (a *Application) taskPieces() []piece {
	if a.task == nil {
		return nil
	}
	job := &a.task.Read.Spec
	main := &job.Template.Spec.Containers[0]
	from := func(field string) Source { return Source{read.Describe(a.task.Object), field} }
	part := func(spec *v1.AppServiceSpec) *v1.ReleaseTask { return made(&spec.Release) }
	list := same(func(field string) Source { return from(templatePath("containers[release]." + field)) }, main, part,
		"Command", "Args")
	if len(main.Resources.Limits)+len(main.Resources.Requests) > 0 {
		list = append(list, piece{from: from(templatePath("containers[release].resources")),
			set: func(spec *v1.AppServiceSpec) { part(spec).Resources = &main.Resources }})
	}
	if job.ActiveDeadlineSeconds != nil {
		list = append(list, piece{from: from("spec.activeDeadlineSeconds"),
			set: func(spec *v1.AppServiceSpec) { part(spec).TimeoutSeconds = job.ActiveDeadlineSeconds }})
	}
	retries := int32(defaultRetries)
	if job.BackoffLimit != nil {
		retries = *job.BackoffLimit
	}
	return append(list, piece{from: from("spec.backoffLimit"),
		set: func(spec *v1.AppServiceSpec) { part(spec).Retries = &retries }})
}
