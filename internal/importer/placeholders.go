package importer

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/example/appservice-operator/api/v1"
)

// known replaces the placeholders whose value is known: metadata, and the names of other workloads.
func (s *score) known(text string) string {
	return placeholder.ReplaceAllStringFunc(text, func(found string) string {
		path := strings.Split(strings.TrimSuffix(strings.TrimPrefix(found, "${"), "}"), ".")
		switch {
		case path[0] == "metadata":
			if value, ok := s.metadata(path[1:]); ok {
				return value
			}
		case path[0] == "resources" && len(path) == 3 && path[2] == "name" && s.isService(path[1]):
			return objectName(path[1])
		}
		return found
	})
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

// variables in the order of their names, those first that others refer to. What a resource says comes from a Secret of its name.
func (s *score) variables(at string, given map[string]string) []corev1.EnvVar {
	var first, list []corev1.EnvVar
	for _, name := range sortedKeys(given) {
		value := s.known(given[name])
		found := placeholder.FindAllString(value, -1)
		if len(found) == 0 {
			list = append(list, corev1.EnvVar{Name: name, Value: strings.ReplaceAll(value, "$${", "${")})
			continue
		}
		if len(found) == 1 && found[0] == value {
			if from := s.secret(at+"variables."+name, value); from != nil {
				list = append(list, corev1.EnvVar{Name: name, ValueFrom: from})
			}
			continue
		}
		whole := true
		for _, one := range found {
			from := s.secret(at+"variables."+name, one)
			if whole = whole && from != nil; !whole {
				break
			}
			part := strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(strings.TrimSuffix(strings.TrimPrefix(one, "${resources."), "}")))
			if !slices.ContainsFunc(first, func(e corev1.EnvVar) bool { return e.Name == part }) {
				first = append(first, corev1.EnvVar{Name: part, ValueFrom: from})
			}
			value = strings.ReplaceAll(value, one, "$("+part+")")
		}
		if whole {
			list = append(list, corev1.EnvVar{Name: name, Value: value})
		}
	}
	return append(first, list...)
}

// secret is where a placeholder's value comes from: the key of a Secret of the workload and the resource.
func (s *score) secret(field, found string) *corev1.EnvVarSource {
	path := strings.SplitN(strings.TrimSuffix(strings.TrimPrefix(found, "${"), "}"), ".", 3)
	if len(path) < 3 || path[0] != "resources" {
		s.note(field, found+" has no value here: it is left out", "set it in spec.envs")
		return nil
	}
	if s.secrets == nil {
		s.secrets = map[string][]string{}
	}
	if !slices.Contains(s.secrets[path[1]], path[2]) {
		s.secrets[path[1]] = append(s.secrets[path[1]], path[2])
	}
	return &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: s.secretName(path[1])}, Key: path[2],
	}}
}

func (s *score) secretName(resource string) string { return s.Name + "-" + objectName(resource) }

// resources are nobody's here: what they are taken for is said.
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
		case resource.Type == "volume" && len(keys) == 0: // what mounts it has a note
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
	host = s.known(host)
	if host == "" || placeholder.MatchString(host) {
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
