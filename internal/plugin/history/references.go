package history

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// referenceFields are the kinds of objects that pods use by naming them, each with the field that a name is in, or in
// whose field name.
var referenceFields = []struct {
	kind  string
	field *regexp.Regexp
}{
	{"Secret", regexp.MustCompile(`(?i)secrets?(|name|ref|keyref)$`)},
	{"ConfigMap", regexp.MustCompile(`(?i)configmap(|name|ref|keyref)$`)},
	{"ServiceAccount", regexp.MustCompile(`(?i)serviceaccount(|name)$`)},
	{"PersistentVolumeClaim", regexp.MustCompile(`(?i)claim(|name)$`)},
}

// newReferences lists the objects of these kinds that a spec names, and an earlier one does not. They are found by the
// names of fields, whatever chart and kind the spec is for.
func newReferences(before, after map[string]any) []string {
	known, list := referencesIn("", before), referencesIn("", after)
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(name string) bool { return slices.Contains(known, name) })
}

// referencesIn lists the objects that the value of a field names.
func referencesIn(field string, value any) (list []string) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			list = append(list, referencesIn(field, item)...)
		}
	case map[string]any:
		for key, inner := range value {
			if key == "name" {
				key = field
			}
			list = append(list, referencesIn(key, inner)...)
		}
	case string:
		for _, one := range referenceFields {
			if value != "" && one.field.MatchString(field) {
				list = append(list, fmt.Sprintf("%s %q", one.kind, strings.TrimSpace(value)))
			}
		}
	}
	return list
}
