package diagnose

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Ports are the ports of pods that have a name, and their numbers.
type Ports map[PortName]int32

// PortName is how a Service refers to a port of a pod.
type PortName struct {
	Name     string
	Protocol corev1.Protocol
}

// PortsOf returns the ports of a pod. If several containers have a port of one name, the one that Kubernetes uses
// counts: the first, sidecars last.
func PortsOf(pod *corev1.PodSpec) Ports {
	out := Ports{}
	for _, container := range pod.Containers {
		out.add(container.Ports)
	}
	for _, container := range pod.InitContainers {
		if policy := container.RestartPolicy; policy != nil && *policy == corev1.ContainerRestartPolicyAlways {
			out.add(container.Ports)
		}
	}
	return out
}

func (p Ports) add(ports []corev1.ContainerPort) {
	for _, port := range ports {
		name := PortName{port.Name, port.Protocol}
		if _, taken := p[name]; port.Name != "" && !taken {
			p[name] = port.ContainerPort
		}
	}
}

// Target returns the number that a port of a Service leads to, and whether it reaches pods with these ports. A number
// is assumed to be right: what listens is not known.
func (p Ports) Target(port corev1.ServicePort) (number int32, reached bool) {
	switch {
	case port.TargetPort.Type == intstr.String:
		number, reached = p[PortName{port.TargetPort.StrVal, port.Protocol}]
		return number, reached
	case port.TargetPort.IntVal != 0:
		return port.TargetPort.IntVal, true
	}
	return port.Port, true
}

// Earlier describes the versions before the present one, as found in a look.
type Earlier struct {
	// Ready is the number of pods that are ready: only these get traffic.
	Ready int32
	// Ports that at least one of these pods has.
	Ports Ports
}

// earlier returns the pods of earlier versions that still run; nil if there was no look.
func (f *Findings) earlier() *Earlier {
	cast := f.cast()
	if cast == nil {
		return nil
	}
	out := &Earlier{Ports: Ports{}}
	for _, pod := range cast.earlier {
		if !isReady(pod) {
			continue
		}
		out.Ready++
		maps.Copy(out.Ports, PortsOf(&pod.Spec))
	}
	return out
}
