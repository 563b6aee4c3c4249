package fields

import (
	"fmt"
	"reflect"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/example/appservice-operator/api/v1"
)

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

// Fixed returns why a default for a field would have no effect; empty if it would have one.
func (p Place) Fixed(field string) string {
	if p.typ != nil && fixedOf[indirect(p.typ)][field] != "" {
		return fixedOf[indirect(p.typ)][field]
	}
	if p.fields != nil && p.schema != nil && slices.Contains(p.schema.Required, field) {
		return inEachSpec
	}
	if at, known := p.Field(field); known && at.schema != nil && at.schema.Default != nil {
		return fmt.Sprintf("the API server writes %v into each spec that has none", Default(at.schema))
	}
	return ""
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
	if p.typ == nil {
		return false
	}
	typ := indirect(p.typ)
	if teller, is := tellers[typ]; is && spec[teller] != nil {
		return true
	}
	among := alternatives[typ]
	return slices.Contains(among, field) &&
		slices.ContainsFunc(among, func(other string) bool { return spec[other] != nil })
}
