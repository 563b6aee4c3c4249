package references

import (
	"cmp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Field is one that refers to an object.
type Field struct {
	// Path is the field as people write it, as in spec.envFrom[].secretRef.name.
	Path string
	// To is the kind of the object, as in Secret; of what fills a volume and is not a claim, any kind.
	To string

	path path
}

// Of returns the fields of the kind of a CRD that policies ask about, sorted. The root is the folder of the repository.
func Of(root string, crd *apiextensionsv1.CustomResourceDefinition) ([]Field, error) {
	all, err := read(root)
	if err != nil {
		return nil, err
	}
	about := all[crd.Spec.Names.Kind]
	spec, err := about.spec(crd)
	if err != nil {
		return nil, err
	}
	found, err := about.references(spec)
	if err != nil {
		return nil, err
	}
	var list []Field
	for to, paths := range found {
		for _, p := range paths {
			list = append(list, Field{Path: p.String(), To: to, path: p})
		}
	}
	slices.SortFunc(list, func(a, b Field) int { return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.To, b.To)) })
	return list, nil
}

// Names are those that the field has in a spec.
func (f Field) Names(spec map[string]any) []string {
	return names(spec, f.path[1:])
}

func names(value any, rest path) []string {
	if len(rest) == 0 {
		name, _ := value.(string)
		return []string{name}
	}
	n := rest[0]
	if n.name != "" {
		fields, _ := value.(map[string]any)
		if value = fields[n.name]; value == nil {
			return nil
		}
	}
	var list []string
	switch entries := value.(type) {
	case []any:
		if n.each != nil && !n.isMap {
			for _, entry := range entries {
				list = append(list, names(entry, rest[1:])...)
			}
			return list
		}
	case map[string]any:
		if n.isMap {
			for _, entry := range entries {
				list = append(list, names(entry, rest[1:])...)
			}
			return list
		}
	}
	return names(value, rest[1:])
}
