package translate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// adaptPods renames and moves parts of the pods that have another name or place in the pods of an AppService.
func (a *Application) adaptPods() {
	pod := &a.Template.Spec
	at := a.mainIndex()
	a.clean()
	a.appArmor()
	a.renameContainer(pod.Containers[at].Name, mainContainer)
	pod.Containers[at].Name = mainContainer
	numberPorts(&pod.Containers[at])
	if at > 0 {
		pod.Containers[0], pod.Containers[at] = pod.Containers[at], pod.Containers[0]
	}
	var sidecars []corev1.Container
	for _, c := range pod.Containers[1:] {
		c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
		sidecars = append(sidecars, c)
	}
	pod.Containers = pod.Containers[:1]
	a.adaptInit(sidecars)
	a.adaptVolumes()
}

// readsEarlier returns an error for a variable that refers to an earlier one whose name follows again: what is applied
// has only the last one.
func (a *Application) readsEarlier() (err error) {
	has := func(list []corev1.EnvVar, name string) bool {
		return slices.ContainsFunc(list, func(v corev1.EnvVar) bool { return v.Name == name })
	}
	a.EachContainer(func(c *corev1.Container) {
		for n, variable := range c.Env {
			if has(c.Env[n+1:], variable.Name) {
				continue
			}
			value := strings.ReplaceAll(variable.Value, "$$", " ") // $$ is an escaped $
			for _, earlier := range c.Env[:n] {
				if has(c.Env[n:], earlier.Name) && strings.Contains(value, "$("+earlier.Name+")") {
					err = fmt.Errorf("container %[1]s: the variable %[2]s is set more than once, and %[3]s has by $(%[2]s) "+
						"the value of an earlier one, while what is applied lists each name once: give that one another name, "+
						"and write it in %[3]s", c.Name, earlier.Name, variable.Name)
				}
			}
		}
	})
	return err
}

// clean drops what a later entry of the same list replaces, and what the API server adds to every Pod.
func (a *Application) clean() {
	a.EachContainer(func(c *corev1.Container) {
		c.Env = lastOf(c.Env, func(e corev1.EnvVar) string { return e.Name })
		for n := range c.Ports {
			a.noHostPort(c, n)
			c.Ports[n].Protocol = cmp.Or(c.Ports[n].Protocol, corev1.ProtocolTCP)
		}
		unmount(c, a.Injected)
	})
	a.Template.Spec.Volumes = slices.DeleteFunc(slices.Clone(a.Template.Spec.Volumes),
		func(v corev1.Volume) bool { return a.Injected(v.Name) || a.Claimed(v.Name) })
	a.Template.Spec.HostAliases = joined(a.Template.Spec.HostAliases)
}

// joined returns the lines of a hosts file with one line for each address: an object that is applied has one at most.
func joined(lines []corev1.HostAlias) (out []corev1.HostAlias) {
	for _, line := range lines {
		at := slices.IndexFunc(out, func(h corev1.HostAlias) bool { return h.IP == line.IP })
		if at < 0 {
			out = append(out, *line.DeepCopy())
			continue
		}
		out[at].Hostnames = append(out[at].Hostnames, line.Hostnames...)
	}
	return out
}

// withoutAliases returns a container that lists each number of a port once, as one that is applied has to: under its
// first name. References to names get the number then.
func withoutAliases(c *corev1.Container) corev1.Container {
	out := *c.DeepCopy()
	var once []corev1.ContainerPort
	for _, port := range c.Ports {
		if !slices.ContainsFunc(once, func(p corev1.ContainerPort) bool {
			return portKey(p.ContainerPort, p.Protocol) == portKey(port.ContainerPort, port.Protocol)
		}) {
			once = append(once, port)
		}
	}
	if len(once) < len(out.Ports) {
		numberPorts(&out)
		out.Ports = once
	}
	return out
}

// numberPorts replaces names of ports in probes and hooks by numbers: a name is that of a port of the same container,
// which may be called otherwise, or not at all, in an AppService.
func numberPorts(c *corev1.Container) {
	handle := func(get *corev1.HTTPGetAction, socket *corev1.TCPSocketAction) {
		if get != nil {
			get.Port = resolve(c, get.Port)
		}
		if socket != nil {
			socket.Port = resolve(c, socket.Port)
		}
	}
	for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		if probe != nil {
			handle(probe.HTTPGet, probe.TCPSocket)
		}
	}
	hooks := ptr.Deref(c.Lifecycle, corev1.Lifecycle{})
	for _, hook := range []*corev1.LifecycleHandler{hooks.PostStart, hooks.PreStop} {
		if hook != nil {
			handle(hook.HTTPGet, hook.TCPSocket)
		}
	}
}

// noHostPort leaves out a port of the node, without which the others can stay.
func (a *Application) noHostPort(c *corev1.Container, n int) {
	name := c.Name
	if n := a.mainIndex(); c == &a.Template.Spec.Containers[n] {
		name = mainContainer
	}
	if port := &c.Ports[n]; port.HostPort != 0 || port.HostIP != "" {
		for _, field := range []string{".hostPort", ".hostIP"} {
			a.lose(templatePath("containers["+name+"]."+"ports["+portKey(port.ContainerPort, port.Protocol)+"]"+field),
				"a port of the node (hostPort) is below Pod Security Baseline, which holds for every "+a.Kind()+": it is left out",
				"reach it by the Service, or keep this workload as it is")
		}
		port.HostPort, port.HostIP = 0, ""
	}
}

// unmount removes the mounts of some volumes.
func unmount(c *corev1.Container, volume func(name string) bool) {
	c.VolumeMounts = slices.DeleteFunc(slices.Clone(c.VolumeMounts),
		func(m corev1.VolumeMount) bool { return volume(m.Name) })
}

// renameContainer renames a container where its resources are referred to.
func (a *Application) renameContainer(from, to string) {
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
	a.EachContainer(func(c *corev1.Container) {
		for n := range c.Env {
			if c.Env[n].ValueFrom != nil {
				rename(c.Env[n].ValueFrom.ResourceFieldRef)
			}
		}
	})
	for _, volume := range a.Template.Spec.Volumes {
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
	if a.scaler != nil {
		for _, metric := range a.scaler.Read.Spec.Metrics {
			if metric.ContainerResource != nil && metric.ContainerResource.Container == from {
				metric.ContainerResource.Container = to
			}
		}
	}
}

const appArmorPrefix = "container.apparmor.security.beta.kubernetes.io/"

// appArmor turns the annotations that older versions of Kubernetes used into the field.
func (a *Application) appArmor() {
	a.EachContainer(func(c *corev1.Container) {
		value, is := a.Template.Annotations[appArmorPrefix+c.Name]
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
		delete(a.Template.Annotations, appArmorPrefix+c.Name)
	})
}

// adaptInit moves sidecars before init containers, as an AppService does.
func (a *Application) adaptInit(sidecars []corev1.Container) {
	var waiting []corev1.Container
	for _, c := range a.Template.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			sidecars = append(sidecars, c)
			continue
		}
		waiting = append(waiting, c)
	}
	a.Template.Spec.InitContainers = slices.Concat(sidecars, waiting)
}

// adaptVolumes removes volumes that no AppService may have: folders of the node.
func (a *Application) adaptVolumes() {
	pod := &a.Template.Spec
	pod.Volumes = slices.DeleteFunc(slices.Clone(pod.Volumes), func(v corev1.Volume) bool {
		if v.HostPath == nil {
			return false
		}
		a.EachContainer(func(c *corev1.Container) {
			for _, mount := range c.VolumeMounts {
				if mount.Name == v.Name {
					a.lose(templatePath("containers["+c.Name+"].volumeMounts["+strings.TrimSuffix(mount.MountPath, "/")+"]"),
						"a folder of the node (hostPath) is below Pod Security Baseline, which holds for every "+a.Kind()+": it is left out",
						"use another kind of volume, or keep this workload as it is")
				}
			}
			unmount(c, func(volume string) bool { return volume == v.Name })
		})
		a.lose(templatePath("volumes["+v.Name+"]"), "a folder of the node (hostPath) is below Pod Security Baseline: it is left out",
			"nothing to do: no container mounts it")
		return true
	})
	if a.claim != nil {
		a.renameVolume(a.claimVolume(), dataVolume)
	}
}

// renameVolume gives a volume a name; another one that has it gets a new one.
func (a *Application) renameVolume(from, to string) {
	if from == to {
		return
	}
	pod := &a.Template.Spec
	used := func(name string) bool {
		return slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == name })
	}
	if used(to) {
		other := to + "-2"
		for n := 3; used(other); n++ {
			other = fmt.Sprintf("%s-%d", to, n)
		}
		a.renameVolume(to, other)
	}
	for n := range pod.Volumes {
		if pod.Volumes[n].Name == from {
			pod.Volumes[n].Name = to
		}
	}
	a.EachContainer(func(c *corev1.Container) {
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
