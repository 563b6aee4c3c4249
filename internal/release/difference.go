package release

import (
	"fmt"
	"reflect"
	"sort"
	"strings"
)

// firstDifference finds where live lacks what want has. Fields and list elements that only live has are somebody else's
// and do not count. Empty maps and lists in want count as left out.
func firstDifference(path string, want, live any) (where string, old, wanted any, differs bool) {
	switch want := want.(type) {
	case map[string]any:
		content, ok := live.(map[string]any)
		if !ok {
			return path, live, want, len(want) > 0 || live != nil
		}
		for _, key := range sortedKeys(want) {
			if where, old, wanted, differs = firstDifference(path+"."+key, want[key], content[key]); differs {
				return where, old, wanted, true
			}
		}
		return addition(path, want, content)
	case []any:
		content, ok := live.([]any)
		if !ok {
			return path, live, want, len(want) > 0 || live != nil
		}
		return listDifference(path, want, content)
	}
	if equalScalars(want, live) {
		return "", nil, nil, false
	}
	return path, live, want, true
}

// atomicMaps are the maps that are one value to the API server, by field name: an entry more in one says something else.
var atomicMaps = map[string]bool{
	"selector": true, "labelSelector": true, "podSelector": true, "namespaceSelector": true, "nodeSelector": true,
	"matchLabels": true, "secretKeyRef": true, "configMapKeyRef": true,
}

// addition finds an entry that only live has in a map that is one value.
func addition(path string, want, live map[string]any) (where string, old, wanted any, differs bool) {
	if !atomicMaps[path[strings.LastIndex(path, ".")+1:]] {
		return "", nil, nil, false
	}
	for _, key := range sortedKeys(live) {
		if _, rendered := want[key]; !rendered {
			return path + "." + key, live[key], nil, true
		}
	}
	return "", nil, nil, false
}

// mergeKeys are the lists of objects that the API server merges by key, where others may add elements, by field name.
// Every other list is one value.
var mergeKeys = map[string][]string{
	"containers":                {"name"},
	"initContainers":            {"name"},
	"env":                       {"name"},
	"volumes":                   {"name"},
	"imagePullSecrets":          {"name"},
	"volumeMounts":              {"mountPath"},
	"volumeDevices":             {"devicePath"},
	"claims":                    {"name"},
	"hostAliases":               {"ip"},
	"topologySpreadConstraints": {"topologyKey", "whenUnsatisfiable"},
	"ownerReferences":           {"uid"},
}

func listDifference(path string, want, live []any) (where string, old, wanted any, differs bool) {
	keys := keysFor(path)
	if keys == nil || !allMaps(want) {
		if len(want) != len(live) {
			return path, live, want, true
		}
		for i := range want {
			if where, old, wanted, differs = firstDifference(fmt.Sprintf("%s[%d]", path, i), want[i], live[i]); differs {
				return where, old, wanted, true
			}
		}
		return "", nil, nil, false
	}
	for _, item := range want {
		content, _ := item.(map[string]any)
		at := fmt.Sprintf("%s[%v]", path, content[keys[0]])
		match := find(live, content, keys)
		if match == nil {
			return at, nil, item, true
		}
		if where, old, wanted, differs = firstDifference(at, item, match); differs {
			return where, old, wanted, true
		}
	}
	return "", nil, nil, false
}

// keysFor gives the merge keys of the list at a path such as .spec.template.spec.containers[app].ports.
func keysFor(path string) []string {
	field := path[strings.LastIndex(path, ".")+1:]
	if field != "ports" {
		return mergeKeys[field]
	}
	switch {
	case strings.HasSuffix(path, "].ports") && strings.Contains(path, "ontainers["):
		return []string{"containerPort", "protocol"}
	case path == ".spec.ports":
		return []string{"port", "protocol"}
	}
	return nil
}

func allMaps(items []any) bool {
	for _, item := range items {
		if _, ok := item.(map[string]any); !ok {
			return false
		}
	}
	return true
}

func find(items []any, wanted map[string]any, keys []string) any {
	for _, item := range items {
		content, ok := item.(map[string]any)
		for _, key := range keys {
			value := wanted[key]
			if value == nil && key == "protocol" {
				value = "TCP" // the API server's default
			}
			ok = ok && (value == nil || equalScalars(value, content[key]))
		}
		if ok {
			return item
		}
	}
	return nil
}

// equalScalars compares as JSON does: 1 and 1.0 are the same number.
func equalScalars(a, b any) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	x, floatX, okX := number(a)
	y, floatY, okY := number(b)
	return okX && okY && (floatX || floatY) && x == y
}

func number(value any) (number float64, isFloat, ok bool) {
	switch value := value.(type) {
	case int64:
		return float64(value), false, true
	case float64:
		return value, true, true
	}
	return 0, false, false
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
