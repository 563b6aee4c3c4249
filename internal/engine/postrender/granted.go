package postrender

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/component-helpers/auth/rbac/validation"

	"github.com/example/appservice-operator/internal/engine/chart"
)

// Published is what is known of a chart that is served as it was published: nobody has read it for what a spec can make
// of it.
type Published struct {
	chart.Published
	// Kind is that of the resource.
	Kind string
	// Plain returns what the chart renders without a spec.
	Plain func() ([]*unstructured.Unstructured, error)
}

// NotGrantedError says that a published chart renders what its entry in watches.yaml does not allow.
type NotGrantedError struct {
	Object *unstructured.Unstructured
	// Kind is that of the entry.
	Kind string
	// The deed that is not allowed, and the key of the entry that would allow it.
	What, Key string
}

func (e *NotGrantedError) Error() string {
	return fmt.Sprintf("%s %q %s: leave out what causes it, or ask the platform team to allow it by %s of %s in watches.yaml",
		e.Object.GetKind(), e.Object.GetName(), e.What, e.Key, e.Kind)
}

const (
	role        = "Role"
	clusterRole = "ClusterRole"
	roleBinding = "RoleBinding"
	// most is how many rights, each one verb on one resource, a role may have.
	most = 10_000
)

// Granted refuses what a published chart renders beyond its entry in watches.yaml: kinds that are not among renders,
// rights that are not covered by grants, and fields of cluster-scoped objects that the chart does not render without a
// spec. It needs no policy.
func Granted(ctx context.Context, in *Input, objects []*unstructured.Unstructured) error {
	if in.Published == nil {
		return nil
	}
	g := &granted{Published: in.Published, ctx: ctx, in: in, objects: objects}
	for _, object := range objects {
		if err := g.check(object); err != nil {
			return err
		}
	}
	return nil
}

type granted struct {
	*Published
	ctx      context.Context
	in       *Input
	objects  []*unstructured.Unstructured
	plain    []*unstructured.Unstructured // without a spec, once it is known
	rendered bool
}

func (g *granted) refuse(object *unstructured.Unstructured, key, what string, args ...any) error {
	return &NotGrantedError{Object: object, Kind: g.Kind, Key: key, What: fmt.Sprintf(what, args...)}
}

func (g *granted) check(object *unstructured.Unstructured) error {
	kind := object.GroupVersionKind()
	if !g.MayRender(kind.GroupKind()) {
		return g.refuse(object, "renders", "is of a kind that is not among renders")
	}
	switch {
	case kind.Group == rbacv1.GroupName && (kind.Kind == role || kind.Kind == clusterRole):
		return g.role(object)
	case kind.Group == rbacv1.GroupName:
		return g.binding(object)
	case g.isForCluster(kind):
		return g.forCluster(object)
	}
	return nil
}

// forAll are the groups and kinds of Kubernetes whose objects concern others than their namespace.
var forAll = []string{"admissionregistration.k8s.io", "apiregistration.k8s.io", "scheduling.k8s.io", "node.k8s.io",
	"flowcontrol.apiserver.k8s.io", "certificates.k8s.io", "StorageClass.storage.k8s.io", "CSIDriver.storage.k8s.io",
	"IngressClass.networking.k8s.io", "GatewayClass.gateway.networking.k8s.io", "Namespace", "Node", "PersistentVolume"}

// isForCluster reports whether objects of a kind concern others than their namespace.
func (g *granted) isForCluster(kind schema.GroupVersionKind) bool {
	return slices.Contains(forAll, kind.Group) || slices.Contains(forAll, kind.GroupKind().String()) ||
		g.in.ClusterScoped != nil && g.in.ClusterScoped(kind)
}

// withoutSpec returns what the chart renders without a spec; nothing if it cannot be rendered so.
func (g *granted) withoutSpec() []*unstructured.Unstructured {
	if !g.rendered {
		g.rendered = true
		plain, err := g.Plain()
		if err == nil {
			err = Canonical(g.ctx, &Input{Owner: g.in.Owner, Published: g.Published}, plain)
		}
		if err == nil {
			g.plain = plain
		}
	}
	return g.plain
}

// rendersAnyway reports whether, without a spec, the chart renders an object of this kind and name for which a test
// holds.
func (g *granted) rendersAnyway(object *unstructured.Unstructured, test func(*unstructured.Unstructured) bool) bool {
	return slices.ContainsFunc(g.withoutSpec(), func(other *unstructured.Unstructured) bool {
		return other.GroupVersionKind() == object.GroupVersionKind() && other.GetName() == object.GetName() && test(other)
	})
}

// role checks the rules of a role.
func (g *granted) role(object *unstructured.Unstructured) error {
	rule := object.Object["aggregationRule"]
	if rule != nil && !g.rendersAnyway(object, func(other *unstructured.Unstructured) bool {
		return reflect.DeepEqual(rule, other.Object["aggregationRule"])
	}) {
		return g.refuse(object, "defaultValues", "has an aggregationRule, which adds the rights of other roles")
	}
	for _, label := range slices.Sorted(maps.Keys(object.GetLabels())) {
		if strings.Contains(label, "/aggregate-to-") && !g.rendersAnyway(object, func(other *unstructured.Unstructured) bool {
			return other.GetLabels()[label] == object.GetLabels()[label]
		}) {
			return g.refuse(object, "defaultValues", "has the label %s, which adds its rights to other roles", label)
		}
	}
	var read struct {
		Rules []rbacv1.PolicyRule `json:"rules"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &read); err != nil {
		return notValid(object, err)
	}
	rights := 0.0 // there may be more than an integer can count
	for _, rule := range read.Rules {
		verbs, names := float64(max(1, len(rule.Verbs))), float64(max(1, len(rule.ResourceNames)))
		rights += verbs*names*float64(max(1, len(rule.APIGroups)))*float64(max(1, len(rule.Resources))) +
			verbs*float64(len(rule.NonResourceURLs))
		if rights > most {
			return g.refuse(object, "grants", "has more than %d rights", most)
		}
	}
	if covered, lacking := validation.Covers(g.Grants, read.Rules); !covered {
		return g.refuse(object, "grants", "grants rights that are not among grants (%s)", shown(lacking[0]))
	}
	return nil
}

// shown returns a right as it is written in watches.yaml.
func shown(rule rbacv1.PolicyRule) string {
	text, _ := json.Marshal(rule) // it was read as JSON
	return string(text)
}

// binding checks which role a binding grants, and to whom.
func (g *granted) binding(object *unstructured.Unstructured) error {
	ref, subjects, err := bound(object)
	if err != nil {
		return err
	}
	if ref.Kind != role && ref.Kind != clusterRole {
		return g.refuse(object, "grants", "refers to a %s, which is no role", ref.Kind)
	}
	own := slices.ContainsFunc(g.objects, func(other *unstructured.Unstructured) bool {
		of := other.GroupVersionKind()
		return of.Group == rbacv1.GroupName && of.Kind == ref.Kind && other.GetName() == ref.Name
	})
	right := rbacv1.PolicyRule{APIGroups: []string{rbacv1.GroupName}, Resources: []string{strings.ToLower(ref.Kind) + "s"},
		ResourceNames: []string{ref.Name}, Verbs: []string{"bind"}}
	if covered, _ := validation.Covers(g.Grants, []rbacv1.PolicyRule{right}); !own && !covered {
		return g.refuse(object, "grants", "binds %s %q, which the chart does not render, and grants does not name with the verb bind",
			ref.Kind, ref.Name)
	}
	namespace := g.in.Owner.GetNamespace()
	for _, subject := range subjects {
		isOwn := subject.Kind == rbacv1.ServiceAccountKind && (subject.Namespace == namespace ||
			subject.Namespace == "" && object.GetKind() == roleBinding)
		if !isOwn && !g.rendersAnyway(object, func(other *unstructured.Unstructured) bool {
			otherRole, others, err := bound(other)
			return err == nil && otherRole == ref && slices.Contains(others, subject)
		}) {
			return g.refuse(object, "defaultValues", "grants rights to %s %q, which is no account of the namespace %s",
				subject.Kind, subject.Name, namespace)
		}
	}
	return nil
}

// bound returns the role that a binding grants, and to whom.
func bound(object *unstructured.Unstructured) (rbacv1.RoleRef, []rbacv1.Subject, error) {
	var read struct {
		RoleRef  rbacv1.RoleRef   `json:"roleRef"`
		Subjects []rbacv1.Subject `json:"subjects"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &read); err != nil {
		return read.RoleRef, nil, notValid(object, err)
	}
	return read.RoleRef, read.Subjects, nil
}

// forCluster checks that an object that concerns others has only what the chart renders without a spec, besides names
// and labels.
func (g *granted) forCluster(object *unstructured.Unstructured) error {
	for _, service := range servicesIn(object.Object) {
		if err := g.service(object, service); err != nil {
			return err
		}
	}
	wanted, closest := nameless(object.Object), ""
	for _, other := range g.withoutSpec() {
		if other.GroupVersionKind() != object.GroupVersionKind() {
			continue
		}
		path := differing(wanted, nameless(other.Object), "")
		if path == "" {
			return nil
		}
		if closest == "" || other.GetName() == object.GetName() {
			closest = path
		}
	}
	if closest == "" {
		return g.refuse(object, "defaultValues", "concerns the whole cluster, and the chart does not render such an object without a spec")
	}
	return g.refuse(object, "defaultValues", "concerns the whole cluster, and %s is not what the chart renders without a spec",
		closest)
}

// service checks the service that a webhook or an API is served by.
func (g *granted) service(object *unstructured.Unstructured, of map[string]any) error {
	name, _ := of["name"].(string)
	namespace, _ := of["namespace"].(string)
	rendered := slices.ContainsFunc(g.objects, func(other *unstructured.Unstructured) bool {
		return other.GroupVersionKind().GroupKind() == schema.GroupKind{Kind: "Service"} && other.GetName() == name
	})
	if !rendered || namespace != g.in.Owner.GetNamespace() {
		return g.refuse(object, "defaultValues", "is served by Service %s/%s, which the chart does not render", namespace, name)
	}
	return nil
}

// servicesIn returns the services of the webhooks, or of the API, in an object.
func servicesIn(value any) (list []map[string]any) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			list = append(list, servicesIn(item)...)
		}
	case map[string]any:
		for key, item := range value {
			if service, isMap := item.(map[string]any); isMap && key == "service" {
				list = append(list, service)
			} else {
				list = append(list, servicesIn(item)...)
			}
		}
	}
	return list
}

// nameless returns an object without its name, its labels, and the names and certificates of the services that it is
// served by.
func nameless(object map[string]any) map[string]any {
	object = runtime.DeepCopyJSON(object)
	unstructured.RemoveNestedField(object, "metadata", "name")
	unstructured.RemoveNestedField(object, "metadata", "namespace")
	unstructured.RemoveNestedField(object, "metadata", "labels")
	for _, service := range servicesIn(object) {
		delete(service, "name")
		delete(service, "namespace")
	}
	dropCertificates(object)
	return object
}

func dropCertificates(value any) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			dropCertificates(item)
		}
	case map[string]any:
		delete(value, "caBundle")
		for _, item := range value {
			dropCertificates(item)
		}
	}
}

// differing returns the path of the first field in which two values differ; empty if there is none.
func differing(a, b any, path string) string {
	one, isMap := a.(map[string]any)
	other, isOtherMap := b.(map[string]any)
	if isMap && isOtherMap {
		keys := slices.Sorted(maps.Keys(one))
		for key := range other {
			if _, otherRole := one[key]; !otherRole {
				keys = append(keys, key)
			}
		}
		for _, key := range keys {
			if at := differing(one[key], other[key], strings.TrimPrefix(path+"."+key, ".")); at != "" {
				return at
			}
		}
		return ""
	}
	if reflect.DeepEqual(a, b) {
		return ""
	}
	return path
}
