package translate

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/example/appservice-operator/internal/plugin/importer/proof"
	"github.com/example/appservice-operator/internal/plugin/importer/read"
)

// fragment is a field of the pods, or of their main container, for a patch.
type fragment struct {
	// main is set for a field of the main container.
	main  bool
	field string
	// value of the field; of ports, one of them.
	value any
}

func (f fragment) path() string {
	path := templatePath(f.field)
	if f.main {
		path = templatePath("containers[" + mainContainer + "]." + f.field)
	}
	if port, one := f.value.(map[string]any); one && f.field == "ports" {
		path += fmt.Sprintf("[%v]", port["containerPort"])
	}
	return path
}

// patch adds spec.podTemplate for fields of pods that no field of the spec sets, as far as the operator accepts it.
func (r Renderer) patch(ctx context.Context, a *Application) error {
	if a.Cron != nil {
		return nil // an AppJob has no such field
	}
	rendered, err := r.made(ctx, a.App)
	if err != nil {
		return err
	}
	set := func(fragments []fragment) error {
		unstructured.RemoveNestedField(a.App.Object, "spec", "podTemplate")
		if len(fragments) > 0 {
			// the fragments are copies of JSON values
			_ = unstructured.SetNestedMap(a.App.Object, assemble(fragments), "spec", "podTemplate", "spec")
		}
		return r.refused(ctx, a.App)
	}
	var fragments []fragment
	for _, d := range proof.Differences(proof.Side{Objects: a.Given}, proof.Side{Objects: rendered}) {
		if d.Before == a.Object && d.Old != nil {
			fragments = append(fragments, a.fragmentsFor(d.Field, portsOf(rendered))...)
		}
	}
	taken := accepted(nil, a.ordered(fragments), set, func(f fragment, err error) {
		a.Refused = append(a.Refused, Refusal{a.from(f.path()), err})
	})
	return set(taken)
}

// settled are fields of pods that fields of an AppService determine completely.
var settled = regexp.MustCompile(`^(serviceAccountName|serviceAccount|automountServiceAccountToken|restartPolicy|securityContext|topologySpreadConstraints|nodeSelector|tolerations|affinity|priorityClassName|hostAliases|dnsConfig|terminationGracePeriodSeconds|imagePullSecrets|initContainers|volumes|containers|containers\[app\]\.(name|image|imagePullPolicy|command|args|workingDir|terminationMessagePolicy|readinessProbe|livenessProbe|startupProbe|lifecycle|env|envFrom|volumeMounts|resources))$`)

// ofPods finds the field of pods, or of the main container, that a path is in, and the entry of a list.
var ofPods = regexp.MustCompile(`^spec\.template\.spec\.(?:(containers\[app\])\.)?([A-Za-z]+)(?:\[([^]]*)\])?`)

// fragmentsFor returns what sets a field of the pods that is not rendered as it was.
func (a *Application) fragmentsFor(path string, rendered []corev1.ContainerPort) []fragment {
	found := ofPods.FindStringSubmatch(path)
	if found == nil || settled.MatchString(strings.TrimPrefix(found[1]+"."+found[2], ".")) {
		return nil
	}
	if found[1] == "" {
		return of(fragment{field: found[2]}, &a.Template.Spec)
	}
	switch found[2] {
	case "securityContext":
		return a.otherSecurity()
	case "ports":
		return a.port(path, found[3], rendered)
	}
	return of(fragment{main: true, field: found[2]}, a.container())
}

// of returns a fragment with the value that the field has; none if it has none.
func of[T any](f fragment, in *T) []fragment {
	fields, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(in) // a type of the API
	if f.value = fields[f.field]; f.value == nil {
		return nil
	}
	return []fragment{f}
}

// otherSecurity returns the fields of a security context that spec.security.container lacks.
func (a *Application) otherSecurity() []fragment {
	var found []fragment
	if a.container().SecurityContext == nil {
		return nil
	}
	fields, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(a.container().SecurityContext) // a type of the API
	for _, field := range []string{"procMount", "windowsOptions"} {
		if value := fields[field]; value != nil {
			found = append(found, fragment{true, "securityContext", map[string]any{field: value}})
		}
	}
	return found
}

// portsOf returns the ports of the main container as rendered.
func portsOf(rendered []*unstructured.Unstructured) []corev1.ContainerPort {
	for _, object := range rendered {
		template := read.PodTemplate(object)
		if template != nil && object.GetKind() != "Job" && len(template.Spec.Containers) > 0 {
			return template.Spec.Containers[0].Ports
		}
	}
	return nil
}

// port returns a port that no port of the Service targets, or that says more. A patch finds a port by its number, so
// that one cannot be added beside another of the same number; and a name that is in use is left out.
func (a *Application) port(path, key string, rendered []corev1.ContainerPort) []fragment {
	for _, port := range a.container().Ports {
		if portKey(port.ContainerPort, port.Protocol) != key || strings.HasSuffix(path, "].name") ||
			strings.HasSuffix(path, "].hostPort") {
			continue
		}
		for _, has := range rendered {
			if has.ContainerPort == port.ContainerPort && has.Protocol != port.Protocol {
				return nil
			}
			if has.Name == port.Name || has.ContainerPort == port.ContainerPort {
				port.Name = ""
			}
		}
		content, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(&port) // a type of the API
		return []fragment{{true, "ports", content}}
	}
	return nil
}

// ordered drops duplicate fragments, and ports whose number another one has, and keeps the order of ports.
func (a *Application) ordered(list []fragment) []fragment {
	list = lastOf(list, func(f fragment) string {
		if port, one := f.value.(map[string]any); one && f.field == "ports" {
			return fmt.Sprint("ports ", port["containerPort"])
		}
		return f.path() + inJSON(f.value)
	})
	at := func(f fragment) int {
		port, _ := f.value.(map[string]any)
		return slices.IndexFunc(a.container().Ports, func(p corev1.ContainerPort) bool {
			return f.field == "ports" && fmt.Sprint(p.ContainerPort) == fmt.Sprint(port["containerPort"])
		})
	}
	slices.SortStableFunc(list, func(a, b fragment) int { return at(a) - at(b) })
	return list
}

// assemble returns one patch of all fragments.
func assemble(fragments []fragment) map[string]any {
	patch, container := map[string]any{}, map[string]any{"name": mainContainer}
	for _, f := range fragments {
		has, isMap := container[f.field].(map[string]any)
		switch {
		case !f.main:
			patch[f.field] = f.value
		case f.field == "ports":
			ports, _ := container[f.field].([]any)
			container[f.field] = append(ports, f.value)
		case isMap:
			maps.Copy(has, f.value.(map[string]any))
		default:
			container[f.field] = runtime.DeepCopyJSONValue(f.value)
		}
	}
	if len(container) > 1 {
		patch["containers"] = []any{container}
	}
	return patch
}
