package translate

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/example/appservice-operator/api/v1"
)

// piece is a part of a spec.
type piece struct {
	// from is its source: a field of the workload or of another object.
	from Source
	set  func(*v1.AppServiceSpec)
	// job are fields that only an AppJob has; set is nil then.
	job map[string]any
}

// Source is a field of an object.
type Source struct{ Object, Field string }

// Refusal is the error that made import leave out a piece.
type Refusal struct {
	From Source
	Err  error
}

// accepted returns what is accepted of more items, in their order, after those that are taken already. It tries all of
// them, then halves, so that a few that are refused cost few attempts.
func accepted[T any](taken, more []T, try func([]T) error, refused func(T, error)) []T {
	if len(more) == 0 {
		return taken
	}
	with := slices.Concat(taken, more)
	err := try(with)
	if err == nil {
		return with
	}
	if len(more) == 1 {
		refused(more[0], err)
		return taken
	}
	half := len(more) / 2
	return accepted(accepted(taken, more[:half], try, refused), more[half:], try, refused)
}

// same returns a piece for each of the named fields of a struct that is set; for all of them if none is named. The part
// of the spec that it goes to has a field of the same name and content; a field that this part lacks is left out.
func same[T any](from func(field string) Source, given any, part func(*v1.AppServiceSpec) *T, names ...string) []piece {
	all, into := reflect.ValueOf(given).Elem(), reflect.TypeFor[T]()
	var list []piece
	for _, field := range reflect.VisibleFields(all.Type()) {
		value := all.FieldByIndex(field.Index)
		to, has := into.FieldByName(field.Name)
		if value.IsZero() || !has || len(names) > 0 && !slices.Contains(names, field.Name) {
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		list = append(list, piece{from: from(name), set: func(spec *v1.AppServiceSpec) {
			reflect.ValueOf(part(spec)).Elem().FieldByIndex(to.Index).Set(value.Convert(to.Type))
		}})
	}
	return list
}

func theSpec(spec *v1.AppServiceSpec) *v1.AppServiceSpec { return spec }

// made returns a part of a spec, and makes it first if there is none.
func made[T any](part **T) *T {
	fillPointer(part, *new(T))
	return *part
}

func templatePath(field string) string { return "spec.template.spec." + field }

// portKey identifies a port of a container or Service: 80, or 53/UDP.
func portKey(number int32, protocol corev1.Protocol) string {
	if protocol == "" || protocol == corev1.ProtocolTCP {
		return fmt.Sprint(number)
	}
	return fmt.Sprintf("%d/%s", number, protocol)
}

// fillPointer sets a field that is nil.
func fillPointer[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

func notZero(value int32) *int32 {
	if value == 0 {
		return nil
	}
	return &value
}

// lastOf returns a list without the entries whose key a later one has.
func lastOf[T any](list []T, key func(T) string) []T {
	var out []T
	for n, item := range list {
		if !slices.ContainsFunc(list[n+1:], func(later T) bool { return key(later) == key(item) }) {
			out = append(out, item)
		}
	}
	return out
}

func names[T any](list []T, name func(T) string) []string {
	var out []string
	for _, item := range list {
		out = append(out, name(item))
	}
	return out
}

func inJSON(value any) string {
	data, _ := json.Marshal(value)
	return string(data)
}

func convert[T any](set map[string]string, as func(string) T) map[string]T {
	if len(set) == 0 {
		return nil
	}
	out := make(map[string]T, len(set))
	for key, value := range set {
		out[key] = as(value)
	}
	return out
}

func asLabels(set map[string]string) map[string]v1.Label {
	return convert(set, func(value string) v1.Label { return v1.Label(value) })
}

func asAnnotations(set map[string]string) map[string]v1.Annotation {
	return convert(set, func(value string) v1.Annotation { return v1.Annotation(value) })
}

// foreignAnnotations returns the annotations that are not set by the operator, Helm, kompose or Kubernetes.
func foreignAnnotations(all map[string]string) map[string]string {
	out := maps.Clone(all)
	maps.DeleteFunc(out, func(key, _ string) bool {
		domain, _, _ := strings.Cut(key, "/")
		return slices.Contains([]string{"app.example.com", "helm.sh", "meta.helm.sh", "deployment.kubernetes.io",
			"autoscaling.alpha.kubernetes.io"}, domain) ||
			slices.Contains([]string{
				"kubectl.kubernetes.io/last-applied-configuration", "kubectl.kubernetes.io/restartedAt",
				"validations.keda.sh/hpa-ownership", "kompose.cmd", "kompose.version",
				"pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller", "volume.kubernetes.io/selected-node",
				"volume.kubernetes.io/storage-provisioner", "volume.beta.kubernetes.io/storage-provisioner",
			}, key)
	})
	return out
}

// claimAnnotations returns the annotations that a claim may have.
func claimAnnotations(all map[string]string) map[string]v1.Annotation {
	some := foreignAnnotations(all)
	maps.DeleteFunc(some, func(key, _ string) bool { return strings.Contains(key, "kubernetes.io/") })
	return asAnnotations(some)
}
