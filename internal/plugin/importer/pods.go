package importer

import (
	"cmp"
	"fmt"
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
	s.clean()
	s.appArmor()
	s.renameContainer(pod.Containers[at].Name, mainContainer)
	pod.Containers[at].Name = mainContainer
	if at > 0 {
		pod.Containers[0], pod.Containers[at] = pod.Containers[at], pod.Containers[0]
	}
	var sidecars []corev1.Container
	for _, c := range pod.Containers[1:] {
		c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
		sidecars = append(sidecars, c)
	}
	pod.Containers = pod.Containers[:1]
	s.adaptInit(sidecars)
	s.adaptVolumes()
}

// eachContainer calls do for all containers.
func (s *subject) eachContainer(do func(*corev1.Container)) {
	for _, list := range [][]corev1.Container{s.template.Spec.Containers, s.template.Spec.InitContainers} {
		for n := range list {
			do(&list[n])
		}
	}
}

// clean drops what a later entry of the same list replaces, and what the API server adds to every Pod.
func (s *subject) clean() {
	s.eachContainer(func(c *corev1.Container) {
		c.Env = lastOf(c.Env, func(e corev1.EnvVar) string { return e.Name })
		c.Ports = lastOf(c.Ports, func(p corev1.ContainerPort) string {
			return fmt.Sprint(p.ContainerPort, cmp.Or(p.Protocol, corev1.ProtocolTCP))
		})
		for n := range c.Ports {
			s.noHostPort(c, n)
			c.Ports[n].Protocol = cmp.Or(c.Ports[n].Protocol, corev1.ProtocolTCP)
		}
		unmount(c, s.injected)
	})
	s.template.Spec.Volumes = slices.DeleteFunc(slices.Clone(s.template.Spec.Volumes),
		func(v corev1.Volume) bool { return s.injected(v.Name) || s.claimed(v.Name) })
}

// noHostPort leaves out a port of the node, without which the others can stay.
func (s *subject) noHostPort(c *corev1.Container, n int) {
	name := c.Name
	if n := s.mainIndex(); c == &s.template.Spec.Containers[n] {
		name = mainContainer
	}
	if port := &c.Ports[n]; port.HostPort != 0 || port.HostIP != "" {
		for _, field := range []string{".hostPort", ".hostIP"} {
			s.lose(templatePath("containers["+name+"]."+"ports["+portKey(port.ContainerPort, port.Protocol)+"]"+field),
				"a port of the node (hostPort) is below Pod Security Baseline, which holds for every "+s.kind()+": it is left out",
				"reach it by the Service, or keep this workload as it is")
		}
		port.HostPort, port.HostIP = 0, ""
	}
}

// portKey identifies a port of a container or Service: 80, or 53/UDP.
func portKey(number int32, protocol corev1.Protocol) string {
	if protocol == "" || protocol == corev1.ProtocolTCP {
		return fmt.Sprint(number)
	}
	return fmt.Sprintf("%d/%s", number, protocol)
}

// unmount removes the mounts of some volumes.
func unmount(c *corev1.Container, volume func(name string) bool) {
	c.VolumeMounts = slices.DeleteFunc(slices.Clone(c.VolumeMounts),
		func(m corev1.VolumeMount) bool { return volume(m.Name) })
}

// injected reports whether a volume is that of the account's token, which the API server adds to each Pod.
func (s *subject) injected(volume string) bool {
	return s.workload.GetKind() == "Pod" && strings.HasPrefix(volume, "kube-api-access-")
}

// claimed reports whether a claim of the replica takes the place of a volume.
func (s *subject) claimed(volume string) bool {
	return s.stateful != nil && slices.ContainsFunc(s.stateful.Spec.VolumeClaimTemplates,
		func(c corev1.PersistentVolumeClaim) bool { return c.Name == volume })
}

// lastOf returns a list without the entries whose key a later one has.
func lastOf[T any](list []T, key func(T) string) []T {
	var out []T
	for n, item := range list {
		if !slices.ContainsFunc(list[n+1:], func(later T) bool { return key(later) == key(item) }) {
			out = append(out, item)
		}
	}
	return out
}

// renameContainer renames a container where its resources are referred to.
func (s *subject) renameContainer(from, to string) {
	rename := func(ref *corev1.ResourceFieldSelector) {
		if ref != nil && ref.ContainerName == from {
			ref.ContainerName = to
		}
	}
	files := func(items []corev1.DownwardAPIVolumeFile) {
		for n := range items {
			rename(items[n].ResourceFieldRef)
		}
	}
	s.eachContainer(func(c *corev1.Container) {
		for n := range c.Env {
			if c.Env[n].ValueFrom != nil {
				rename(c.Env[n].ValueFrom.ResourceFieldRef)
			}
		}
	})
	for _, volume := range s.template.Spec.Volumes {
		if volume.DownwardAPI != nil {
			files(volume.DownwardAPI.Items)
		}
		if volume.Projected != nil {
			for _, source := range volume.Projected.Sources {
				if source.DownwardAPI != nil {
					files(source.DownwardAPI.Items)
				}
			}
		}
	}
	if s.scaler != nil {
		for _, metric := range s.scaler.read.Spec.Metrics {
			if metric.ContainerResource != nil && metric.ContainerResource.Container == from {
				metric.ContainerResource.Container = to
			}
		}
	}
}

const appArmorPrefix = "container.apparmor.security.beta.kubernetes.io/"

// appArmor turns the annotations that older versions of Kubernetes used into the field.
func (s *subject) appArmor() {
	s.eachContainer(func(c *corev1.Container) {
		value, is := s.template.Annotations[appArmorPrefix+c.Name]
		if !is || c.SecurityContext != nil && c.SecurityContext.AppArmorProfile != nil {
			return
		}
		profile := &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeRuntimeDefault}
		if local, is := strings.CutPrefix(value, "localhost/"); is {
			profile = &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeLocalhost, LocalhostProfile: &local}
		} else if value == "unconfined" {
			profile.Type = corev1.AppArmorProfileTypeUnconfined
		}
		fillPointer(&c.SecurityContext, corev1.SecurityContext{})
		c.SecurityContext.AppArmorProfile = profile
		delete(s.template.Annotations, appArmorPrefix+c.Name)
	})
}

// fillPointer sets a field that is nil.
func fillPointer[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

// adaptInit moves sidecars before init containers, as an AppService does.
func (s *subject) adaptInit(sidecars []corev1.Container) {
	var waiting []corev1.Container
	for _, c := range s.template.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			sidecars = append(sidecars, c)
			continue
		}
		waiting = append(waiting, c)
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
		s.eachContainer(func(c *corev1.Container) {
			for _, mount := range c.VolumeMounts {
				if mount.Name == v.Name {
					s.lose(templatePath("containers["+c.Name+"].volumeMounts["+strings.TrimSuffix(mount.MountPath, "/")+"]"),
						"a folder of the node (hostPath) is below Pod Security Baseline, which holds for every "+s.kind()+": it is left out",
						"use another kind of volume, or keep this workload as it is")
				}
			}
			unmount(c, func(volume string) bool { return volume == v.Name })
		})
		s.lose(templatePath("volumes["+v.Name+"]"), "a folder of the node (hostPath) is below Pod Security Baseline: it is left out",
			"nothing to do: no container mounts it")
		return true
	})
	if s.claim != nil {
		s.renameVolume(s.claimVolume(), dataVolume)
	}
}

// lose explains a field that the translation leaves out.
func (s *subject) lose(field, reason, remedy string) {
	s.losses = append(s.losses, Note{Object: describe(s.workload), Field: field, Reason: reason, Remedy: remedy})
}

// renameVolume gives a volume a name; another one that has it gets a new one.
func (s *subject) renameVolume(from, to string) {
	if from == to {
		return
	}
	pod := &s.template.Spec
	used := func(name string) bool {
		return slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == name })
	}
	if used(to) {
		other := to + "-2"
		for n := 3; used(other); n++ {
			other = fmt.Sprintf("%s-%d", to, n)
		}
		s.renameVolume(to, other)
	}
	for n := range pod.Volumes {
		if pod.Volumes[n].Name == from {
			pod.Volumes[n].Name = to
		}
	}
	s.eachContainer(func(c *corev1.Container) {
		for n := range c.VolumeMounts {
			if c.VolumeMounts[n].Name == from {
				c.VolumeMounts[n].Name = to
			}
		}
		for n := range c.VolumeDevices {
			if c.VolumeDevices[n].Name == from {
				c.VolumeDevices[n].Name = to
			}
		}
	})
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

// numberIn returns the number of a port of any container, as text; the name if the port is not found.
func numberIn(template *corev1.PodTemplateSpec, port intstr.IntOrString) string {
	for _, c := range slices.Concat(template.Spec.Containers, template.Spec.InitContainers) {
		if resolved := resolve(&c, port); resolved.Type == intstr.Int {
			return resolved.String()
		}
	}
	return port.String()
}
