package translate

import (
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/plugin/importer/read"
)

// choose returns the objects that belong to a workload, which becomes a resource of a name.
func choose(o *read.Objects, object *unstructured.Unstructured, name string) (*Application, error) {
	of, err := read.AsWorkload(object)
	if err != nil {
		return nil, err
	}
	s := &Application{Workload: of, Objects: o.In(object.GetNamespace()), Name: name, kept: map[string]bool{}}
	s.take(s.Object)
	if s.Cron == nil {
		s.takeNeighbors()
		s.takeTask()
	}
	s.takeConfig()
	if err := s.readsEarlier(); err != nil {
		return nil, err
	}
	s.adaptPods()
	return s, s.jobToo()
}

// takeServices chooses the Service of the workload's name, else the first that is not headless, best one for these pods
// alone, else that of the workload's name from which replicas have theirs, else any with ports. All others become
// further ones, as far as they can.
func (a *Application) takeServices(services []read.Pair[corev1.Service]) {
	headlessName := a.Name + "-headless"
	if a.Stateful != nil {
		headlessName = a.Stateful.Spec.ServiceName
	}
	best := -1
	rate := func(p read.Pair[corev1.Service]) int {
		named, headless := p.Read.Name == a.Name, p.Read.Spec.ClusterIP == corev1.ClusterIPNone
		governs := a.Stateful != nil && headless && p.Read.Name == headlessName && len(services) > 1
		switch {
		case len(p.Read.Spec.Ports) == 0, governs && !named:
			return 0
		case p.Read.Labels[v1.LabelMainService] != "":
			return 7
		case named && !headless:
			return 6
		case !headless && a.Objects.Alone(p.Read, a.Object):
			return 5
		case governs:
			return 4
		case !headless:
			return 3
		case named:
			return 2
		}
		return 1
	}
	for n, p := range services {
		if rate(p) > 0 && (best < 0 || rate(p) > rate(services[best])) {
			best = n
		}
	}
	var others []read.Pair[corev1.Service]
	for n, p := range services {
		switch {
		case n == best && (a.Stateful == nil || p.Read.Name != headlessName || p.Read.Name != a.Name+"-headless"):
			a.service = &p
			a.take(p.Object)
		case a.Stateful != nil && p.Read.Name == headlessName && headlessName == a.Name+"-headless":
			a.Headless = &p
			a.take(p.Object)
		default:
			others = append(others, p)
		}
	}
	for _, p := range others {
		if !a.takeFurther(p) {
			a.stays(p.Object, "spec.services has Services of these pods alone, whose ports lead to ports of them, 8 at most")
		}
	}
}

// first chooses the object of the workload's name, else the first, for a role, and puts the others aside.
func first[T any](a *Application, list []read.Pair[T], reason string) *read.Pair[T] {
	if len(list) == 0 {
		return nil
	}
	at := max(0, slices.IndexFunc(list, func(p read.Pair[T]) bool { return p.Object.GetName() == a.Name }))
	for n, p := range list {
		if n != at {
			a.stays(p.Object, reason)
		}
	}
	a.take(list[at].Object)
	return &list[at]
}

// takeNeighbors chooses among the objects that are related to the workload by references or selectors.
func (a *Application) takeNeighbors() {
	w, pods := a.Objects, a.Template.Labels
	services := read.Only(w, "", "Service", func(s *corev1.Service) bool {
		return len(s.Spec.Selector) > 0 && labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(pods))
	})
	isService := func(name string) bool {
		return slices.ContainsFunc(services, func(s read.Pair[corev1.Service]) bool { return s.Read.Name == name })
	}
	a.takeServices(services)
	a.ingress = first(a, read.Only(w, networkingv1.GroupName, "Ingress", func(i *networkingv1.Ingress) bool {
		return slices.ContainsFunc(read.Backends(i), isService)
	}), "an AppService has one Ingress, which is made of another one")
	type scaler = autoscalingv2.HorizontalPodAutoscaler
	a.scaler = first(a, read.Only(w, autoscalingv2.GroupName, "HorizontalPodAutoscaler", func(h *scaler) bool {
		return h.Spec.ScaleTargetRef.Kind == a.Object.GetKind() && h.Spec.ScaleTargetRef.Name == a.Object.GetName()
	}), "an AppService has one autoscaler, which is made of another one")
	a.budget = first(a, read.Only(w, policyv1.GroupName, "PodDisruptionBudget",
		func(b *policyv1.PodDisruptionBudget) bool {
			return read.Matches(b.Spec.Selector, pods)
		}), "an AppService has one PodDisruptionBudget, which is made of another one")
	a.takePolicy(read.Only(w, networkingv1.GroupName, "NetworkPolicy", func(p *networkingv1.NetworkPolicy) bool {
		return read.Matches(&p.Spec.PodSelector, pods)
	}))
	a.takeAccount(read.Only(w, "", "ServiceAccount", func(c *corev1.ServiceAccount) bool {
		return c.Name == a.Template.Spec.ServiceAccountName
	}))
	a.takeClaim(read.Only(w, "", "PersistentVolumeClaim", func(c *corev1.PersistentVolumeClaim) bool {
		return slices.ContainsFunc(a.Template.Spec.Volumes, func(v corev1.Volume) bool {
			return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == c.Name
		})
	}))
	a.takeMonitor(w.MonitorsOf(services))
	a.takeRoute(w.RoutesTo(isService))
}
