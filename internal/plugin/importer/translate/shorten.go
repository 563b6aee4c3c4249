package translate

import (
	"context"
	"maps"
	"regexp"
	"slices"

	"github.com/example/appservice-operator/internal/plugin/importer/proof"
)

// shorten removes each field without which the resource renders the same objects. So it finds all defaults: those of
// the chart, of the API server, and those that follow from other fields. It tries fields together, and halves of them
// if not all can go; equal fields of entries of lists are one, so that long lists cost no more than short ones.
func (r Renderer) shorten(ctx context.Context, a *Application) {
	rendered, err := r.made(ctx, a.App)
	if err != nil {
		return
	}
	equal := proof.Same(rendered)
	same := func() bool {
		now, err := r.made(ctx, a.App)
		return err == nil && equal(now) && (r.Check == nil || r.Check(a.App) == nil)
	}
	spec, _ := a.App.Object["spec"].(map[string]any)
	for depth := range deepest {
		omit(omissible(spec, depth, a.Name), false, same)
	}
}

// deepest is the depth of fields in a spec that are tried: those of security.pod, or of probes.
const deepest = 6

// omission is a field that may be left out, wherever it has one value.
type omission struct {
	key   string
	value any
	// in are the maps that have it.
	in []map[string]any
}

// omit leaves out those without which it is the same, and reports whether these are all. It does not try all of them
// together if they are needed for sure.
func omit(list []*omission, needed bool, same func() bool) bool {
	if len(list) == 0 {
		return true
	}
	if !needed {
		each(list, func(o *omission, in map[string]any) { delete(in, o.key) })
		if same() {
			return true
		}
		each(list, func(o *omission, in map[string]any) { in[o.key] = o.value })
	}
	half := len(list) / 2
	switch in := len(list[0].in); {
	case half > 0:
		omit(list[half:], omit(list[:half], false, same), same)
	case in > 1 && in < few:
		omit(list[0].apart(), true, same)
	}
	return false
}

// each calls do for each map that has a field which may be left out.
func each(list []*omission, do func(*omission, map[string]any)) {
	for _, o := range list {
		for _, in := range o.in {
			do(o, in)
		}
	}
}

// few is how many equal fields are tried one by one.
const few = 4

// apart returns an omission for each of the maps.
func (o *omission) apart() []*omission {
	var list []*omission
	for _, in := range o.in {
		list = append(list, &omission{o.key, o.value, []map[string]any{in}})
	}
	return list
}

// verbatim are fields whose entries a user has named: none of them is a default.
var verbatim = []string{"envs", "env", "envFrom", "environment", "files", "annotations", "podAnnotations", "workloadAnnotations", "podLabels",
	"commonLabels", "nodeSelector", "command", "args", "labels", "limits", "requests",
	"matchLabels", "securityContext", "capabilities", "affinity", "networkPolicy", "valueFrom", "sources", "items"}

// said are fields that say what they do only if they are there, though they are defaults, or that have none.
var said = []string{"emptyDir", "image", "name", "mountPath", "optional", "readOnly", "securityContext", "capabilities",
	"affinity", "networkPolicy", "args", "command", "ports", "containerPort", "httpGet", "initialDelaySeconds", "podLabels",
	"automountToken", "clusterIP", "serviceName", "perReplica", "maxReplicas"}

// plausible reports whether a value may be a default: defaults are numbers, constants of
// Kubernetes, the name of the resource, and the like.
func plausible(value any, name string) bool {
	switch value := value.(type) {
	case string:
		return value == name || likeDefault.MatchString(value)
	case map[string]any:
		return !slices.ContainsFunc(slices.Collect(maps.Values(value)), func(item any) bool { return !plausible(item, name) })
	case []any:
		return !slices.ContainsFunc(value, func(item any) bool { return !plausible(item, name) })
	}
	return true
}

var likeDefault = regexp.MustCompile(`^([A-Z][A-Za-z]*|/[a-z/-]*|[0-9]+[%smh]|default|default-scheduler|http|v1|0|)$`)

// omissible returns the fields at a depth of maps, the innermost of lists in them as one for each value.
func omissible(content map[string]any, depth int, name string) []*omission {
	var found []*omission
	var walk func(value any, depth int)
	walk = func(value any, depth int) {
		switch value := value.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(value)) {
				switch {
				case depth == 0 && slices.Contains(said, key):
				case depth == 0 && !plausible(value[key], name):
				case depth == 0:
					found = addTo(found, key, value)
				case !slices.Contains(verbatim, key):
					walk(value[key], depth-1)
				}
			}
		case []any:
			for _, item := range value {
				walk(item, depth)
			}
		}
	}
	walk(content, depth)
	return found
}

// addTo adds a field of a map to the omission of its name and value.
func addTo(list []*omission, key string, in map[string]any) []*omission {
	for _, o := range list {
		if o.key == key && inJSON(o.value) == inJSON(in[key]) {
			o.in = append(o.in, in)
			return list
		}
	}
	return append(list, &omission{key, in[key], []map[string]any{in}})
}
