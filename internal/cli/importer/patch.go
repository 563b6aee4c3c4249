package importer

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// fragment is a field of the pods, or of one of their containers, for a patch.
type fragment struct {
	// list and container are empty for a field of the pods.
	list, container string
	field           string
	// value of the field; of ports, one of them.
	value any
}

func (f fragment) path() string {
	if f.list == "" {
		return templatePath(f.field)
	}
	path := templatePath(f.list + "[" + f.container + "]." + f.field)
	if port, one := f.value.(map[string]any); one && f.field == "ports" {
		path += fmt.Sprintf("[%v]", port["containerPort"])
	}
	return path
}

// patch adds spec.podTemplate for fields of pods that no field of the spec sets, as far as the operator accepts it.
func (i *Importer) patch(ctx context.Context, s *subject, app *unstructured.Unstructured) error {
	rendered, err := i.made(ctx, app)
	if err != nil {
		return err
	}
	fragments := missing(podOf(s.comparables(s.given)), podOf(s.comparables(rendered)))
	set := func(fragments []fragment) error {
		unstructured.RemoveNestedField(app.Object, "spec", "podTemplate")
		if len(fragments) > 0 {
			// the fragments are copies of JSON values
			_ = unstructured.SetNestedMap(app.Object, assemble(fragments), "spec", "podTemplate", "spec")
		}
		return i.refused(ctx, app)
	}
	if set(fragments) == nil {
		return nil
	}
	var taken []fragment
	for _, f := range fragments {
		if err := set(append(slices.Clone(taken), f)); err != nil {
			s.refused = append(s.refused, refusal{s.from(f.path()), err})
			continue
		}
		taken = append(taken, f)
	}
	return set(taken)
}

func podOf(objects map[string]*unstructured.Unstructured) map[string]any {
	pod, _, _ := unstructured.NestedMap(objects[roleWorkload].Object, "spec", "template", "spec")
	return pod
}

// settled are fields of pods that fields of an AppService determine completely.
var settled = regexp.MustCompile(`^(serviceAccountName|automountServiceAccountToken|securityContext|topologySpreadConstraints|containers\[app\]\.(terminationMessagePolicy|readinessProbe|livenessProbe|startupProbe|lifecycle|env|envFrom|volumeMounts|resources))$`)

// missing returns the fields of given that rendered lacks, or has with another value.
func missing(given, rendered map[string]any) []fragment {
	var found []fragment
	for _, field := range slices.Sorted(maps.Keys(given)) {
		switch {
		case field == "volumes" || settled.MatchString(field):
		case field == "containers" || field == "initContainers":
			for _, container := range list(given[field]) {
				name, _ := container["name"].(string)
				found = append(found, missingOf(field, name, container, entryOf(rendered[field], name))...)
			}
		case !reflect.DeepEqual(given[field], rendered[field]):
			found = append(found, fragment{field: field, value: given[field]})
		}
	}
	return found
}

// missingOf returns the missing fields of a container. Containers that are not rendered cannot be patched.
func missingOf(in, name string, given, rendered map[string]any) []fragment {
	if rendered == nil || in == "initContainers" {
		return nil // a spec takes init containers as they are
	}
	var found []fragment
	for _, field := range slices.Sorted(maps.Keys(given)) {
		if settled.MatchString(fmt.Sprintf("%s[%s].%s", in, name, field)) ||
			reflect.DeepEqual(given[field], rendered[field]) {
			continue
		}
		if field == "securityContext" {
			found = append(found, otherSecurity(in, name, given[field])...)
			continue
		}
		if field == "ports" {
			for _, port := range morePorts(given[field], rendered[field]) {
				found = append(found, fragment{in, name, field, port})
			}
			continue
		}
		found = append(found, fragment{in, name, field, given[field]})
	}
	return found
}

// otherSecurity returns the fields of a security context that spec.security.container lacks.
func otherSecurity(in, name string, given any) []fragment {
	var found []fragment
	context, _ := given.(map[string]any)
	for _, field := range []string{"procMount", "windowsOptions"} {
		if value := context[field]; value != nil {
			found = append(found, fragment{in, name, "securityContext", map[string]any{field: value}})
		}
	}
	return found
}

// morePorts returns the ports that no port of the Service targets. A port that is targeted has the name of its entry.
func morePorts(given, rendered any) []map[string]any {
	var more []map[string]any
	for _, port := range list(given) {
		if !slices.ContainsFunc(list(rendered), func(has map[string]any) bool {
			return has["containerPort"] == port["containerPort"] && has["protocol"] == port["protocol"]
		}) {
			more = append(more, port)
		}
	}
	return more
}

func entryOf(value any, name string) map[string]any {
	for _, item := range list(value) {
		if item["name"] == name {
			return item
		}
	}
	return nil
}

// assemble returns one patch of all fragments.
func assemble(fragments []fragment) map[string]any {
	patch := map[string]any{}
	for _, f := range fragments {
		if f.list == "" {
			patch[f.field] = f.value
			continue
		}
		container := entryOf(patch[f.list], f.container)
		if container == nil {
			container = map[string]any{"name": f.container}
			items, _ := patch[f.list].([]any)
			patch[f.list] = append(items, container)
		}
		if f.field == "ports" {
			ports, _ := container[f.field].([]any)
			container[f.field] = append(ports, f.value)
			continue
		}
		if has, is := container[f.field].(map[string]any); is {
			maps.Copy(has, f.value.(map[string]any))
			continue
		}
		container[f.field] = f.value
	}
	return patch
}
