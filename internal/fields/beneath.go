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

// Place is a place in the spec of a kind, with what has to be known of it to lay something beneath a spec. Of the zero value nothing is
// known: whatever is there fits.
type Place struct {
	at *node
	// fixed are the fields that each spec has, whatever its user wrote, with the reason.
	fixed map[string]string
}

// SpecOf returns the place of the spec of a kind, of which a chart declares some fields or none.
func SpecOf(kind schema.GroupVersionKind, declared *File) Place {
	core, typed := Core(kind)
	if !typed && declared == nil {
		return Place{}
	}
	top, fixed := map[string]*node{}, map[string]string{}
	if typed {
		eachMember(core, func(name string, typ reflect.Type) { top[name] = &node{path: "spec." + name, typ: typ} })
		fixed = fixedOf[core]
	} else {
		for _, name := range declared.Spec.Required {
			fixed[name] = inEachSpec
		}
	}
	if declared != nil {
		for name, field := range declared.Spec.Properties {
			top[name] = nodeOf("spec."+name, field)
		}
	}
	return Place{&node{path: "spec", fields: top}, fixed}
}

const (
	inEachSpec = "each spec has it"
	aboutOne   = "it is about one resource, and read from its spec alone"
)

// fixedOf are the fields of Go types that each spec has, those that are read from the spec alone, and those that cannot be changed, which the API
// server knows of a spec only.
var fixedOf = map[reflect.Type]map[string]string{
	reflect.TypeFor[v1.AppServiceSpec](): {
		"image":  inEachSpec,
		"size":   "the API server writes 1 into each spec that has none, so that kubectl scale works",
		"paused": aboutOne,
		"ttl":    aboutOne,
	},
	reflect.TypeFor[v1.Persistence](): {"perReplica": "it cannot be changed: each spec has to say it"},
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

// Fixed returns why something beneath a spec would never reach it there; empty if it would.
func (p Place) Fixed(field string) string {
	if why := p.fixed[field]; why != "" || p.at == nil {
		return why
	}
	if at, known := p.at.member(field); known && at.schema != nil && at.schema.Default != nil {
		return fmt.Sprintf("the API server writes %v into each spec that has none", at.schema.Default)
	}
	return ""
}

// DidYouMean returns a question with the field that a wrong name is most like; empty if none is.
func (p Place) DidYouMean(wrong string) string {
	if p.at == nil {
		return ""
	}
	return DidYouMean(wrong, p.at.names())
}

// At returns the place that a path leads to, as in spec.ports[0].name.
func (p Place) At(path string) (Place, bool) {
	for _, step := range strings.Split(path, ".")[1:] {
		name, rest, _ := strings.Cut(step, "[")
		field, known := p.Field(name)
		if !known {
			return Place{}, false
		}
		for ; rest != "" && field.at != nil; _, rest, _ = strings.Cut(rest, "[") {
			field = Place{at: field.at.element()}
		}
		p = field
	}
	return p, true
}

// Lacks returns a field that a value needs there and does not have, by its path; empty if it is complete. What is not complete cannot
// bring an object into being: it adds to those that a spec has.
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

// required are the fields that an object cannot do without.
func (n *node) required() []string {
	switch {
	case n.schema != nil:
		return n.schema.Required
	case n.typ != nil && indirect(n.typ).Kind() == reflect.Struct:
		return requiredOf(indirect(n.typ))
	}
	return nil
}

// requiredOf are the fields of a struct that are always written: those that controller-gen takes for required.
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

// alternatives are fields of which an object takes one. Rules of the CRD and of Kubernetes say so; a spec that has one leaves no
// place for another that lies beneath it.
var alternatives = map[reflect.Type][]string{
	reflect.TypeFor[v1.Probe]():                {"exec", "grpc", "httpGet", "tcpSocket"},
	reflect.TypeFor[v1.ReadinessProbe]():       {"exec", "grpc", "httpGet", "none", "tcpSocket"},
	reflect.TypeFor[v1.Probes]():               {"startup", "startupSeconds"},
	reflect.TypeFor[v1.PodDisruptionBudget]():  {"maxUnavailable", "minAvailable"},
	reflect.TypeFor[v1.Config]():               {"databaseUrl", "databaseUrlFrom"},
	reflect.TypeFor[v1.Ingress]():              {"clusterIssuer", "issuer"},
	reflect.TypeFor[corev1.LifecycleHandler](): {"exec", "httpGet", "sleep", "tcpSocket"},
}

// tellers are fields by which objects say what they are: a spec that has one says all of the object.
var tellers = map[reflect.Type]string{
	reflect.TypeFor[appsv1.DeploymentStrategy](): "type",
	reflect.TypeFor[v1.ReadinessProbe]():         "none",
	reflect.TypeFor[corev1.SeccompProfile]():     "type",
	reflect.TypeFor[corev1.AppArmorProfile]():    "type",
}

// Excludes reports whether what a spec has there leaves no place for a field.
func (p Place) Excludes(spec map[string]any, field string) bool {
	if p.at == nil || p.at.typ == nil {
		return false
	}
	typ := indirect(p.at.typ)
	if teller, is := tellers[typ]; is && spec[teller] != nil {
		return true
	}
	among := alternatives[typ]
	return slices.Contains(among, field) && slices.ContainsFunc(among, func(other string) bool { return spec[other] != nil })
}
