package proof

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// side is a Side with what its objects refer to.
type side struct {
	Side
	template *corev1.PodTemplateSpec
	// claims are the volumeClaimTemplates, by name.
	claims map[string]corev1.PersistentVolumeClaim
	// governing is the name of the Service that replicas have their names from; empty if there is none.
	governing string
	services  []*corev1.Service
	accounts  []*corev1.ServiceAccount
	// names are those of containers after, by those before. Nil after.
	names map[string]string
	// after is the other side. Nil after.
	after *side
}

func read(given Side) *side {
	s := &side{Side: given, template: &corev1.PodTemplateSpec{}, claims: map[string]corev1.PersistentVolumeClaim{}}
	for _, object := range given.Objects {
		switch {
		case role(object) == workload:
			s.template = podsOf(object)
			if set := as[appsv1.StatefulSet](object); object.GetKind() == "StatefulSet" {
				s.governing = set.Spec.ServiceName
				for _, claim := range set.Spec.VolumeClaimTemplates {
					defaultClaim(&claim.Spec)
					s.claims[claim.Name] = claim
				}
			}
		case object.GetKind() == "Service":
			service := as[corev1.Service](object)
			defaultService(service)
			s.services = append(s.services, service)
		case object.GetKind() == "ServiceAccount":
			s.accounts = append(s.accounts, as[corev1.ServiceAccount](object))
		}
	}
	return s
}

// as decodes an object; fields that its type does not have are dropped, as by the API server.
func as[T any](object *unstructured.Unstructured) *T {
	into := new(T)
	_ = runtime.DefaultUnstructuredConverter.FromUnstructured(object.DeepCopy().Object, into) // as far as it can be read
	return into
}

func content(value any) map[string]any {
	out, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(value) // types of the API
	return out
}

func inJSON(value any) string {
	data, _ := json.Marshal(value)
	return string(data)
}

// podsOf returns the pod template of a workload of any kind; nil for other objects.
func podsOf(object *unstructured.Unstructured) *corev1.PodTemplateSpec {
	switch object.GetKind() {
	case "Pod":
		pod := as[corev1.Pod](object)
		meta := metav1.ObjectMeta{Labels: pod.Labels, Annotations: pod.Annotations}
		return &corev1.PodTemplateSpec{ObjectMeta: meta, Spec: pod.Spec}
	case "CronJob":
		return &as[batchv1.CronJob](object).Spec.JobTemplate.Spec.Template
	case "Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "DaemonSet", "Job":
		return &as[appsv1.Deployment](object).Spec.Template // which all of them have in the same place
	}
	return nil
}

// becomes records which container becomes which: those of a name, and the one that is left.
func (s *side) becomes(after *unstructured.Unstructured, a *side) {
	if after == nil {
		return
	}
	s.names, s.after = map[string]string{}, a
	all := func(p *corev1.PodTemplateSpec) []string {
		var list []string
		for _, c := range slices.Concat(p.Spec.Containers, p.Spec.InitContainers) {
			list = append(list, c.Name)
		}
		return list
	}
	before, now := all(s.template), all(a.template)
	lone := func(names, others []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(others, n) })
	}
	if old, fresh := lone(before, now), lone(now, before); len(old) > 0 && len(fresh) == 1 {
		s.names[old[s.like(old, a, fresh[0])]] = fresh[0]
	}
}

// like returns which of the named containers has the image of one after; the first if none has.
func (s *side) like(names []string, a *side, now string) int {
	image := func(p *corev1.PodTemplateSpec, name string) string {
		for _, c := range slices.Concat(p.Spec.Containers, p.Spec.InitContainers) {
			if c.Name == name {
				return c.Image
			}
		}
		return ""
	}
	return max(0, slices.IndexFunc(names, func(n string) bool { return image(s.template, n) == image(a.template, now) }))
}

// name returns the name of a container as it is after.
func (s *side) name(of string) string {
	if now, renamed := s.names[of]; renamed {
		return now
	}
	return of
}

// selected returns which workloads a selector finds, as text; the selector itself if it finds none.
func (s *side) selected(selector *metav1.LabelSelector) string {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return inJSON(selector)
	}
	var found []string
	if parsed.Matches(labels.Set(s.template.Labels)) {
		found = append(found, "its pods")
	}
	for name, set := range s.Others {
		if parsed.Matches(labels.Set(set)) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	if len(found) == 0 {
		return metav1.FormatLabelSelector(selector)
	}
	return strings.Join(found, ", ")
}

// number returns the number of a port of the pods, as text; the name if no container has it.
func (s *side) number(port intstr.IntOrString) string {
	for _, c := range slices.Concat(s.template.Spec.Containers, s.template.Spec.InitContainers) {
		if number := numberIn(&c, port); number.Type == intstr.Int {
			return number.String()
		}
	}
	return port.String()
}

func numberIn(c *corev1.Container, port intstr.IntOrString) intstr.IntOrString {
	for _, p := range c.Ports {
		if port.Type == intstr.String && p.Name == port.StrVal {
			return intstr.FromInt32(p.ContainerPort)
		}
	}
	return port
}

// service returns one of the application by its name; nil for another.
func (s *side) service(name string) *corev1.Service {
	at := slices.IndexFunc(s.services, func(service *corev1.Service) bool { return service.Name == name })
	if at < 0 {
		return nil
	}
	return s.services[at]
}

// portKey identifies a port of a container or Service: 80, or 53/UDP.
func portKey(number int32, protocol corev1.Protocol) string {
	if protocol == corev1.ProtocolTCP || protocol == "" {
		return strconv.Itoa(int(number))
	}
	return strconv.Itoa(int(number)) + "/" + string(protocol)
}
