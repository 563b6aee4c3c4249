package translate

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
)

// portPlan is how the ports of the Services become entries of spec.ports.
type portPlan struct {
	// entries are those of the first Service, added those that only further ones offer.
	entries, added []v1.Port
	// first are the names that the first Service offers; nil if it offers all.
	first []string
	// further are the ports of the further Services, in their order; nil for one that offers all as they are.
	further [][]v1.ServicePort
}

// planPorts returns the plan for the ports of all Services.
func (a *Application) planPorts() portPlan {
	plan := portPlan{}
	if a.service == nil {
		return plan
	}
	plan.entries = a.toPorts(a.service.Read)
	for _, p := range a.further {
		var offered []v1.ServicePort
		for n, port := range a.toPorts(p.Read) {
			offered = append(offered, plan.offer(port, a.podPortName(p.Read.Spec.Ports[n]), offered))
		}
		plan.further = append(plan.further, offered)
	}
	for n, offered := range plan.further {
		if plan.isAll(offered) {
			plan.further[n] = nil
		}
	}
	plan.nameOnly()
	if len(plan.added) > 0 {
		for _, entry := range plan.entries {
			plan.first = append(plan.first, entry.Name)
		}
	}
	return plan
}

// nameOnly gives the only port of the first Service a name, if a Service has to name it.
func (plan *portPlan) nameOnly() {
	at := slices.IndexFunc(plan.entries, func(p v1.Port) bool { return p.Name == "" })
	named := func(offered []v1.ServicePort) bool { return offered != nil && offers(offered, "") }
	if at < 0 || len(plan.added) == 0 && !slices.ContainsFunc(plan.further, named) {
		return
	}
	name := plan.free("", plan.entries[at].Protocol)
	plan.entries[at].Name = name
	for _, offered := range plan.further {
		for n := range offered {
			offered[n].Name = cmp.Or(offered[n].Name, name)
		}
	}
}

// toPorts converts the ports of a Service, under names that ports of containers may have.
func (a *Application) toPorts(of *corev1.Service) []v1.Port {
	var list []v1.Port
	names := portNames(of.Spec.Ports)
	for n, entry := range of.Spec.Ports {
		port := v1.Port{Name: names[n], Protocol: cmp.Or(entry.Protocol, corev1.ProtocolTCP), Port: entry.Port,
			AppProtocol: entry.AppProtocol, TargetPort: a.target(entry)}
		if entry.NodePort != 0 && cmp.Or(of.Spec.Type, corev1.ServiceTypeClusterIP) != corev1.ServiceTypeClusterIP {
			port.NodePort = &entry.NodePort
		}
		list = append(list, port)
	}
	return list
}

// podPortName returns the name that the pods give the port that a port of a Service leads to; empty for none.
func (a *Application) podPortName(entry corev1.ServicePort) (name string) {
	a.EachContainer(func(c *corev1.Container) {
		for _, port := range c.Ports {
			if number, found := portOf(c, entry); found && port.ContainerPort == number {
				name = cmp.Or(name, port.Name)
			}
		}
	})
	return name
}

// offer returns a port of a further Service by the entry that leads to the same port of the pods. It adds one if there
// is none that the Service does not offer already, under the name of the port or, if it has none, the given one.
func (plan *portPlan) offer(port v1.Port, name string, offered []v1.ServicePort) v1.ServicePort {
	for _, list := range [][]v1.Port{plan.entries, plan.added} {
		for n := range list {
			entry := &list[n]
			used := slices.ContainsFunc(offered, func(o v1.ServicePort) bool { return o.Name == entry.Name })
			if entry.Protocol != port.Protocol || used || leadsTo(*entry) != leadsTo(port) {
				continue
			}
			out := v1.ServicePort{Name: entry.Name, NodePort: port.NodePort}
			if entry.Port != port.Port {
				out.Port = &port.Port
			}
			return out
		}
	}
	entry := port
	entry.NodePort, entry.Name = nil, plan.free(cmp.Or(port.Name, name), port.Protocol)
	out := v1.ServicePort{Name: entry.Name, NodePort: port.NodePort}
	if entry.Port = plan.freeNumber(port); entry.Port != port.Port {
		out.Port = &port.Port
	}
	plan.added = append(plan.added, entry)
	return out
}

// leadsTo returns the port of the pods that an entry leads to.
func leadsTo(port v1.Port) string {
	if port.TargetPort == nil {
		return strconv.Itoa(int(port.Port))
	}
	return port.TargetPort.String()
}

// free returns a name that no entry has: the wanted one, what an only entry without a name is called, or one with a
// number.
func (plan *portPlan) free(wanted string, protocol corev1.Protocol) string {
	usual := strings.ToLower(string(cmp.Or(protocol, corev1.ProtocolTCP)))
	base := cmp.Or(wanted, strings.ReplaceAll(usual, "tcp", "http"))
	name := base
	for n := 2; slices.ContainsFunc(plan.all(), func(p v1.Port) bool { return p.Name == name }); n++ {
		name = strings.TrimRight(base[:min(len(base), 12)], "-") + "-" + strconv.Itoa(n)
	}
	return name
}

// freeNumber returns the number of a port, unless an entry has it: then that of the pods, or the next one.
func (plan *portPlan) freeNumber(port v1.Port) int32 {
	taken := func(number int32) bool {
		return slices.ContainsFunc(plan.all(),
			func(p v1.Port) bool { return p.Port == number && p.Protocol == port.Protocol })
	}
	number := port.Port
	if taken(number) && port.TargetPort != nil && port.TargetPort.IntVal > 0 {
		number = port.TargetPort.IntVal
	}
	for taken(number) {
		number = number%65535 + 1
	}
	return number
}

func (plan *portPlan) all() []v1.Port { return slices.Concat(plan.entries, plan.added) }

// isAll reports whether a further Service offers all entries, in their order, as they are.
func (plan *portPlan) isAll(offered []v1.ServicePort) bool {
	return slices.EqualFunc(offered, plan.all(), func(o v1.ServicePort, entry v1.Port) bool {
		return o.Name == entry.Name && o.Port == nil && o.NodePort == nil
	})
}

// numberOf returns the number in spec.ports of a port of a further Service.
func (plan *portPlan) numberOf(further, port int) int32 {
	if plan.further[further] == nil {
		return plan.all()[port].Port
	}
	name := plan.further[further][port].Name
	for _, entry := range plan.all() {
		if entry.Name == name {
			return entry.Port
		}
	}
	return 0
}

func offers(ports []v1.ServicePort, name string) bool {
	return ports == nil || slices.ContainsFunc(ports, func(p v1.ServicePort) bool { return p.Name == name })
}

// services returns all Services of the AppService, the first one first.
func (a *Application) services() []*corev1.Service {
	if a.service == nil {
		return nil
	}
	list := []*corev1.Service{a.service.Read}
	for _, p := range a.further {
		list = append(list, p.Read)
	}
	return list
}

// entries are the ports of all Services, each under its number in spec.ports.
func (a *Application) entries() (list []corev1.ServicePort) {
	for _, service := range a.services() {
		for _, port := range service.Spec.Ports {
			port.Port = a.entryOf(service.Name, strconv.Itoa(int(port.Port)))
			list = append(list, port)
		}
	}
	return list
}

// entryOf returns the number in spec.ports of a port of one of the Services, by name or number; 0 if that is not known.
func (a *Application) entryOf(serviceName, port string) int32 {
	plan := a.planPorts()
	for n, service := range a.services() {
		if service.Name != serviceName {
			continue
		}
		for m, entry := range service.Spec.Ports {
			if entry.Name != port && strconv.Itoa(int(entry.Port)) != port {
				continue
			}
			if n == 0 {
				return entry.Port
			}
			return plan.numberOf(n-1, m)
		}
	}
	return 0
}

// target returns the number of a port of the main container, or the name of a port of a sidecar.
func (a *Application) target(entry corev1.ServicePort) *intstr.IntOrString {
	if number, found := portOf(a.container(), entry); found {
		return ptr.To(intstr.FromInt32(number))
	}
	for n := range a.Template.Spec.InitContainers {
		c := &a.Template.Spec.InitContainers[n]
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

// numberIn returns the number of a port of any container, as text; the name if the port is not found.
func numberIn(template *corev1.PodTemplateSpec, port intstr.IntOrString) string {
	for _, c := range slices.Concat(template.Spec.Containers, template.Spec.InitContainers) {
		if resolved := resolve(&c, port); resolved.Type == intstr.Int {
			return resolved.String()
		}
	}
	return port.String()
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

// longestPortName is that of a port of a container, which bears the name of the Service's port as well.
const longestPortName = 15

// portNames returns the names of the ports of a Service, shortened to names of container ports, each once.
func portNames(ports []corev1.ServicePort) []string {
	var out []string
	for _, port := range ports {
		out = append(out, port.Name)
	}
	for n, name := range out {
		if name == "" || isPortName(name) {
			continue
		}
		out[n] = ""
		short := strings.Trim(strings.ReplaceAll(name, "--", "-"), "-")
		if !strings.ContainsAny(short, "abcdefghijklmnopqrstuvwxyz") {
			short = "port-" + short
		}
		short = strings.TrimRight(short[:min(len(short), longestPortName)], "-")
		for m := 2; slices.Contains(out, short); m++ {
			end := "-" + strconv.Itoa(m)
			short = strings.TrimRight(short[:min(len(short), longestPortName-len(end))], "-") + end
		}
		out[n] = short
	}
	return out
}

var portName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)

// isPortName reports whether a port of a container can have a name.
func isPortName(name string) bool {
	return portName.MatchString(name) && len(name) <= 15 && regexp.MustCompile(`[a-z]`).MatchString(name) &&
		!regexp.MustCompile(`--`).MatchString(name)
}
