package importer

import (
	"reflect"
	"slices"
	"strings"

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
		list = append(list, piece{s.fromMain(field), func(spec *v1.AppServiceSpec) {
			fillPointer(&spec.Probes, v1.Probes{})
			set(spec.Probes, s.probe(probe))
		}})
	}
	add("livenessProbe", c.LivenessProbe, func(to *v1.Probes, probe v1.Probe) { to.Liveness = &probe })
	add("readinessProbe", c.ReadinessProbe, func(to *v1.Probes, probe v1.Probe) { to.Readiness = &v1.ReadinessProbe{Probe: probe} })
	if c.ReadinessProbe == nil && s.stamped() { // it was turned off
		list = append(list, piece{s.fromMain("readinessProbe"), func(spec *v1.AppServiceSpec) {
			fillPointer(&spec.Probes, v1.Probes{})
			spec.Probes.Readiness = &v1.ReadinessProbe{None: true}
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
		port := s.number(get.Port)
		out.HTTPGet = &v1.HTTPGetProbe{Path: get.Path, Port: &port, Scheme: get.Scheme, HTTPHeaders: get.HTTPHeaders}
	}
	if p.TCPSocket != nil {
		port := s.number(p.TCPSocket.Port)
		out.TCPSocket = &v1.TCPSocketProbe{Port: &port}
	}
	if p.GRPC != nil {
		out.GRPC = &v1.GRPCProbe{Port: &p.GRPC.Port, Service: p.GRPC.Service}
	}
	return out
}

// number returns the number of a port of the main container.
func (s *subject) number(port intstr.IntOrString) intstr.IntOrString {
	return resolve(s.container(), port)
}

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
	within := func(from source, set func(*v1.Security)) {
		list = append(list, piece{from, func(spec *v1.AppServiceSpec) {
			fillPointer(&spec.Security, v1.Security{})
			set(spec.Security)
		}})
	}
	if pod := s.template.Spec.SecurityContext; pod != nil {
		given := reflect.ValueOf(*pod)
		for n := range given.NumField() {
			if given.Field(n).IsZero() {
				continue
			}
			name, _, _ := strings.Cut(given.Type().Field(n).Tag.Get("json"), ",")
			within(s.fromPod("securityContext."+name), func(to *v1.Security) {
				fillPointer(&to.Pod, corev1.PodSecurityContext{})
				reflect.ValueOf(to.Pod).Elem().Field(n).Set(given.Field(n))
			})
		}
	}
	if c := s.container().SecurityContext; c != nil {
		each := func(field string, there bool, set func(*v1.ContainerSecurity)) {
			if !there {
				return
			}
			within(s.fromMain("securityContext."+field), func(to *v1.Security) {
				fillPointer(&to.Container, v1.ContainerSecurity{})
				set(to.Container)
			})
		}
		each("runAsUser", c.RunAsUser != nil, func(to *v1.ContainerSecurity) { to.RunAsUser = c.RunAsUser })
		each("runAsGroup", c.RunAsGroup != nil, func(to *v1.ContainerSecurity) { to.RunAsGroup = c.RunAsGroup })
		each("runAsNonRoot", c.RunAsNonRoot != nil, func(to *v1.ContainerSecurity) { to.RunAsNonRoot = c.RunAsNonRoot })
		each("readOnlyRootFilesystem", c.ReadOnlyRootFilesystem != nil, func(to *v1.ContainerSecurity) { to.ReadOnlyRootFilesystem = c.ReadOnlyRootFilesystem })
		each("allowPrivilegeEscalation", c.AllowPrivilegeEscalation != nil, func(to *v1.ContainerSecurity) { to.AllowPrivilegeEscalation = c.AllowPrivilegeEscalation })
		each("privileged", c.Privileged != nil, func(to *v1.ContainerSecurity) { to.Privileged = c.Privileged })
		each("capabilities", c.Capabilities != nil, func(to *v1.ContainerSecurity) {
			to.Capabilities = &v1.Capabilities{Add: c.Capabilities.Add, Drop: c.Capabilities.Drop}
		})
		each("seccompProfile", c.SeccompProfile != nil, func(to *v1.ContainerSecurity) { to.SeccompProfile = c.SeccompProfile })
		each("seLinuxOptions", c.SELinuxOptions != nil, func(to *v1.ContainerSecurity) { to.SELinuxOptions = c.SELinuxOptions })
		each("appArmorProfile", c.AppArmorProfile != nil, func(to *v1.ContainerSecurity) { to.AppArmorProfile = c.AppArmorProfile })
	}
	if s.workload.GetAnnotations()[v1.AnnotationPodSecurity] == "restricted" {
		within(s.fromPod("securityContext"), func(to *v1.Security) { to.Profile = "Restricted" })
	}
	return list
}

func (s *subject) configPieces() []piece {
	var list []piece
	within := func(from source, set func(*v1.Config)) {
		list = append(list, piece{from, func(spec *v1.AppServiceSpec) {
			fillPointer(&spec.Config, v1.Config{})
			set(spec.Config)
		}})
	}
	values := func(data map[string]string) map[string]v1.ConfigValue {
		return convert(data, func(value string) v1.ConfigValue { return v1.ConfigValue(value) })
	}
	if s.config != nil {
		within(source{describe(s.config.object), "data"}, func(to *v1.Config) { to.Environment = values(s.config.read.Data) })
	}
	if s.files != nil {
		mount := s.filesMount().MountPath
		within(source{describe(s.files.object), "data"}, func(to *v1.Config) { to.Files, to.MountPath = values(s.files.read.Data), mount })
	}
	return list
}
