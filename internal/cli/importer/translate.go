package importer

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
)

// pieces returns the pieces of the spec, the image first. Defaults are removed later.
func (s *subject) pieces() []piece {
	list := s.containerPieces()
	list = append(list, s.podPieces()...)
	list = append(list, s.workloadPieces()...)
	list = append(list, s.portPieces()...)
	list = append(list, s.probePieces()...)
	list = append(list, s.securityPieces()...)
	list = append(list, s.configPieces()...)
	list = append(list, s.accountPieces()...)
	list = append(list, s.networkPieces()...)
	list = append(list, s.operationPieces()...)
	return append(list, s.labelPieces()...)
}

// from returns the source for a field of the workload.
func (s *subject) from(field string) source { return source{describe(s.workload), field} }

func (s *subject) fromPod(field string) source { return s.from(templatePath(field)) }

func (s *subject) fromMain(field string) source {
	return s.fromPod("containers[" + mainContainer + "]." + field)
}

func (s *subject) containerPieces() []piece {
	c := s.container()
	list := []piece{
		{s.fromMain("image"), func(spec *v1.AppServiceSpec) { spec.Image = c.Image }},
		{s.fromMain("imagePullPolicy"), func(spec *v1.AppServiceSpec) { spec.ImagePullPolicy = c.ImagePullPolicy }},
		{s.fromMain("command"), func(spec *v1.AppServiceSpec) { spec.Command = c.Command }},
		{s.fromMain("args"), func(spec *v1.AppServiceSpec) { spec.Args = c.Args }},
		{s.fromMain("workingDir"), func(spec *v1.AppServiceSpec) { spec.WorkingDir = c.WorkingDir }},
	}
	if len(c.Resources.Limits)+len(c.Resources.Requests)+len(c.Resources.Claims) > 0 {
		list = append(list, piece{s.fromMain("resources"), func(spec *v1.AppServiceSpec) { spec.Resources = &c.Resources }})
	}
	if c.Lifecycle != nil {
		list = append(list, piece{s.fromMain("lifecycle"), func(spec *v1.AppServiceSpec) { spec.Lifecycle = c.Lifecycle }})
	}
	for _, variable := range c.Env {
		if s.saysPort(variable) {
			continue
		}
		list = append(list, piece{s.fromMain("env[" + variable.Name + "]"), func(spec *v1.AppServiceSpec) { spec.Envs = append(spec.Envs, variable) }})
	}
	config := -1
	if s.config != nil {
		config = s.configFrom()
	}
	for n, from := range c.EnvFrom {
		if n != config {
			list = append(list, piece{s.fromMain("envFrom"), func(spec *v1.AppServiceSpec) { spec.EnvFrom = append(spec.EnvFrom, from) }})
		}
	}
	for _, mount := range c.VolumeMounts {
		if s.claim != nil && mount.Name == dataVolume || s.files != nil && mount.Name == filesVolume || s.stateful != nil && s.claimTemplate() != nil && mount.Name == dataVolume {
			continue
		}
		list = append(list, piece{s.fromMain("volumeMounts[" + mount.MountPath + "]"), func(spec *v1.AppServiceSpec) { spec.VolumeMounts = append(spec.VolumeMounts, mount) }})
	}
	return list
}

// saysPort reports whether a variable is PORT with the first target port, which an AppService sets by itself.
func (s *subject) saysPort(variable corev1.EnvVar) bool {
	if variable.Name != "PORT" || s.service == nil {
		return false
	}
	for _, entry := range s.service.read.Spec.Ports {
		if number, found := portOf(s.container(), entry); found {
			return variable.Value == strconv.Itoa(int(number))
		}
	}
	return false
}

func (s *subject) podPieces() []piece {
	pod := &s.template.Spec
	var list []piece
	for _, c := range pod.InitContainers {
		sidecar := c.RestartPolicy != nil
		c.RestartPolicy = nil
		list = append(list, piece{s.fromPod("initContainers[" + c.Name + "]"), func(spec *v1.AppServiceSpec) {
			if sidecar {
				spec.Sidecars = append(spec.Sidecars, c)
			} else {
				spec.InitContainers = append(spec.InitContainers, c)
			}
		}})
	}
	for _, volume := range pod.Volumes {
		if s.claim != nil && volume.Name == dataVolume || s.files != nil && volume.Name == filesVolume {
			continue
		}
		list = append(list, piece{s.fromPod("volumes[" + volume.Name + "]"), func(spec *v1.AppServiceSpec) { spec.Volumes = append(spec.Volumes, volume) }})
	}
	for _, secret := range pod.ImagePullSecrets {
		list = append(list, piece{s.fromPod("imagePullSecrets[" + secret.Name + "]"), func(spec *v1.AppServiceSpec) {
			spec.ImagePullSecrets = append(spec.ImagePullSecrets, v1.LocalReference{Name: secret.Name})
		}})
	}
	list = append(list,
		piece{s.fromPod("nodeSelector"), func(spec *v1.AppServiceSpec) { spec.NodeSelector = asLabels(pod.NodeSelector) }},
		piece{s.fromPod("tolerations"), func(spec *v1.AppServiceSpec) { spec.Tolerations = pod.Tolerations }},
		piece{s.fromPod("affinity"), func(spec *v1.AppServiceSpec) { spec.Affinity = pod.Affinity }},
		piece{s.fromPod("priorityClassName"), func(spec *v1.AppServiceSpec) { spec.PriorityClassName = pod.PriorityClassName }},
		piece{s.fromPod("hostAliases"), func(spec *v1.AppServiceSpec) { spec.HostAliases = pod.HostAliases }},
		piece{s.fromPod("dnsConfig"), func(spec *v1.AppServiceSpec) { spec.DNSConfig = pod.DNSConfig }},
		piece{s.fromPod("terminationGracePeriodSeconds"), func(spec *v1.AppServiceSpec) {
			spec.TerminationGracePeriodSeconds = pod.TerminationGracePeriodSeconds
		}},
		piece{s.fromPod("topologySpreadConstraints"), func(spec *v1.AppServiceSpec) {
			spec.TopologySpreadConstraints = s.spread()
		}},
	)
	return list
}

// spread returns the topology spread constraints; those on the workload's own pods need no selector.
func (s *subject) spread() []corev1.TopologySpreadConstraint {
	list := slices.Clone(s.template.Spec.TopologySpreadConstraints)
	for n := range list {
		if s.ownPods(list[n].LabelSelector) {
			list[n].LabelSelector = nil
		}
	}
	return list
}

func (s *subject) workloadPieces() []piece {
	var list []piece
	size := func(replicas *int32) {
		if s.scaler == nil {
			list = append(list, piece{s.from("spec.replicas"), func(spec *v1.AppServiceSpec) { spec.Size = replicas }})
		} else if started, err := strconv.ParseInt(s.workload.GetAnnotations()[v1.AnnotationInitialReplicas], 10, 32); err == nil {
			started := int32(started)
			list = append(list, piece{s.from("spec.replicas"), func(spec *v1.AppServiceSpec) { spec.Size = &started }})
		}
	}
	if d := s.deployment; d != nil {
		size(d.Spec.Replicas)
		if !isZeroStrategy(d.Spec.Strategy) {
			list = append(list, piece{s.from("spec.strategy"), func(spec *v1.AppServiceSpec) { spec.Strategy = &d.Spec.Strategy }})
		}
		return append(list,
			piece{s.from("spec.progressDeadlineSeconds"), func(spec *v1.AppServiceSpec) { spec.ProgressDeadlineSeconds = d.Spec.ProgressDeadlineSeconds }},
			piece{s.from("spec.revisionHistoryLimit"), func(spec *v1.AppServiceSpec) { spec.RevisionHistoryLimit = d.Spec.RevisionHistoryLimit }},
			piece{s.from("spec.minReadySeconds"), func(spec *v1.AppServiceSpec) { spec.MinReadySeconds = notZero(d.Spec.MinReadySeconds) }},
		)
	}
	t := s.stateful
	size(t.Spec.Replicas)
	return append(list,
		piece{s.from("spec.revisionHistoryLimit"), func(spec *v1.AppServiceSpec) { spec.RevisionHistoryLimit = t.Spec.RevisionHistoryLimit }},
		piece{s.from("spec.minReadySeconds"), func(spec *v1.AppServiceSpec) { spec.MinReadySeconds = notZero(t.Spec.MinReadySeconds) }},
		piece{s.from("spec.volumeClaimTemplates"), s.perReplica},
	)
}

func isZeroStrategy(s appsv1.DeploymentStrategy) bool { return s.Type == "" && s.RollingUpdate == nil }

func notZero(value int32) *int32 {
	if value == 0 {
		return nil
	}
	return &value
}

// portPieces returns the pieces for the ports of the Service.
func (s *subject) portPieces() []piece {
	if s.service == nil {
		return nil
	}
	from := func(field string) source { return source{describe(s.service.object), field} }
	var list []piece
	service := s.service.read
	for _, entry := range service.Spec.Ports {
		port := v1.Port{Name: entry.Name, Protocol: entry.Protocol, Port: entry.Port, AppProtocol: entry.AppProtocol, TargetPort: s.target(entry)}
		if entry.NodePort != 0 {
			port.NodePort = &entry.NodePort
		}
		list = append(list, piece{from("spec.ports[" + strconv.Itoa(int(entry.Port)) + "]"), func(spec *v1.AppServiceSpec) { spec.Ports = append(spec.Ports, port) }})
	}
	refine := func(field string, set func(*v1.Service)) {
		list = append(list, piece{from(field), func(spec *v1.AppServiceSpec) {
			fillPointer(&spec.Service, v1.Service{})
			set(spec.Service)
		}})
	}
	if service.Spec.Type != "" {
		refine("spec.type", func(to *v1.Service) { to.Type = service.Spec.Type })
	}
	if annotations := foreignAnnotations(service.Annotations); len(annotations) > 0 {
		refine("metadata.annotations", func(to *v1.Service) { to.Annotations = asAnnotations(annotations) })
	}
	if service.Spec.SessionAffinity != "" {
		refine("spec.sessionAffinity", func(to *v1.Service) { to.SessionAffinity = service.Spec.SessionAffinity })
	}
	if service.Spec.ExternalTrafficPolicy != "" {
		refine("spec.externalTrafficPolicy", func(to *v1.Service) { to.ExternalTrafficPolicy = service.Spec.ExternalTrafficPolicy })
	}
	if service.Spec.LoadBalancerClass != nil {
		refine("spec.loadBalancerClass", func(to *v1.Service) { to.LoadBalancerClass = service.Spec.LoadBalancerClass })
	}
	if len(service.Spec.LoadBalancerSourceRanges) > 0 {
		refine("spec.loadBalancerSourceRanges", func(to *v1.Service) { to.LoadBalancerSourceRanges = service.Spec.LoadBalancerSourceRanges })
	}
	if service.Spec.ClusterIP == corev1.ClusterIPNone {
		refine("spec.clusterIP", func(to *v1.Service) { to.ClusterIP = corev1.ClusterIPNone })
	}
	return list
}

// target returns the number of a port of the main container, or the name of a port of a sidecar.
func (s *subject) target(entry corev1.ServicePort) *intstr.IntOrString {
	if number, found := portOf(s.container(), entry); found {
		return ptr.To(intstr.FromInt32(number))
	}
	for n := range s.template.Spec.InitContainers {
		c := &s.template.Spec.InitContainers[n]
		if number, found := portOf(c, entry); found && c.RestartPolicy != nil {
			for _, port := range c.Ports {
				if port.ContainerPort == number && port.Name != "" {
					return ptr.To(intstr.FromString(port.Name))
				}
			}
		}
	}
	target := cmp.Or(entry.TargetPort, intstr.FromInt32(entry.Port))
	if target.Type == intstr.String { // no container has it: it leads nowhere
		return nil
	}
	return &target
}

func asLabels(set map[string]string) map[string]v1.Label {
	return convert(set, func(value string) v1.Label { return v1.Label(value) })
}

func asAnnotations(set map[string]string) map[string]v1.Annotation {
	return convert(set, func(value string) v1.Annotation { return v1.Annotation(value) })
}

func convert[T any](set map[string]string, as func(string) T) map[string]T {
	if len(set) == 0 {
		return nil
	}
	out := make(map[string]T, len(set))
	for key, value := range set {
		out[key] = as(value)
	}
	return out
}

// foreignAnnotations returns the annotations that are not set by the operator, Helm or Kubernetes.
func foreignAnnotations(all map[string]string) map[string]string {
	out := maps.Clone(all)
	maps.DeleteFunc(out, func(key, _ string) bool {
		domain, _, _ := strings.Cut(key, "/")
		return slices.Contains([]string{"app.example.com", "helm.sh", "meta.helm.sh", "deployment.kubernetes.io", "autoscaling.alpha.kubernetes.io"}, domain) ||
			slices.Contains([]string{
				"kubectl.kubernetes.io/last-applied-configuration", "kubectl.kubernetes.io/restartedAt", "validations.keda.sh/hpa-ownership",
				"pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller", "volume.kubernetes.io/selected-node",
				"volume.kubernetes.io/storage-provisioner", "volume.beta.kubernetes.io/storage-provisioner",
			}, key)
	})
	return out
}
