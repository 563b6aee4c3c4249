package references

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// File is what is declared by hand, seen from the root of the repository.
const File = "config/admission/references.yaml"

// declared is what File says of one kind that its CRD does not.
type declared struct {
	// Types are the types of Kubernetes' that fields without a schema hold, by path.
	Types map[string]string `json:"types"`
	// Refers are the kinds that fields refer to although their names do not say it, by path; empty if a name says it wrongly.
	Refers map[string]string `json:"refers"`
	// Makes are the fields that create objects of kinds that the role edit of Kubernetes does not grant.
	Makes []made `json:"makes"`
}

// made is a field and what it makes.
type made struct {
	Field    string `json:"field"`
	Kind     string `json:"kind"`
	Group    string `json:"group"`
	Resource string `json:"resource"`
}

// held are the types that fields without a schema may hold, by name.
var held = map[string]reflect.Type{"PodSpec": podSpec, "Opaque": reflect.TypeFor[struct{}]()}

// read returns what is declared of all kinds, by their names. Without the file, nothing is.
func read(root string) (map[string]declared, error) {
	list := map[string]declared{}
	text, err := os.ReadFile(filepath.Join(root, File))
	if errors.Is(err, fs.ErrNotExist) {
		return list, nil
	}
	if err != nil {
		return nil, err
	}
	if err := yaml.UnmarshalStrict(text, &list); err != nil {
		return nil, fmt.Errorf("cannot parse %s: %w", File, err)
	}
	return list, nil
}

// complete adds what is declared of fields without a schema. What is not declared of them is an error, since anything may be in them.
func (d declared) complete(spec *node) error {
	known := map[string]bool{}
	var err error
	path{spec}.walk(func(p path) {
		known[p.String()] = true
		n := p.last()
		if !n.open || err != nil || d.Types[p.String()] == "" && len(p) > 1 && p[len(p)-2].open {
			return
		}
		t, found := held[d.Types[p.String()]]
		if !found {
			err = fmt.Errorf("%s has no schema, so its references are not known: name the type that it holds in types of %s (PodSpec, or Opaque for what refers to nothing)", p, File)
			return
		}
		n.fields = fieldsOf(t)
	})
	for field := range d.Types {
		if !known[field] {
			return fmt.Errorf("%s: there is no field %s", File, field)
		}
	}
	return err
}

// Made returns what fields of a kind create that the role edit of Kubernetes does not grant, as File declares it.
func Made(root, kind string) ([]schema.GroupResource, error) {
	all, err := read(root)
	if err != nil {
		return nil, err
	}
	var list []schema.GroupResource
	for _, m := range all[kind].Makes {
		list = append(list, schema.GroupResource{Group: m.Group, Resource: m.Resource})
	}
	return list, nil
}
