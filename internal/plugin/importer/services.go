package importer

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	v1 "github.com/example/appservice-operator/api/v1"
)

// maxFurther is how many further Services an AppService may have.
const maxFurther = 8

// alone reports whether a Service leads to the pods of no other workload.
func (w *world) alone(service *corev1.Service, of *unstructured.Unstructured) bool {
	selector := labels.SelectorFromSet(service.Spec.Selector)
	return !slices.ContainsFunc(w.workloads, func(other *unstructured.Unstructured) bool {
		return other != of && other.GetNamespace() == of.GetNamespace() &&
			selector.Matches(labels.Set(podTemplate(other).Labels))
	})
}

// takeFurther makes a further Service of one that is not the first, and reports whether an AppService can say it.
func (s *subject) takeFurther(p pair[corev1.Service]) bool {
	leads := func(entry corev1.ServicePort) bool { return s.target(entry) != nil }
	if len(s.further) == maxFurther || !s.world.alone(p.read, s.workload) || len(p.read.Spec.Ports) == 0 ||
		slices.ContainsFunc(p.read.Spec.Ports, func(e corev1.ServicePort) bool { return !leads(e) }) {
		return false
	}
	s.further = append(s.further, p)
	s.take(p.object)
	return true
}

// services returns all Services of the AppService, the first one first.
func (s *subject) services() []*corev1.Service {
	if s.service == nil {
		return nil
	}
	list := []*corev1.Service{s.service.read}
	for _, p := range s.further {
		list = append(list, p.read)
	}
	return list
}

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
func (s *subject) planPorts() portPlan {
	plan := portPlan{}
	if s.service == nil {
		return plan
	}
	plan.entries = s.toPorts(s.service.read)
	for _, p := range s.further {
		var offered []v1.ServicePort
		for n, port := range s.toPorts(p.read) {
			offered = append(offered, plan.offer(port, s.podPortName(p.read.Spec.Ports[n]), offered))
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
func (s *subject) toPorts(of *corev1.Service) []v1.Port {
	var list []v1.Port
	names := portNames(of.Spec.Ports)
	for n, entry := range of.Spec.Ports {
		port := v1.Port{Name: names[n], Protocol: cmp.Or(entry.Protocol, corev1.ProtocolTCP), Port: entry.Port,
			AppProtocol: entry.AppProtocol, TargetPort: s.target(entry)}
		if entry.NodePort != 0 && cmp.Or(of.Spec.Type, corev1.ServiceTypeClusterIP) != corev1.ServiceTypeClusterIP {
			port.NodePort = &entry.NodePort
		}
		list = append(list, port)
	}
	return list
}

// podPortName returns the name that the pods give the port that a port of a Service leads to; empty for none.
func (s *subject) podPortName(entry corev1.ServicePort) (name string) {
	s.eachContainer(func(c *corev1.Container) {
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

// furtherPieces returns a piece for each further Service.
func (s *subject) furtherPieces(plan portPlan) []piece {
	var list []piece
	for n, p := range s.further {
		made := toFurther(p.read)
		made.Ports = plan.further[n]
		var added []v1.Port
		for _, entry := range plan.added {
			if !isOfferedBefore(plan, n, entry.Name) && offers(made.Ports, entry.Name) {
				added = append(added, entry)
			}
		}
		list = append(list, piece{from: source{describe(p.object), "spec"}, set: func(spec *v1.AppServiceSpec) {
			spec.Ports = append(spec.Ports, added...)
			if len(plan.first) > 0 {
				part := service(spec)
				part.Ports = plan.first
			}
			spec.Services = append(spec.Services, made)
		}})
	}
	return list
}

func service(spec *v1.AppServiceSpec) *v1.Service { return made(&spec.Service) }

func offers(ports []v1.ServicePort, name string) bool {
	return ports == nil || slices.ContainsFunc(ports, func(p v1.ServicePort) bool { return p.Name == name })
}

func isOfferedBefore(plan portPlan, n int, name string) bool {
	return slices.ContainsFunc(plan.further[:n], func(ports []v1.ServicePort) bool { return offers(ports, name) })
}

// toFurther converts all of a Service but its ports.
func toFurther(from *corev1.Service) v1.FurtherService {
	return v1.FurtherService{
		Name: from.Name, Type: from.Spec.Type, Annotations: asAnnotations(foreignAnnotations(from.Annotations)),
		LoadBalancerSourceRanges: from.Spec.LoadBalancerSourceRanges, ServiceSettings: toSettings(from),
	}
}

// toSettings converts the fields that all Services have, without those that the API server sets.
func toSettings(from *corev1.Service) v1.ServiceSettings {
	out := v1.ServiceSettings{SessionAffinity: from.Spec.SessionAffinity,
		ExternalTrafficPolicy: from.Spec.ExternalTrafficPolicy, LoadBalancerClass: from.Spec.LoadBalancerClass}
	if out.SessionAffinity == corev1.ServiceAffinityNone {
		out.SessionAffinity = ""
	}
	if out.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyCluster {
		out.ExternalTrafficPolicy = ""
	}
	if from.Spec.ClusterIP == corev1.ClusterIPNone {
		out.ClusterIP = corev1.ClusterIPNone
	}
	if from.Spec.PublishNotReadyAddresses {
		out.PublishNotReadyAddresses = &from.Spec.PublishNotReadyAddresses
	}
	if from.Spec.TrafficDistribution != nil {
		out.TrafficDistribution = *from.Spec.TrafficDistribution
	}
	if policy := from.Spec.IPFamilyPolicy; policy != nil && *policy != corev1.IPFamilyPolicySingleStack {
		out.IPFamilyPolicy = *policy
	}
	if out.IPFamilyPolicy != "" || slices.Contains(from.Spec.IPFamilies, corev1.IPv6Protocol) {
		out.IPFamilies = from.Spec.IPFamilies
	}
	return out
}

// settingPieces returns the pieces for the first Service that it has in common with further ones, and its name. That of
// a Service which leads to other workloads, too, stays free: only one of them could have it.
func (s *subject) settingPieces(from func(field string) source) []piece {
	given := toSettings(s.service.read)
	part := func(spec *v1.AppServiceSpec) *v1.ServiceSettings { return &service(spec).ServiceSettings }
	list := same(func(field string) source { return from("spec." + field) }, &given, part)
	if name := s.service.read.Name; name != s.name && s.world.alone(s.service.read, s.workload) {
		list = append(list, piece{from: from("metadata.name"),
			set: func(spec *v1.AppServiceSpec) { service(spec).Name = name }})
	}
	return list
}

// entryOf returns the number in spec.ports of a port of one of the Services, by name or number; 0 if that is not known.
func (s *subject) entryOf(serviceName, port string) int32 {
	plan := s.planPorts()
	for n, service := range s.services() {
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

// workloadAnnotations returns the piece for the annotations of the workload.
func (s *subject) workloadAnnotations() []piece {
	annotations := foreignAnnotations(s.workload.GetAnnotations())
	maps.DeleteFunc(annotations, func(key, _ string) bool { return strings.HasPrefix(key, checksumPrefix) })
	if len(annotations) == 0 {
		return nil
	}
	return []piece{{from: s.from("metadata.annotations"),
		set: func(spec *v1.AppServiceSpec) { spec.WorkloadAnnotations = asAnnotations(annotations) }}}
}

// entries are the ports of all Services, each under its number in spec.ports.
func (s *subject) entries() (list []corev1.ServicePort) {
	for _, service := range s.services() {
		for _, port := range service.Spec.Ports {
			port.Port = s.entryOf(service.Name, strconv.Itoa(int(port.Port)))
			list = append(list, port)
		}
	}
	return list
}
