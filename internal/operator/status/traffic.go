package status

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
)

// traffic describes what is known about which pods receive the traffic of the main workload's Services.
type traffic struct {
	// have are the pod counts of the workload; zero if there is none.
	have     v1.AppServiceStatus
	template *corev1.PodTemplateSpec
	services []corev1.ServicePort
	// earlier versions, as found in the pods; nil if pods were not listed, for example because nothing was wrong.
	earlier *diagnose.Earlier
}

func trafficOf(in Input) traffic {
	main := mainObject(in.Resource, in.Snapshot)
	out := traffic{template: podTemplate(main)}
	if out.template == nil {
		return out
	}
	counters(&out.have, main)
	pods := labels.Set(out.template.Labels)
	for key, object := range in.Snapshot.Objects {
		if key.Group != corev1.GroupName || key.Kind != "Service" {
			continue
		}
		service := kube.As[corev1.Service](object)
		if service != nil && len(service.Spec.Selector) > 0 && labels.SelectorFromSet(service.Spec.Selector).Matches(pods) {
			out.services = append(out.services, service.Spec.Ports...)
		}
	}
	slices.SortFunc(out.services, func(a, b corev1.ServicePort) int {
		return cmp.Or(cmp.Compare(a.Port, b.Port), cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.Name, b.Name))
	})
	if causes := in.Causes[kube.KeyOf(main)]; len(causes) > 0 {
		out.earlier = causes[0].Earlier
	}
	return out
}

// old is the number of pods of earlier versions.
func (r traffic) old() int32 {
	return max(0, r.have.Replicas-r.have.UpdatedReplicas)
}

// serving reports whether anything answers requests, as far as that is known. Without Services, available pods count.
func (r traffic) serving() bool {
	if r.have.AvailableReplicas == 0 {
		return false
	}
	switch present := len(r.lost(diagnose.PortsOf(&r.template.Spec))) < len(r.services); {
	case len(r.services) == 0:
		return true
	case r.old() == 0:
		return present
	case r.earlier == nil:
		return true
	case r.have.AvailableReplicas > r.earlier.Ready && present:
		return true
	}
	return r.earlier.Ready > 0 && len(r.lost(r.earlier.Ports)) < len(r.services)
}

// lost lists the Services' ports that lead to no pod with the given ports.
func (r traffic) lost(ports diagnose.Ports) []string {
	var list []string
	for _, port := range r.services {
		if _, reached := ports.Target(port); !reached {
			list = append(list, cmp.Or(port.Name, strconv.Itoa(int(port.Port))))
		}
	}
	return list
}

// Endings of the message of a rollout that is stuck: an earlier version runs, or also receives the traffic.
const (
	previousRuns   = "; rollout stalled, the previous version still runs"
	previousServes = "; rollout stalled, the previous version still serves"
)

// meanwhile says what the previous version does while the rollout is stuck; empty if it does nothing, or if that is not
// known.
func (r traffic) meanwhile() string {
	available := r.have.AvailableReplicas
	switch {
	case r.old() == 0 || available == 0:
		return ""
	case r.earlier == nil && available > r.have.UpdatedReplicas: // not all of these are new
		return previousRuns
	case r.earlier == nil || r.earlier.Ready == 0:
		return ""
	}
	switch lost := r.lost(r.earlier.Ports); {
	case len(r.services) == 0:
		return previousRuns
	case len(lost) == 0:
		return previousServes
	case len(lost) < len(r.services):
		return fmt.Sprintf("%s, except on %s, which its pods do not have", previousServes, enumerate(lost))
	default:
		return fmt.Sprintf("; rollout stalled, the previous version runs but is not reached: its pods do not have %s",
			enumerate(lost))
	}
}

// enumerate names a few ports.
func enumerate(ports []string) string {
	if len(ports) == 1 {
		return "port " + ports[0]
	}
	return "ports " + text.Some(ports, 3)
}
