package importer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// adaptPods renames and moves parts of the pods that have another name or place in the pods of an AppService.
func (s *subject) adaptPods() {
	pod := &s.template.Spec
	at := s.mainIndex()
	if name := pod.Containers[at].Name; name != mainContainer {
		s.note(describe(s.workload), templatePath("containers["+name+"].name"),
			fmt.Sprintf("it becomes %s, as the main container of every AppService", mainContainer),
			"write -c app where commands name it")
		pod.Containers[at].Name = mainContainer
	}
	if at > 0 {
		pod.Containers[0], pod.Containers[at] = pod.Containers[at], pod.Containers[0]
	}
	var sidecars []corev1.Container
	for _, c := range pod.Containers[1:] {
		c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
		sidecars = append(sidecars, c)
		s.note(describe(s.workload), templatePath("containers["+c.Name+"]"),
			"it becomes a sidecar, which starts before the main container and stops after it",
			"move it from spec.sidecars to spec.podTemplate.spec.containers if it has to start after it")
	}
	pod.Containers = pod.Containers[:1]
	s.noteAffinity()
	s.adaptInit(sidecars)
	s.adaptVolumes()
}

// noteAffinity adds a note on affinity to the workload's own pods, which may have other labels then.
func (s *subject) noteAffinity() {
	if s.template.Spec.Affinity == nil {
		return
	}
	text := inJSON(s.template.Spec.Affinity)
	for _, key := range slices.Sorted(maps.Keys(selecting(s.name))) {
		if value := s.template.Labels[key]; value != "" && value != selecting(s.name)[key] &&
			strings.Contains(text, inJSON(key)) && strings.Contains(text, inJSON(value)) {
			s.note(describe(s.workload), templatePath("affinity"),
				"it names the label "+key+"="+value+", which pods of a new AppService do not have",
				"change it to "+selecting(s.name)[key]+", unless the AppService adopts what runs, which keeps these labels")
		}
	}
}

// adaptInit moves sidecars before init containers, as an AppService does.
func (s *subject) adaptInit(sidecars []corev1.Container) {
	var waiting []corev1.Container
	moved := false
	for _, c := range s.template.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			moved = moved || len(waiting) > 0
			sidecars = append(sidecars, c)
			continue
		}
		waiting = append(waiting, c)
	}
	if moved {
		s.note(describe(s.workload), templatePath("initContainers"), "sidecars start before the init containers",
			"check that none needs what an init container does")
	}
	s.template.Spec.InitContainers = slices.Concat(sidecars, waiting)
}

// adaptVolumes removes volumes that no AppService may have: folders of the node.
func (s *subject) adaptVolumes() {
	pod := &s.template.Spec
	pod.Volumes = slices.DeleteFunc(slices.Clone(pod.Volumes), func(v corev1.Volume) bool {
		if v.HostPath == nil {
			return false
		}
		s.note(describe(s.workload), templatePath("volumes["+v.Name+"]"),
			"a folder of the node (hostPath) is below Pod Security Baseline, which holds for every AppService: it is left out, with its mounts",
			"use another kind of volume, or keep this workload as it is")
		for _, list := range [][]corev1.Container{pod.Containers, pod.InitContainers} {
			for n := range list {
				list[n].VolumeMounts = slices.DeleteFunc(slices.Clone(list[n].VolumeMounts),
					func(m corev1.VolumeMount) bool { return m.Name == v.Name })
			}
		}
		return true
	})
	if s.claim != nil {
		s.renameVolume(s.claimVolume(), dataVolume)
	}
}

func (s *subject) renameVolume(from, to string) {
	if from == to {
		return
	}
	s.note(describe(s.workload), templatePath("volumes["+from+"].name"),
		"it becomes "+to+", as the volume that spec.persistence makes", "")
	pod := &s.template.Spec
	pod.Volumes = slices.Clone(pod.Volumes)
	for n := range pod.Volumes {
		if pod.Volumes[n].Name == from {
			pod.Volumes[n].Name = to
		}
	}
	for n := range pod.Containers[0].VolumeMounts {
		if pod.Containers[0].VolumeMounts[n].Name == from {
			pod.Containers[0].VolumeMounts[n].Name = to
		}
	}
}

func templatePath(field string) string { return "spec.template.spec." + field }

// portOf returns the number of the container port that a port of a Service targets.
func portOf(c *corev1.Container, entry corev1.ServicePort) (int32, bool) {
	target := cmp.Or(entry.TargetPort, intstr.FromInt32(entry.Port))
	protocol := cmp.Or(entry.Protocol, corev1.ProtocolTCP)
	for _, port := range c.Ports {
		if cmp.Or(port.Protocol, corev1.ProtocolTCP) == protocol &&
			(target.Type == intstr.String && port.Name == target.StrVal ||
				target.Type == intstr.Int && port.ContainerPort == target.IntVal) {
			return port.ContainerPort, true
		}
	}
	return 0, false
}
