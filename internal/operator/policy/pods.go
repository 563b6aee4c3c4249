package policy

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
)

// pod checks the fields of pods that Pod Security does not cover.
func (c *check) pod(pod *corev1.PodSpec) {
	if patched, there := c.object.GetAnnotations()[v1.AnnotationPatched]; there && !*c.PodTemplate {
		c.refuse("spec.podTemplate", patched, "podTemplate", "is false: it may not be used", true)
	}
	for i := range pod.Volumes {
		c.volume(&pod.Volumes[i])
	}
	if class := pod.PriorityClassName; class != "" {
		c.allowed("priorityClassName", class, "priorityClasses", c.PriorityClasses, c.PriorityClasses.Allow(class))
	}
	for i, toleration := range pod.Tolerations {
		if path := fmt.Sprintf("tolerations[%d]", i); !c.Tolerations.Allow(toleration.Key) {
			c.refuse(path, cmp.Or(toleration.Key, "of every taint"), "tolerations", "allows "+shown(c.Tolerations),
				missing(toleration.Key))
		}
	}
	if pod.NodeName != "" && !*c.NodeNames {
		c.refuse("nodeName", pod.NodeName, "nodeNames", "is false: choose nodes by labels, which the scheduler reads", true)
	}
	if class := ptr.Deref(pod.RuntimeClassName, ""); class != "" {
		c.allowed("runtimeClassName", class, "runtimeClasses", c.RuntimeClasses, c.RuntimeClasses.Allow(class))
	}
	if name := pod.SchedulerName; name != "" {
		c.allowed("schedulerName", name, "schedulers", c.Schedulers, c.Schedulers.Allow(name))
	}
	if ptr.Deref(pod.HostUsers, false) && !*c.HostUsers {
		c.refuse("hostUsers", "true", "hostUsers", "is false: leave it out", true)
	}
	c.affinity(pod.Affinity)
	c.termination(pod)
	for _, list := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
		for i := range list {
			c.image(fmt.Sprintf("containers[%s].image", list[i].Name), list[i].Image)
		}
	}
}

// volume checks the type of a volume, and its size.
func (c *check) volume(volume *corev1.Volume) {
	path := fmt.Sprintf("volumes[%s]", volume.Name)
	kind := typeOf(volume)
	c.allowed(path, kind, "volumeTypes", c.VolumeTypes, kind == "" || c.VolumeTypes.Allow(kind))
	if csi := volume.CSI; csi != nil && csi.NodePublishSecretRef != nil && c.VolumeTypes.Allow(kind) {
		c.allowed(path, withSecret, "volumeTypes", c.VolumeTypes, c.VolumeTypes.Allow(withSecret))
	}
	if empty := volume.EmptyDir; empty != nil && empty.SizeLimit != nil {
		c.storage(path+".emptyDir.sizeLimit", *empty.SizeLimit)
	}
	if volume.Image != nil {
		c.image(path+".image.reference", volume.Image.Reference)
	}
}

// typeOf returns the name of the field that a volume has; empty for none.
func typeOf(volume *corev1.Volume) string {
	source := reflect.ValueOf(volume.VolumeSource)
	for i := range source.NumField() {
		if !source.Field(i).IsNil() {
			name, _, _ := strings.Cut(source.Type().Field(i).Tag.Get("json"), ",")
			return name
		}
	}
	return ""
}

func (c *check) image(path, image string) {
	if !c.Registries.Allow(image) {
		c.refuse(path, image, "registries", "allows "+shown(c.Registries), missing(repository(image)))
	}
	if *c.RequireDigests && !strings.Contains(image, "@sha256:") {
		c.refuse(path, image, "requireDigests", "is true: name it with its digest, as in nginx@sha256:…", false)
	}
}
