package history

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// named are the objects that pods use by naming them, each with the field that a name is in, or in whose field name.
var named = []struct {
	kind  string
	field *regexp.Regexp
}{
	{"Secret", regexp.MustCompile(`(?i)secrets?(|name|ref|keyref)$`)},
	{"ConfigMap", regexp.MustCompile(`(?i)configmap(|name|ref|keyref)$`)},
	{"ServiceAccount", regexp.MustCompile(`(?i)serviceaccount(|name)$`)},
	{"PersistentVolumeClaim", regexp.MustCompile(`(?i)claim(|name)$`)},
}

// newlyNamed lists the objects of these kinds that a spec names, and an earlier one does not. They are found by the
// names of fields, whatever chart and kind the spec is for.
func newlyNamed(before, after map[string]any) []string {
	known, list := namesIn("", before), namesIn("", after)
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(name string) bool { return slices.Contains(known, name) })
}

// namesIn lists the objects that a value names, which is that of a field.
func namesIn(field string, value any) (list []string) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			list = append(list, namesIn(field, item)...)
		}
	case map[string]any:
		for key, inner := range value {
			if key == "name" {
				key = field
			}
			list = append(list, namesIn(key, inner)...)
		}
	case string:
		for _, one := range named {
			if value != "" && one.field.MatchString(field) {
				list = append(list, fmt.Sprintf("%s %q", one.kind, strings.TrimSpace(value)))
			}
		}
	}
	return list
}
