package podtemplate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/example/appservice-operator/internal/engine/render/typecheck"
)

// directive is the only directive of strategic merge patches that is accepted, in entries of lists that are merged by a
// key. The others are for programs that compute patches; in a map, null removes fields.
const directive = "$patch"

// maxEntries is the maximum length of a list: merging compares each entry with all existing ones.
const maxEntries = 256

// The values of the directive.
const (
	deletes  = "delete"
	replaces = "replace"
)

// check returns the fields that a patch sets, or why it is refused.
func check(patch map[string]any) (sets []string, err error) {
	found := typecheck.CheckAs(withoutDirectives(patch), podTemplateType, field)
	if len(found) > 0 {
		return nil, &Error{found}
	}
	c := &checker{} // it relies on the types
	c.fields(patch, strategicpatch.PatchMetaFromStruct{T: podTemplateType}, place{path: field})
	c.reserved(patch)
	if len(c.found) > 0 {
		return nil, &Error{c.found}
	}
	return c.sets, nil
}

// withoutDirectives copies a value without the fields that are directives by their names.
func withoutDirectives(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, item := range value {
			if !strings.HasPrefix(key, "$") {
				out[key] = withoutDirectives(item)
			}
		}
		return out
	case []any:
		out := make([]any, 0, len(value))
		for _, item := range value {
			out = append(out, withoutDirectives(item))
		}
		return out
	}
	return value
}

// place is the position of a value in the patch: its path, and the same for people, with names instead of indexes.
type place struct {
	path  []any
	shown string
	// replaces says that the value is part of a list that replaces another.
	replaces bool
}

func (p place) field(name string) place {
	shown := name
	if p.shown != "" {
		shown = p.shown + "." + name
	}
	return place{append(slices.Clone(p.path), name), shown, p.replaces}
}

func (p place) entry(index int, name any) place {
	return place{append(slices.Clone(p.path), index), fmt.Sprintf("%s[%v]", p.shown, name), p.replaces}
}

// checker visits a patch in the same way as merging does.
type checker struct {
	found typecheck.Misfits
	sets  []string
}

func (c *checker) refuse(at place, message string, args ...any) {
	c.found = append(c.found, typecheck.Misfit{Path: at.path, Message: fmt.Sprintf(message, args...)})
}

func (c *checker) set(at place) {
	if !at.replaces {
		c.sets = append(c.sets, at.shown)
	}
}

func (c *checker) fields(patch map[string]any, schema strategicpatch.LookupPatchMeta, at place) {
	for _, name := range slices.Sorted(maps.Keys(patch)) {
		within := at.field(name)
		if strings.HasPrefix(name, "$") {
			c.refuse(within, "allowed only in entries of lists that are merged by a key, as $patch: delete or $patch: replace; to remove a field, set it to null")
			continue
		}
		switch value := patch[name].(type) {
		case map[string]any:
			inner, _, err := schema.LookupPatchMetadataForStruct(name)
			if err != nil {
				c.refuse(within, "cannot be merged")
				continue
			}
			if len(value) == 0 {
				c.set(within)
			}
			c.fields(value, inner, within)
		case []any:
			inner, meta, err := schema.LookupPatchMetadataForSlice(name)
			if err != nil {
				c.refuse(within, "cannot be merged")
				continue
			}
			c.list(value, inner, mergeKey(meta), within)
		default:
			c.set(within)
		}
	}
}

// mergeKey returns the field by which the entries of a list are merged; empty for a list that replaces another.
func mergeKey(meta strategicpatch.PatchMeta) string {
	if !slices.Contains(meta.GetPatchStrategies(), "merge") {
		return ""
	}
	return meta.GetPatchMergeKey()
}

func (c *checker) list(items []any, schema strategicpatch.LookupPatchMeta, key string, at place) {
	if key == "" {
		c.set(at)
		at.replaces = true
	}
	if len(items) > maxEntries {
		c.refuse(at, "has %d entries, at most %d are allowed", len(items), maxEntries)
		return
	}
	known := make(map[any]bool, len(items))
	for i, item := range items {
		entry, isMap := item.(map[string]any)
		switch {
		case item == nil:
			c.refuse(at.entry(i, i), "must not be null")
		case !isMap: // a text of a list that replaces another
		case key == "":
			c.fields(entry, schema, at.entry(i, i))
		default:
			c.entry(entry, schema, key, at.entry(i, entry[key]), known)
		}
	}
}

// entry checks an entry of a list that is merged by a key, some of which are known.
func (c *checker) entry(entry map[string]any, schema strategicpatch.LookupPatchMeta, key string, at place,
	known map[any]bool) {
	asked, directed := entry[directive]
	switch {
	case directed && at.replaces:
		c.refuse(at.field(directive), "not possible within a list that replaces another as a whole: leave it out")
		return
	case directed && asked != deletes && asked != replaces:
		c.refuse(at.field(directive), "must be %s or %s", deletes, replaces)
		return
	case asked == replaces:
		if len(entry) > 1 {
			c.refuse(at.field(directive), "an entry with it stands alone, and removes all that the patch does not list: move the other fields into an entry of their own")
		}
		return
	case entry[key] == nil || entry[key] == "":
		c.refuse(at.field(key), "required: the entries are merged by it")
		return
	case known[entry[key]]:
		c.refuse(at.field(key), "another entry of the patch has the same, and merging would keep one of them: leave one out")
		return
	}
	known[entry[key]] = true
	if asked == deletes {
		if len(entry) > 2 {
			c.refuse(at.field(directive), "an entry that is deleted has only %s next to it", key)
		}
		c.set(at)
		return
	}
	if len(entry) == 1 {
		c.set(at)
	}
	rest := maps.Clone(entry)
	delete(rest, key)
	c.fields(rest, schema, at)
}
