package fields

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/example/appservice-operator/api/v1"
)

// Place is a location in the spec of a kind, with its schema as needed to lay defaults beneath a spec. The zero value
// has no schema: any value fits.
type Place struct {
	at *node
	// fixed maps the fields for which defaults have no effect to the reason.
	fixed map[string]string
}

// SpecOf returns the place of the spec of a kind. Declared are the fields that a chart declares; nil if there are none.
// Besides are names of fields of any type.
func SpecOf(kind schema.GroupVersionKind, declared *File, besides ...string) Place {
	core, typed := Core(kind)
	if !typed && declared == nil {
		return Place{at: &node{path: "spec"}}
	}
	top, fixed := map[string]*node{}, map[string]string{}
	for _, name := range besides {
		top[name] = &node{path: "spec." + name}
	}
	if typed {
		fixed = fixedOf[core]
		for name, typ := range Members(core) {
			top[name] = &node{path: "spec." + name, typ: typ}
		}
	} else {
		for _, name := range declared.Spec.Required {
			fixed[name] = inEachSpec
		}
	}
	if declared != nil {
		for name, field := range declared.Spec.Properties {
			top[name] = nodeOf("spec."+name, &field)
		}
	}
	return Place{&node{path: "spec", fields: top}, fixed}
}

const (
	inEachSpec = "each spec has it"
	fixedByUse = "immutable: each spec must set it"
	aboutOne   = "the field is about one resource, and read from its spec alone"
)

// fixedOf lists the fields of Go types for which defaults have no effect, with the reason: fields that every spec has,
// that are read from the spec only, or that are immutable, which the API server checks in the spec only.
var fixedOf = map[reflect.Type]map[string]string{
	reflect.TypeFor[v1.AppServiceSpec](): {
		"image":       inEachSpec,
		"size":        "the API server writes 1 into each spec that has none, so that kubectl scale works",
		"paused":      aboutOne,
		"ttl":         aboutOne,
		"onFailure":   aboutOne,
		"statefulSet": fixedByUse,
	},
	reflect.TypeFor[v1.Persistence](): {"perReplica": fixedByUse},
	reflect.TypeFor[v1.Claim]():       {"perReplica": fixedByUse},
}

// Field returns the place of a field. Known is false if there is no such field.
func (p Place) Field(name string) (field Place, known bool) {
	if p.at == nil {
		return Place{}, true
	}
	at, known := p.at.member(name)
	if known && at.typ != nil {
		return Place{at, fixedOf[indirect(at.typ)]}, true
	}
	return Place{at: at}, known
}

// Element returns the place of an entry of a list or a map.
func (p Place) Element() Place {
	if p.at == nil {
		return Place{}
	}
	return Place{at: p.at.element()}
}

// Path returns the path of the place, as in spec.ports[].name; empty for the zero value.
func (p Place) Path() string {
	if p.at == nil {
		return ""
	}
	return p.at.path
}

// Fixed returns why a default for a field would have no effect; empty if it would have one.
func (p Place) Fixed(field string) string {
	if why := p.fixed[field]; why != "" || p.at == nil {
		return why
	}
	if at, known := p.at.member(field); known && at.schema != nil && at.schema.Default != nil {
		return fmt.Sprintf("the API server writes %v into each spec that has none", Default(at.schema))
	}
	return ""
}

// DidYouMean returns a question with the field that is most similar to a wrong name; empty if none is.
func (p Place) DidYouMean(wrong string) string {
	if p.at == nil {
		return ""
	}
	return DidYouMean(wrong, p.at.names())
}

// At returns the place at a path, as in spec.ports[0].name. It reports false if a field is unknown.
func (p Place) At(path string) (Place, bool) {
	for _, step := range strings.Split(path, ".")[1:] {
		name, rest, _ := strings.Cut(step, "[")
		field, known := p.Field(name)
		if !known {
			return Place{}, false
		}
		for ; rest != ""; _, rest, _ = strings.Cut(rest, "[") {
			field = field.Element()
		}
		p = field
	}
	return p, true
}

// Lacks returns the path of a required field that a value lacks; empty if it is complete. An incomplete value cannot
// create an object: it only adds to one that a spec has.
func (p Place) Lacks(value any) string {
	given, isMap := value.(map[string]any)
	if !isMap || p.at == nil {
		return ""
	}
	for _, name := range p.at.required() {
		if _, there := given[name]; !there {
			return name
		}
	}
	for name, value := range given {
		field, _ := p.Field(name)
		if lacks := field.Lacks(value); lacks != "" {
			return name + "." + lacks
		}
	}
	return ""
}

// required returns the required fields of an object.
func (n *node) required() []string {
	switch {
	case n.schema != nil:
		return n.schema.Required
	case n.typ != nil && indirect(n.typ).Kind() == reflect.Struct:
		return requiredOf(indirect(n.typ))
	}
	return nil
}

// requiredOf returns the fields of a struct without omitempty, which controller-gen treats as required.
func requiredOf(of reflect.Type) []string {
	var names []string
	for i := range of.NumField() {
		field := of.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case strings.Contains(options, "inline") && indirect(field.Type).Kind() == reflect.Struct:
			names = append(names, requiredOf(indirect(field.Type))...)
		case field.IsExported() && name != "" && name != "-" && !strings.Contains(options, "omitempty"):
			names = append(names, name)
		}
	}
	return names
}

// alternatives are mutually exclusive fields, by rules of the CRD and of Kubernetes. If a spec sets one, defaults for
// the others are not applied.
var alternatives = map[reflect.Type][]string{
	reflect.TypeFor[v1.Probe]():                {"exec", "grpc", "httpGet", "tcpSocket"},
	reflect.TypeFor[v1.ReadinessProbe]():       {"exec", "grpc", "httpGet", "none", "tcpSocket"},
	reflect.TypeFor[v1.Probes]():               {"startup", "startupSeconds"},
	reflect.TypeFor[v1.PodDisruptionBudget]():  {"maxUnavailable", "minAvailable"},
	reflect.TypeFor[v1.Config]():               {"databaseUrl", "databaseUrlFrom"},
	reflect.TypeFor[v1.Ingress]():              {"clusterIssuer", "issuer"},
	reflect.TypeFor[corev1.LifecycleHandler](): {"exec", "httpGet", "sleep", "tcpSocket"},
}

// tellers are the discriminator fields of objects. If a spec sets one, no defaults are applied to the object.
var tellers = map[reflect.Type]string{
	reflect.TypeFor[appsv1.DeploymentStrategy](): "type",
	reflect.TypeFor[v1.ReadinessProbe]():         "none",
	reflect.TypeFor[corev1.SeccompProfile]():     "type",
	reflect.TypeFor[corev1.AppArmorProfile]():    "type",
}

// Excludes reports whether the fields that a spec sets at the place rule out a default for a field.
func (p Place) Excludes(spec map[string]any, field string) bool {
	if p.at == nil || p.at.typ == nil {
		return false
	}
	typ := indirect(p.at.typ)
	if teller, is := tellers[typ]; is && spec[teller] != nil {
		return true
	}
	among := alternatives[typ]
	return slices.Contains(among, field) &&
		slices.ContainsFunc(among, func(other string) bool { return spec[other] != nil })
}
