package translate

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/plugin/importer/read"
)

// portPieces returns the pieces for the ports of the Service.
func (a *Application) portPieces() []piece {
	if a.service == nil {
		return nil
	}
	from := func(field string) Source { return Source{read.Describe(a.service.Object), field} }
	var list []piece
	given := a.service.Read
	plan := a.planPorts()
	for _, port := range plan.entries {
		list = append(list, piece{from: from("spec.ports[" + portKey(port.Port, port.Protocol) + "]"),
			set: func(spec *v1.AppServiceSpec) { spec.Ports = append(spec.Ports, port) }})
	}
	if annotations := foreignAnnotations(given.Annotations); len(annotations) > 0 {
		list = append(list, piece{from: from("metadata.annotations"), set: func(spec *v1.AppServiceSpec) {
			service(spec).Annotations = asAnnotations(annotations)
		}})
	}
	list = append(list, a.settingPieces(from)...)
	list = append(list, same(func(field string) Source { return from("spec." + field) }, &given.Spec, service,
		"Type", "LoadBalancerSourceRanges")...)
	return append(list, a.furtherPieces(plan)...)
}

func service(spec *v1.AppServiceSpec) *v1.Service { return made(&spec.Service) }

// settingPieces returns the pieces for the first Service that it has in common with further ones, and its name. That of
// a Service which leads to other workloads, too, stays free: only one of them could have it.
func (a *Application) settingPieces(from func(field string) Source) []piece {
	given := toSettings(a.service.Read)
	part := func(spec *v1.AppServiceSpec) *v1.ServiceSettings { return &service(spec).ServiceSettings }
	list := same(func(field string) Source { return from("spec." + field) }, &given, part)
	if name := a.service.Read.Name; name != a.Name && a.Objects.Alone(a.service.Read, a.Object) {
		list = append(list, piece{from: from("metadata.name"),
			set: func(spec *v1.AppServiceSpec) { service(spec).Name = name }})
	}
	return list
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

// maxFurther is how many further Services an AppService may have.
const maxFurther = 8

// takeFurther makes a further Service of one that is not the first, and reports whether an AppService can say it.
func (a *Application) takeFurther(p read.Pair[corev1.Service]) bool {
	leads := func(entry corev1.ServicePort) bool { return a.target(entry) != nil }
	if len(a.further) == maxFurther || !a.Objects.Alone(p.Read, a.Object) || len(p.Read.Spec.Ports) == 0 ||
		slices.ContainsFunc(p.Read.Spec.Ports, func(e corev1.ServicePort) bool { return !leads(e) }) {
		return false
	}
	a.further = append(a.further, p)
	a.take(p.Object)
	return true
}

// furtherPieces returns a piece for each further Service.
func (a *Application) furtherPieces(plan portPlan) []piece {
	var list []piece
	for n, p := range a.further {
		made := toFurther(p.Read)
		made.Ports = plan.further[n]
		var added []v1.Port
		for _, entry := range plan.added {
			if !isOfferedBefore(plan, n, entry.Name) && offers(made.Ports, entry.Name) {
				added = append(added, entry)
			}
		}
		list = append(list, piece{from: Source{read.Describe(p.Object), "spec"}, set: func(spec *v1.AppServiceSpec) {
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
