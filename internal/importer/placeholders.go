package importer

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/example/appservice-operator/api/v1"
)

// part of a text is literal, or the path of a placeholder such as resources.db.host.
type part struct {
	literal string
	path    []string
}

var placeholder = regexp.MustCompile(`\$(\$|\{[^}]*\})`)

// parts splits a text at its placeholders; $$ is a dollar.
func parts(text string) []part {
	var list []part
	end := 0
	for _, found := range placeholder.FindAllStringIndex(text, -1) {
		list = append(list, part{literal: text[end:found[0]]})
		if one := text[found[0]:found[1]]; one == "$$" {
			list = append(list, part{literal: "$"})
		} else {
			list = append(list, part{literal: one, path: strings.Split(one[2:len(one)-1], ".")})
		}
		end = found[1]
	}
	return append(list, part{literal: text[end:]})
}

// value returns the value of a part, if it is known: metadata, and the names of other workloads.
func (s *score) value(p part) (string, bool) {
	switch {
	case p.path == nil:
		return p.literal, true
	case p.path[0] == "metadata":
		return s.metadata(p.path[1:])
	case p.path[0] == "resources" && len(p.path) == 3 && p.path[2] == "name" && s.isService(p.path[1]):
		return objectName(p.path[1]), true
	}
	return "", false
}

// known replaces the placeholders with known values, and reports whether no other is left.
func (s *score) known(text string) (string, bool) {
	var out strings.Builder
	all := true
	for _, p := range parts(text) {
		value, known := s.value(p)
		if !known {
			value, all = p.literal, false
		}
		out.WriteString(value)
	}
	return out.String(), all
}

func (s *score) metadata(path []string) (string, bool) {
	var value any = s.file.Metadata
	for _, key := range path {
		content, ok := value.(map[string]any)
		if !ok {
			return "", false
		}
		value = content[key]
	}
	if value == nil {
		return "", false
	}
	return fmt.Sprint(value), true
}

// isService reports whether a resource is another workload.
func (s *score) isService(name string) bool {
	resource := s.file.Resources[name]
	return resource != nil && resource.Type == "service"
}

// variables adds the variables, ordered by name, after those that they refer to. Values of a resource come from a Secret of its
// name.
func (s *score) variables(at string, given map[string]string) []corev1.EnvVar {
	var first, list []corev1.EnvVar
	for _, name := range sortedKeys(given) {
		variable := corev1.EnvVar{Name: name}
		all := slices.DeleteFunc(parts(given[name]), func(p part) bool { return p.path == nil && p.literal == "" })
		left := false
		for _, p := range all {
			if value, known := s.value(p); known {
				variable.Value += unreferring(value)
				continue
			}
			from := s.secret(at+"variables."+name, p)
			if left = from == nil; left {
				break
			}
			if len(all) == 1 {
				variable.ValueFrom = from
				break
			}
			named := strings.ToUpper(strings.NewReplacer("-", "_").Replace(strings.Join(p.path[1:], "_")))
			if !slices.ContainsFunc(first, func(e corev1.EnvVar) bool { return e.Name == named }) {
				first = append(first, corev1.EnvVar{Name: named, ValueFrom: from})
			}
			variable.Value += "$(" + named + ")"
		}
		if !left {
			list = append(list, variable)
		}
	}
	list = slices.DeleteFunc(list, func(e corev1.EnvVar) bool { // it is there already
		return slices.ContainsFunc(first, func(f corev1.EnvVar) bool { return f.Name == e.Name && reflect.DeepEqual(f, e) })
	})
	return append(first, list...)
}

// unreferring returns text in which Kubernetes does not expand $(NAME).
func unreferring(text string) string { return strings.ReplaceAll(text, "$(", "$$(") }

// secret returns the source of a placeholder's value: a key of the Secret of workload and resource.
func (s *score) secret(field string, p part) *corev1.EnvVarSource {
	path := p.path
	if len(path) < 3 || path[0] != "resources" {
		s.note(field, p.literal+" has no value here: it is left out", "set it in spec.envs")
		return nil
	}
	key := strings.Join(path[2:], ".")
	if s.secrets == nil {
		s.secrets = map[string][]string{}
	}
	if !slices.Contains(s.secrets[path[1]], key) {
		s.secrets[path[1]] = append(s.secrets[path[1]], key)
	}
	return &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: s.secretName(path[1])}, Key: key,
	}}
}

func (s *score) secretName(resource string) string { return s.Name + "-" + objectName(resource) }

// resources adds notes on the resources, because nothing provisions them here.
func (s *score) resources() {
	for _, name := range sortedKeys(s.file.Resources) {
		resource, field := s.file.Resources[name], "resources."+name
		if resource == nil {
			resource = &scoreResource{}
		}
		keys := s.secrets[name]
		switch {
		case resource.Type == "service":
			s.note(field, "it is taken for the AppService "+objectName(name)+" of the same namespace", "write another host name in spec.envs if it is elsewhere")
		case resource.Type == "route":
			s.route(field, resource)
		case resource.Type == "volume" && len(keys) == 0: // its mounts have notes
		case len(keys) > 0:
			slices.Sort(keys)
			s.note(field, "an AppService makes no "+resource.Type+": what it says comes from a Secret", fmt.Sprintf("make the Secret %s with %s", s.secretName(name), strings.Join(keys, ", ")))
		default:
			s.note(field, "an AppService makes no "+resource.Type, "provide it by other means, if it is needed")
		}
	}
}

// route becomes an Ingress if its host is known.
func (s *score) route(field string, resource *scoreResource) {
	host, _ := resource.Params["host"].(string)
	path, _ := resource.Params["path"].(string)
	host, known := s.known(host)
	if host == "" || !known {
		s.note(field, "its host is not known: "+host, "set spec.ingress.hosts, or spec.route")
		return
	}
	number, _ := resource.Params["port"].(float64)
	s.set(field, func(spec *v1.AppServiceSpec) {
		if spec.Ingress == nil {
			spec.Ingress = &v1.Ingress{}
		}
		to := v1.IngressPath{Path: path}
		if port := int32(number); port != 0 {
			to.Port = &port
		}
		spec.Ingress.Hosts = append(spec.Ingress.Hosts, v1.IngressHost{Host: host, Paths: []v1.IngressPath{to}})
	})
}
