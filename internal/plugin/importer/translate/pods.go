package translate

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/example/appservice-operator/api/v1"
)

func (a *Application) containerPieces() []piece {
	c := a.container()
	list := []piece{
		{from: a.fromMain("image"), set: func(spec *v1.AppServiceSpec) { spec.Image = c.Image }},
	}
	list = append(list, same(a.fromMain, c, theSpec, "ImagePullPolicy", "Command", "Args", "WorkingDir")...)
	if len(c.Resources.Limits)+len(c.Resources.Requests)+len(c.Resources.Claims) > 0 {
		list = append(list, piece{from: a.fromMain("resources"), set: func(spec *v1.AppServiceSpec) { spec.Resources = &c.Resources }})
	}
	list = append(list, same(a.fromMain, c, theSpec, "Lifecycle")...)
	for _, variable := range c.Env {
		if a.saysPort(variable) {
			continue
		}
		list = append(list, piece{from: a.fromMain("env[" + variable.Name + "]"),
			set: func(spec *v1.AppServiceSpec) { spec.Envs = append(spec.Envs, variable) }})
	}
	config := -1
	if a.config != nil {
		config = a.configFrom()
	}
	for n, from := range c.EnvFrom {
		if n != config {
			list = append(list, piece{from: a.fromMain("envFrom"),
				set: func(spec *v1.AppServiceSpec) { spec.EnvFrom = append(spec.EnvFrom, from) }})
		}
	}
	for _, mount := range c.VolumeMounts {
		if a.claim != nil && mount.Name == dataVolume || a.files != nil && mount.Name == filesVolume ||
			a.mountsClaim(mount) {
			continue
		}
		list = append(list, piece{from: a.fromMain("volumeMounts[" + mount.MountPath + "]"),
			set: func(spec *v1.AppServiceSpec) { spec.VolumeMounts = append(spec.VolumeMounts, mount) }})
	}
	return list
}

// saysPort reports whether a variable is PORT with the first target port, which an AppService sets automatically.
func (a *Application) saysPort(variable corev1.EnvVar) bool {
	if variable.Name != "PORT" || a.service == nil {
		return false
	}
	for _, entry := range a.service.Read.Spec.Ports {
		if number, found := portOf(a.container(), entry); found {
			return variable.Value == strconv.Itoa(int(number))
		}
	}
	return false
}

func (a *Application) podPieces() []piece {
	pod := &a.Template.Spec
	var list []piece
	for _, volume := range pod.Volumes {
		if a.claim != nil && volume.Name == dataVolume || a.files != nil && volume.Name == filesVolume {
			continue
		}
		list = append(list, piece{from: a.fromPod("volumes[" + volume.Name + "]"),
			set: func(spec *v1.AppServiceSpec) { spec.Volumes = append(spec.Volumes, volume) }})
	}
	for _, c := range pod.InitContainers {
		sidecar := c.RestartPolicy != nil
		c = withoutAliases(&c)
		c.RestartPolicy = nil
		list = append(list, piece{from: a.fromPod("initContainers[" + c.Name + "]"), set: func(spec *v1.AppServiceSpec) {
			if sidecar {
				spec.Sidecars = append(spec.Sidecars, c)
			} else {
				spec.InitContainers = append(spec.InitContainers, c)
			}
		}})
	}
	for _, secret := range pod.ImagePullSecrets {
		list = append(list, piece{from: a.fromPod("imagePullSecrets[" + secret.Name + "]"), set: func(spec *v1.AppServiceSpec) {
			spec.ImagePullSecrets = append(spec.ImagePullSecrets, v1.LocalReference{Name: secret.Name})
		}})
	}
	list = append(list,
		piece{from: a.fromPod("nodeSelector"), set: func(spec *v1.AppServiceSpec) { spec.NodeSelector = asLabels(pod.NodeSelector) }},
		piece{from: a.fromPod("topologySpreadConstraints"), set: func(spec *v1.AppServiceSpec) {
			spec.TopologySpreadConstraints = a.spread()
		}},
	)
	return append(list, same(a.fromPod, pod, theSpec,
		"Tolerations", "Affinity", "PriorityClassName", "HostAliases", "DNSConfig", "TerminationGracePeriodSeconds")...)
}

// spread returns the topology spread constraints; those on the workload's own pods need no selector.
func (a *Application) spread() []corev1.TopologySpreadConstraint {
	list := slices.Clone(a.Template.Spec.TopologySpreadConstraints)
	for n := range list {
		if a.ownPods(list[n].LabelSelector) {
			list[n].LabelSelector = nil
		}
	}
	return list
}
