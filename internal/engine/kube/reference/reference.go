// Package reference finds the objects that rendered objects refer to and do not contain (ConfigMaps, Secrets and other
// objects that others create), and reads their state.
package reference

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/gateway"
)

// Object is the target of a reference.
type Object struct {
	Kind string
	Name string
	// Namespace is empty for that of the referring object, and for cluster-scoped kinds.
	Namespace string
}

// String returns the kind and the name in quotes, for example `Secret "web"`.
func (o Object) String() string {
	if o.Namespace != "" {
		return fmt.Sprintf("%s %q", o.Kind, o.Namespace+"/"+o.Name)
	}
	return fmt.Sprintf("%s %q", o.Kind, o.Name)
}

// From resolves a reference from a namespace to the place of the object.
func (o Object) From(namespace string) Object {
	if _, clusterScoped := KindOf(o.Kind); clusterScoped {
		namespace = ""
	}
	o.Namespace = cmp.Or(o.Namespace, namespace)
	return o
}

// The kinds of objects that references point to.
const (
	ConfigMap             = "ConfigMap"
	Secret                = "Secret"
	ServiceAccount        = "ServiceAccount"
	PersistentVolumeClaim = "PersistentVolumeClaim"
	IngressClass          = "IngressClass"
	StorageClass          = "StorageClass"
	Gateway               = "Gateway"
)

// Need says what happens to the referring object if the referenced one is missing.
type Need int

const (
	// Required objects prevent every pod from starting if they are missing.
	Required Need = iota
	// Optional objects are used when a pod starts, if they exist.
	Optional
	// Advisory objects are needed by something, but not by pods.
	Advisory
	// Reported objects are only read for the status: they do not affect rendering, and nothing needs them.
	Reported
)

// Reference is one mention of an object.
type Reference struct {
	Object
	// Key of the ConfigMap's or Secret's data; empty if all of it, or only the object, is meant.
	Key  string
	Need Need
	// Content reports whether pods take the content of the object when they start.
	Content bool
	// By describes what refers to it, for example `env DATABASE_URL of container "app"`.
	By string
}

// State is the known state of an object.
type State struct {
	// Found reports whether it exists.
	Found bool
	// Data holds a digest of each entry of a ConfigMap or Secret, by key.
	Data map[string]string
	// Version is the UID and version that a ConfigMap or Secret had when its present content was first seen.
	Version string
	// Others are the names of the existing objects of its kind, if it is a class that does not exist.
	Others []string
	// Gateway has the facts that were read of a Gateway.
	Gateway *gateway.Gateway
}

// ByTLS is what refers to a certificate. cert-manager creates it once it sees the Ingress, so that nothing may wait for
// it.
const ByTLS = "TLS of the Ingress"

// Of lists what rendered objects refer to, without the rendered objects themselves, each reference once, sorted.
func Of(objects []*unstructured.Unstructured) []Reference {
	rendered := map[Object]bool{}
	for _, object := range objects {
		rendered[Object{Kind: object.GetKind(), Name: object.GetName()}] = true
	}
	var all, list []Reference
	made := map[Object]bool{} // once the objects exist
	for _, object := range objects {
		references := of(object)
		all = append(all, references...)
		for _, reference := range references {
			if reference.By == ByTLS {
				made[reference.Object] = true
			}
		}
	}
	for _, reference := range all {
		if made[reference.Object] && reference.Need == Required {
			reference.Need = Advisory
		}
		if !rendered[reference.Object] && reference.Name != "" {
			list = append(list, reference)
		}
	}
	slices.SortStableFunc(list, func(a, b Reference) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Key, b.Key), cmp.Compare(a.Need, b.Need))
	})
	return slices.CompactFunc(list, func(a, b Reference) bool {
		return a.Object == b.Object && a.Key == b.Key && a.Content == b.Content
	})
}

// ByPods lists the references of an object's pods, to rendered objects or others; nil if its kind has no pods.
func ByPods(object *unstructured.Unstructured) []Reference {
	template := PodTemplate(object)
	if template == nil {
		return nil
	}
	var pod corev1.PodTemplateSpec
	if runtime.DefaultUnstructuredConverter.FromUnstructured(template, &pod) != nil {
		return nil // post-rendering says what is wrong with it
	}
	return ofPod(&pod.Spec)
}

func of(object *unstructured.Unstructured) []Reference {
	if PodTemplate(object) != nil {
		return ByPods(object)
	}
	if route := gateway.RouteOf(object); route != nil {
		return ofRoute(route)
	}
	if set := gateway.ListenerSetOf(object); set != nil {
		return ofListenerSet(set)
	}
	switch object.GetKind() {
	case "Ingress":
		var ingress networkingv1.Ingress
		if runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &ingress) == nil {
			return ofIngress(&ingress)
		}
	case PersistentVolumeClaim:
		if class, _, _ := unstructured.NestedString(object.Object, "spec", "storageClassName"); class != "" {
			return []Reference{{Object: Object{Kind: StorageClass, Name: class}, Need: Advisory,
				By: "the claim " + object.GetName()}}
		}
	}
	return nil
}

// The fields in which kinds have their pod template.
var (
	podTemplate    = []string{"spec", "template"}
	jobPodTemplate = []string{"spec", "jobTemplate", "spec", "template"}
)

// PodTemplate returns the pod template of an object of a built-in kind, or of one that names the field by annotation;
// nil if it has none. It is shared with the object.
func PodTemplate(object *unstructured.Unstructured) map[string]any {
	switch object.GetKind() {
	case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job":
		return templateAt(object, podTemplate)
	case "CronJob":
		return templateAt(object, jobPodTemplate)
	}
	if field := object.GetAnnotations()[v1.AnnotationPodTemplate]; field != "" {
		return templateAt(object, strings.Split(field, "."))
	}
	return nil
}

// ForeignPodTemplate returns the pod template of an object of a kind that is not built in, such as a Rollout: what is
// in the same fields and has containers, if that is not the one that it names; and a Pod itself; nil for none. It is
// shared with the object.
func ForeignPodTemplate(object *unstructured.Unstructured) map[string]any {
	named := object.GetAnnotations()[v1.AnnotationPodTemplate]
	if PodTemplate(object) != nil && named == "" {
		return nil
	}
	if IsPod(object) {
		return object.Object
	}
	for _, path := range [][]string{podTemplate, jobPodTemplate} {
		template := templateAt(object, path)
		_, runs, _ := unstructured.NestedFieldNoCopy(template, "spec", "containers")
		if runs && strings.Join(path, ".") != named {
			return template
		}
	}
	return nil
}

// IsPod reports whether an object is a Pod.
func IsPod(object *unstructured.Unstructured) bool {
	return object.GroupVersionKind() == corev1.SchemeGroupVersion.WithKind("Pod")
}

// CheckPodTemplate returns the fault of an annotation that names the field of an object's pod template.
func CheckPodTemplate(object *unstructured.Unstructured) error {
	field := object.GetAnnotations()[v1.AnnotationPodTemplate]
	if field == "" {
		return nil
	}
	if _, runs, _ := unstructured.NestedFieldNoCopy(PodTemplate(object), "spec", "containers"); !runs {
		return fmt.Errorf("has the annotation %s: %s, where no pod template with containers is", v1.AnnotationPodTemplate, field)
	}
	return nil
}

func templateAt(object *unstructured.Unstructured, path []string) map[string]any {
	template, _, _ := unstructured.NestedFieldNoCopy(object.Object, path...)
	content, _ := template.(map[string]any)
	return content
}

func ofIngress(ingress *networkingv1.Ingress) []Reference {
	var list []Reference
	if class := ingress.Spec.IngressClassName; class != nil {
		list = append(list, Reference{Object: Object{Kind: IngressClass, Name: *class}, Need: Advisory, By: "the Ingress"})
	}
	for _, tls := range ingress.Spec.TLS {
		list = append(list, Reference{Object: Object{Kind: Secret, Name: tls.SecretName}, Need: Advisory, By: ByTLS})
	}
	return list
}

// ofListenerSet returns a reference to the Gateway that listeners are added to: the set reports itself what is missing.
func ofListenerSet(set *gateway.ListenerSet) []Reference {
	parent := set.Parent()
	if !parent.IsGateway() {
		return nil
	}
	return []Reference{{Object: Object{Kind: Gateway, Namespace: parent.Namespace, Name: parent.Name}, Need: Reported,
		By: "a ListenerSet"}}
}

// ofRoute returns references to the Gateways of a route: a route reports itself that its Gateway is missing.
func ofRoute(route *gateway.Route) []Reference {
	var list []Reference
	for _, name := range route.Gateways() {
		list = append(list, Reference{Object: Object{Kind: Gateway, Namespace: name.Namespace, Name: name.Name},
			Need: Reported, By: "a route"})
	}
	return list
}
