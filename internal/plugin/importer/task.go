package importer

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/stage"
)

// hookWeight is the annotation by which Helm orders hooks of one event.
const hookWeight = "helm.sh/hook-weight"

// defaultRetries is the API server's default of a Job's backoffLimit.
const defaultRetries = 6

// isEarlyHook reports whether an object is a hook that Helm runs before it changes anything, which the stage before
// takes the place of.
func isEarlyHook(object *unstructured.Unstructured) bool {
	return stage.OfHook(object.GetAnnotations()[hookAnnotation]) == stage.Before
}

// takeTask chooses the Job that becomes spec.release: the first hook before installs and upgrades that has the image of
// this workload, and of no other one.
func (s *subject) takeTask() {
	image := s.container().Image
	if s.world.sharing(image) > 1 {
		return
	}
	var found []pair[batchv1.Job]
	for _, object := range s.world.objects {
		if object.GetKind() != "Job" || groupOf(object) != batchv1.GroupName || !isEarlyHook(object) {
			continue
		}
		job, err := as[batchv1.Job](object)
		if err != nil {
			continue
		}
		if containers := job.Spec.Template.Spec.Containers; len(containers) == 1 && containers[0].Image == image {
			found = append(found, pair[batchv1.Job]{object, job})
		}
	}
	slices.SortStableFunc(found, func(a, b pair[batchv1.Job]) int { return cmp.Compare(weightOf(a), weightOf(b)) })
	s.chooseTask(found)
}

// sharing counts the workloads that have a container with an image.
func (w *world) sharing(image string) int {
	count := 0
	for _, object := range w.workloads {
		if object.GetKind() != "Job" && object.GetKind() != "CronJob" && slices.ContainsFunc(podTemplate(object).Spec.Containers,
			func(c corev1.Container) bool { return c.Image == image }) {
			count++
		}
	}
	return count
}

func weightOf(job pair[batchv1.Job]) int {
	weight, _ := strconv.Atoi(job.object.GetAnnotations()[hookWeight]) // 0 without one, as for Helm
	return weight
}

// chooseTask takes the first Job that has a command, and puts the others aside.
func (s *subject) chooseTask(found []pair[batchv1.Job]) {
	for _, job := range found {
		switch {
		case len(job.read.Spec.Template.Spec.Containers[0].Command) == 0:
			s.aside(job.object, "it has no command, which spec.release needs in place of the image's entry point",
				"write spec.release with that entry point as its command")
		case s.task != nil:
			s.aside(job.object, "an AppService has one release task, which is made of another hook",
				"run both by one command, or in a chart of your own with the annotation "+v1.AnnotationStage+": before")
		default:
			s.task = &job
			s.take(job.object)
			s.note(describe(job.object), "", "it becomes spec.release: it runs once for each change of image, config, envs, envFrom or of "+
				"its own fields, before any pod of the new version, and not again with each helm upgrade",
				"nothing to do, if it may be skipped when nothing of these changes")
		}
	}
}

// taskPieces returns the pieces of spec.release, its command first.
func (s *subject) taskPieces() []piece {
	if s.task == nil {
		return nil
	}
	job := &s.task.read.Spec
	main := &job.Template.Spec.Containers[0]
	from := func(field string) source { return source{describe(s.task.object), field} }
	part := func(spec *v1.AppServiceSpec) *v1.ReleaseTask { return made(&spec.Release) }
	list := same(func(field string) source { return from(templatePath("containers[release]." + field)) }, main, part,
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

// made returns the rendered objects of a resource that are compared: the copies that its release task has of its
// configuration and of its NetworkPolicy are none of them.
func (i *Importer) made(ctx context.Context, app *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	rendered, err := i.Render(ctx, app)
	return slices.DeleteFunc(slices.Clone(rendered), func(object *unstructured.Unstructured) bool {
		return stage.Of(object) == stage.Before && object.GetKind() != "Job"
	}), err
}
