package importer

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/example/appservice-operator/api/v1"
)

func (s *subject) probePieces() []piece {
	c := s.container()
	var list []piece
	add := func(field string, probe *corev1.Probe, set func(*v1.Probes, v1.Probe)) {
		if probe == nil {
			return
		}
		list = append(list, piece{from: s.fromMain(field), set: func(spec *v1.AppServiceSpec) {
			set(made(&spec.Probes), s.probe(probe))
		}})
	}
	add("livenessProbe", c.LivenessProbe, func(to *v1.Probes, probe v1.Probe) { to.Liveness = &probe })
	add("readinessProbe", c.ReadinessProbe,
		func(to *v1.Probes, probe v1.Probe) { to.Readiness = &v1.ReadinessProbe{Probe: probe} })
	if c.ReadinessProbe == nil && s.stamped() { // it was turned off
		list = append(list, piece{from: s.fromMain("readinessProbe"), set: func(spec *v1.AppServiceSpec) {
			made(&spec.Probes).Readiness = &v1.ReadinessProbe{None: true}
		}})
	}
	add("startupProbe", c.StartupProbe, func(to *v1.Probes, probe v1.Probe) { to.Startup = &probe })
	return list
}

// probe returns a probe of a pod in the form of a spec, with its port as a number.
func (s *subject) probe(p *corev1.Probe) v1.Probe {
	out := v1.Probe{
		Exec:                          p.Exec,
		InitialDelaySeconds:           notZero(p.InitialDelaySeconds),
		PeriodSeconds:                 notZero(p.PeriodSeconds),
		TimeoutSeconds:                notZero(p.TimeoutSeconds),
		SuccessThreshold:              notZero(p.SuccessThreshold),
		FailureThreshold:              notZero(p.FailureThreshold),
		TerminationGracePeriodSeconds: p.TerminationGracePeriodSeconds,
	}
	if get := p.HTTPGet; get != nil {
		port := resolve(s.container(), get.Port)
		out.HTTPGet = &v1.HTTPGetProbe{Path: get.Path, Port: &port, Scheme: get.Scheme, HTTPHeaders: get.HTTPHeaders}
	}
	if p.TCPSocket != nil {
		port := resolve(s.container(), p.TCPSocket.Port)
		out.TCPSocket = &v1.TCPSocketProbe{Port: &port}
	}
	if p.GRPC != nil {
		out.GRPC = &v1.GRPCProbe{Port: &p.GRPC.Port, Service: p.GRPC.Service}
	}
	return out
}

// resolve returns the number of a port of a container; the name if the container has no such port.
func resolve(c *corev1.Container, port intstr.IntOrString) intstr.IntOrString {
	if port.Type == intstr.String {
		if at := slices.IndexFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.Name == port.StrVal }); at >= 0 {
			return intstr.FromInt32(c.Ports[at].ContainerPort)
		}
	}
	return port
}

func (s *subject) securityPieces() []piece {
	var list []piece
	if given := s.template.Spec.SecurityContext; given != nil {
		list = same(func(field string) source { return s.fromPod("securityContext." + field) }, given,
			func(spec *v1.AppServiceSpec) *corev1.PodSecurityContext { return made(&made(&spec.Security).Pod) })
	}
	if given := s.container().SecurityContext; given != nil {
		list = append(list, same(func(field string) source { return s.fromMain("securityContext." + field) }, given,
			func(spec *v1.AppServiceSpec) *v1.ContainerSecurity { return made(&made(&spec.Security).Container) })...)
	}
	if s.workload.GetAnnotations()[v1.AnnotationPodSecurity] == "restricted" {
		list = append(list, piece{from: s.fromPod("securityContext"), set: func(spec *v1.AppServiceSpec) {
			made(&spec.Security).Profile = "Restricted"
		}})
	}
	return list
}

func (s *subject) configPieces() []piece {
	var list []piece
	values := func(data map[string]string) map[string]v1.ConfigValue {
		return convert(data, func(value string) v1.ConfigValue { return v1.ConfigValue(value) })
	}
	if s.config != nil {
		list = append(list, piece{from: source{describe(s.config.object), "data"}, set: func(spec *v1.AppServiceSpec) {
			made(&spec.Config).Environment = values(s.config.read.Data)
		}})
	}
	if s.files != nil {
		mount := s.filesMount().MountPath
		list = append(list, piece{from: source{describe(s.files.object), "data"}, set: func(spec *v1.AppServiceSpec) {
			to := made(&spec.Config)
			to.Files, to.MountPath = values(s.files.read.Data), mount
		}})
	}
	return list
}
