package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// lack is a field of want whose value live does not have.
type lack struct {
	path      string
	old, want any
}

// lacking finds the first field of want whose value live does not have; nil if there is none. Fields and list elements
// that only live has belong to others and do not count. Empty maps and lists in want count as left out.
func lacking(path string, want, live any) *lack {
	found := &lacks{}
	found.compare(path, want, live)
	return found.first
}

// lacks counts the fields that were found.
type lacks struct {
	// exclusive is the path of the part that belongs to the operator alone: fields that only live has count there,
	// too. Empty for none.
	exclusive string
	// ordered says that the order of all lists counts, else that of some.
	ordered bool
	first   *lack
	fields  int
	// orders is how many of the fields have only another order.
	orders int
	// added says that live has more in it than is wanted.
	added bool
}

func (l *lacks) more() int { return max(0, l.fields-1) }

func (l *lacks) add(path string, want, live any) {
	if l.fields++; l.fields == 1 {
		l.first = &lack{path, live, want}
	}
}

func (l *lacks) compare(path string, want, live any) {
	switch want := want.(type) {
	case map[string]any:
		content, ok := live.(map[string]any)
		if !ok {
			if len(want) > 0 || live != nil {
				l.add(path, want, live)
			}
			return
		}
		for _, key := range sortedKeys(want) {
			l.compare(path+"."+key, want[key], content[key])
		}
		l.additions(path, want, content)
	case []any:
		content, ok := live.([]any)
		if ok {
			l.compareLists(path, want, content)
		} else if len(want) > 0 || live != nil {
			l.add(path, want, live)
		}
	default:
		if !equalScalars(want, live) {
			l.add(path, want, live)
		}
	}
}

// atomicMaps are the maps that the API server treats as one value, by field name: an additional entry changes their
// meaning.
var atomicMaps = map[string]bool{
	"selector": true, "labelSelector": true, "podSelector": true, "namespaceSelector": true, "nodeSelector": true,
	"matchLabels": true, "secretKeyRef": true, "configMapKeyRef": true,
}

// additions finds entries that only live has in a map that is treated as one value, or belongs to the operator.
func (l *lacks) additions(path string, want, live map[string]any) {
	atomic, ours := l.atomic(path), l.ours(path)
	if !atomic && !ours {
		return
	}
	for _, key := range sortedKeys(live) {
		if _, rendered := want[key]; !rendered && (atomic || !implied(path+"."+key, live[key])) {
			l.add(path+"."+key, nil, live[key])
			l.added = l.added || ours
		}
	}
}

func (l *lacks) atomic(path string) bool { return atomicMaps[path[strings.LastIndex(path, ".")+1:]] }

// ours reports whether a path is in the part that belongs to the operator alone.
func (l *lacks) ours(p string) bool { return l.exclusive != "" && strings.HasPrefix(p, l.exclusive) }

// mergeKeys are the lists of objects that the API server merges by key, to which others may add elements, by field
// name. Every other list is treated as one value.
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

func (l *lacks) compareLists(path string, want, live []any) {
	keys := keysFor(path)
	if keys == nil || !allMaps(want) {
		if len(want) != len(live) {
			l.add(path, want, live)
			return
		}
		for i := range want {
			l.compare(fmt.Sprintf("%s[%d]", path, i), want[i], live[i])
		}
		return
	}
	for _, item := range want {
		content, _ := item.(map[string]any)
		at := fmt.Sprintf("%s[%v]", path, content[keys[0]])
		if match := find(live, content, keys); match == nil {
			l.add(at, item, nil)
		} else {
			l.compare(at, item, match)
		}
	}
	l.order(path, want, live, keys)
	if !l.ours(path) {
		return
	}
	for _, item := range live {
		if content, _ := item.(map[string]any); find(want, content, keys) == nil {
			l.add(fmt.Sprintf("%s[%v]", path, content[keys[0]]), nil, item)
			l.added = true
		}
	}
}

// inOrder are the lists that are merged by key and whose order means something, by field name: variables refer to
// those before them, init containers run one after the other, mounts may nest, the first address of a name counts.
var inOrder = map[string]bool{"env": true, "initContainers": true, "containers": true, "volumeMounts": true, "hostAliases": true}

// order finds that live has the items of want in another order.
func (l *lacks) order(path string, want, live []any, keys []string) {
	if !l.ordered && !inOrder[path[strings.LastIndex(path, ".")+1:]] {
		return
	}
	last := -1
	for _, item := range want {
		content, _ := item.(map[string]any)
		at := indexOf(live, content, keys)
		if at >= 0 && at < last {
			l.add(path, want, live)
			l.orders++
			return
		}
		last = max(last, at)
	}
}

// keysFor returns the merge keys of the list at a path such as .spec.template.spec.containers[app].ports.
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
	if at := indexOf(items, wanted, keys); at >= 0 {
		return items[at]
	}
	return nil
}

// indexOf returns the index of the item with the merge keys of another; -1 if there is none.
func indexOf(items []any, wanted map[string]any, keys []string) int {
	return slices.IndexFunc(items, func(item any) bool {
		content, ok := item.(map[string]any)
		for _, key := range keys {
			value := keyOf(wanted, key)
			ok = ok && (value == nil || equalScalars(value, keyOf(content, key)))
		}
		return ok
	})
}

// keyOf returns the value of an item of a list for a key that the list is merged by.
func keyOf(item map[string]any, key string) any {
	if item[key] == nil && key == "protocol" {
		return "TCP" // the API server's default
	}
	return item[key]
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
