package read

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
)

// Workload is an object with pods, or a Job, as it is read.
type Workload struct {
	Object *unstructured.Unstructured
	// One of the three is set: a ReplicaSet, for example, is read as a Deployment, and a Job as a CronJob.
	Deployment *appsv1.Deployment
	Stateful   *appsv1.StatefulSet
	Cron       *batchv1.CronJob
	Template   *corev1.PodTemplateSpec
	Selector   *metav1.LabelSelector
}

// AsWorkload reads a workload, which has to have a container.
func AsWorkload(object *unstructured.Unstructured) (*Workload, error) {
	w := &Workload{Object: object}
	if err := w.read(); err != nil {
		return nil, err
	}
	if len(w.Template.Spec.Containers) == 0 {
		return nil, fmt.Errorf("%s has no container", Describe(object))
	}
	if w.Template.Spec.ServiceAccountName == "" {
		w.Template.Spec.ServiceAccountName = w.Template.Spec.DeprecatedServiceAccount
	}
	return w, nil
}

// read reads the workload as one of three kinds.
func (w *Workload) read() (err error) {
	of := w.Object
	switch of.GetKind() {
	case "StatefulSet":
		w.Stateful, err = As[appsv1.StatefulSet](of)
		w.Template, w.Selector = &w.Stateful.Spec.Template, orLabels(w.Stateful.Spec.Selector, w.Stateful.Spec.Template)
		return err
	case "CronJob":
		w.Cron, err = As[batchv1.CronJob](of)
	case "Job":
		var job *batchv1.Job
		job, err = As[batchv1.Job](of)
		w.Cron = &batchv1.CronJob{Spec: batchv1.CronJobSpec{JobTemplate: batchv1.JobTemplateSpec{Spec: job.Spec}}}
	case "Pod":
		w.ofPod()
		_, err = As[corev1.Pod](of)
	case "ReplicationController":
		var old *corev1.ReplicationController
		old, err = As[corev1.ReplicationController](of)
		w.Deployment = &appsv1.Deployment{}
		w.Deployment.Spec.Replicas, w.Deployment.Spec.MinReadySeconds = old.Spec.Replicas, old.Spec.MinReadySeconds
		if len(old.Spec.Selector) > 0 {
			w.Deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: old.Spec.Selector}
		}
		if old.Spec.Template != nil {
			w.Deployment.Spec.Template = *old.Spec.Template
		}
	default:
		w.Deployment, err = As[appsv1.Deployment](of)
	}
	if w.Cron != nil {
		w.Template = &w.Cron.Spec.JobTemplate.Spec.Template
		w.Selector = orLabels(nil, *w.Template)
	} else {
		w.Template, w.Selector = &w.Deployment.Spec.Template, orLabels(w.Deployment.Spec.Selector, w.Deployment.Spec.Template)
	}
	return err
}

// ofPod reads a Pod as a Deployment, or as a Job if it ends.
func (w *Workload) ofPod() {
	template := *PodTemplate(w.Object)
	policy := template.Spec.RestartPolicy
	if policy == corev1.RestartPolicyNever || policy == corev1.RestartPolicyOnFailure {
		w.Cron = &batchv1.CronJob{}
		w.Cron.Spec.JobTemplate.Spec.Template = template
		w.Cron.Spec.JobTemplate.Spec.BackoffLimit = new(int32)
		return
	}
	w.Deployment = &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Template: template}}
}

// orLabels returns a selector, by default the labels of the pods, as in manifests of apps/v1beta1.
func orLabels(selector *metav1.LabelSelector, template corev1.PodTemplateSpec) *metav1.LabelSelector {
	return cmp.Or(selector, &metav1.LabelSelector{MatchLabels: template.Labels})
}

// JobKind is the kind of resource that Jobs become.
const JobKind = "AppJob"

// Kind is that of the resource that it becomes.
func (w *Workload) Kind() string {
	if w.Cron != nil {
		return JobKind
	}
	return v1.Kind
}

// Namespace is that of the object.
func (w *Workload) Namespace() string { return w.Object.GetNamespace() }

// EachContainer calls do for all containers.
func (w *Workload) EachContainer(do func(*corev1.Container)) {
	for _, list := range [][]corev1.Container{w.Template.Spec.Containers, w.Template.Spec.InitContainers} {
		for n := range list {
			do(&list[n])
		}
	}
}

// Uses reports whether a container has a volume, as files or as a device.
func (w *Workload) Uses(volume string) (found bool) {
	w.EachContainer(func(c *corev1.Container) {
		found = found || slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == volume }) ||
			slices.ContainsFunc(c.VolumeDevices, func(d corev1.VolumeDevice) bool { return d.Name == volume })
	})
	return found
}

// Injected reports whether a volume is that of the account's token, which the API server adds to each Pod.
func (w *Workload) Injected(volume string) bool {
	return w.Object.GetKind() == "Pod" && strings.HasPrefix(volume, "kube-api-access-")
}

// Claimed reports whether a claim of the replica takes the place of a volume.
func (w *Workload) Claimed(volume string) bool {
	return w.Stateful != nil && slices.ContainsFunc(w.Stateful.Spec.VolumeClaimTemplates,
		func(c corev1.PersistentVolumeClaim) bool { return c.Name == volume })
}

// Stamped reports whether an AppService rendered the workload.
func (w *Workload) Stamped() bool { return w.Object.GetAnnotations()[v1.AnnotationStamp] != "" }
