package policy

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/example/appservice-operator/api/v1"
)

// pod checks the fields of pods that Pod Security does not cover.
func (c *check) pod(pod *corev1.PodSpec) {
	if patched, there := c.object.GetAnnotations()[v1.AnnotationPatched]; there && !*c.PodTemplate {
		c.refuse("spec.podTemplate", patched, "podTemplate", "is false: it may not be used")
	}
	for i := range pod.Volumes {
		c.volume(&pod.Volumes[i])
	}
	if class := pod.PriorityClassName; class != "" {
		c.allowed("priorityClassName", class, "priorityClasses", c.PriorityClasses, c.PriorityClasses.Allow(class))
	}
	for i, toleration := range pod.Tolerations {
		path, key := fmt.Sprintf("tolerations[%d]", i), cmp.Or(toleration.Key, "of every taint")
		c.allowed(path, key, "tolerations", c.Tolerations, c.Tolerations.Allow(toleration.Key))
	}
	if !*c.NodeNames {
		c.nodes(pod)
	}
	c.images(pod)
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

func (c *check) images(pod *corev1.PodSpec) {
	for _, list := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
		for i := range list {
			c.image(fmt.Sprintf("containers[%s].image", list[i].Name), list[i].Image)
		}
	}
}

func (c *check) image(path, image string) {
	c.allowed(path, image, "registries", c.Registries, c.Registries.Allow(image))
	if *c.RequireDigests && !strings.Contains(image, "@sha256:") {
		c.refuse(path, image, "requireDigests", "is true: name it with its digest, as in "+example)
	}
}

const example = "nginx@sha256:…"

// The labels of nodes that identify a single node, and the field.
const (
	hostname     = corev1.LabelHostname
	metadataName = "metadata.name"
)

// nodes refuses choosing nodes by name. Keeping pods apart or together by these labels chooses none.
func (c *check) nodes(pod *corev1.PodSpec) {
	const instead = "is false: choose nodes by other labels"
	if pod.NodeName != "" {
		c.refuse("nodeName", pod.NodeName, "nodeNames", instead)
	}
	if name, there := pod.NodeSelector[hostname]; there {
		c.refuse("nodeSelector["+hostname+"]", name, "nodeNames", instead)
	}
	if pod.Affinity == nil || pod.Affinity.NodeAffinity == nil {
		return
	}
	affinity := pod.Affinity.NodeAffinity
	if required := affinity.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		for i := range required.NodeSelectorTerms {
			c.nodeTerm("affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution", &required.NodeSelectorTerms[i], instead)
		}
	}
	for i := range affinity.PreferredDuringSchedulingIgnoredDuringExecution {
		c.nodeTerm("affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution", &affinity.PreferredDuringSchedulingIgnoredDuringExecution[i].Preference, instead)
	}
}

func (c *check) nodeTerm(path string, term *corev1.NodeSelectorTerm, instead string) {
	for _, each := range term.MatchFields {
		if each.Key == metadataName {
			c.refuse(path, each.Key, "nodeNames", instead)
		}
	}
	for _, each := range term.MatchExpressions {
		if each.Key == hostname && len(each.Values) > 0 {
			c.refuse(path, each.Key, "nodeNames", instead)
		}
	}
}
