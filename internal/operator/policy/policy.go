package policy

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/example/appservice-operator/internal/engine/digest"
)

// Policy is one file laid over a built-in policy. It never changes, and is safe for concurrent use.
type Policy struct {
	// Source is the name of the file in messages; NoFile if there is none.
	Source string
	// BuiltIn is the policy that the file is laid over.
	BuiltIn BuiltIn
	// Digest identifies a policy.
	Digest string

	base    layer
	entries []entry
	rules   sync.Map // *rules by their choice
}

// entry is one of File.Namespaces.
type entry struct {
	names    Patterns
	selector labels.Selector // nil for none
	layer
}

// layer holds the settings of one place in a file, and the name of the place in messages.
type layer struct {
	Settings
	place string
}

// Default returns the policy of a platform that sets none.
func Default() *Policy { return compile(NoFile, nil, &File{}) }

// compile returns the policy of a file that parse has checked.
func compile(name string, text []byte, file *File) *Policy {
	p := &Policy{
		Source: name, BuiltIn: cmp.Or(file.BuiltIn, Shared), Digest: digest.Of(text)[:32],
		base: layer{file.Default, "default of " + name},
	}
	for i, each := range file.Namespaces {
		selector, _ := selectorOf(each.Selector)
		place := fmt.Sprintf("namespaces[%d] of %s", i, name)
		p.entries = append(p.entries, entry{each.Names, selector, layer{each.Settings, place}})
	}
	return p
}

// Selects reports whether the policy depends on labels of namespaces.
func (p *Policy) Selects() bool {
	return p != nil && slices.ContainsFunc(p.entries, func(e entry) bool { return e.selector != nil })
}

// Entries returns the number of entries for namespaces.
func (p *Policy) Entries() int { return len(p.entries) }

// choice is which layers the rules of a namespace have.
type choice struct {
	// matching has a byte for each entry: 1 if that is for the namespace.
	matching string
	// earlier says that they allow what only earlier versions of the built-in policy did, too.
	earlier bool
}

// For returns the rules of a namespace with these labels. Namespaces with the same matching entries share them.
func (p *Policy) For(namespace string, labeled map[string]string) Rules {
	if p == nil {
		return Rules{}
	}
	matching := make([]byte, len(p.entries))
	for i, each := range p.entries {
		if each.matches(namespace, labeled) {
			matching[i] = 1
		}
	}
	return p.chosen(choice{matching: string(matching)})
}

func (p *Policy) chosen(by choice) Rules {
	known, there := p.rules.Load(by)
	if !there {
		known, _ = p.rules.LoadOrStore(by, p.lay(by))
	}
	return Rules{known.(*rules)}
}

func (e *entry) matches(namespace string, labeled map[string]string) bool {
	return (len(e.names) == 0 || e.names.Allow(namespace)) &&
		(e.selector == nil || e.selector.Matches(labels.Set(labeled)))
}

// lay lays the matching entries over the default.
func (p *Policy) lay(by choice) *rules {
	all := &rules{policy: p, choice: by, places: map[string]string{}, values: map[string]*regexp.Regexp{}}
	all.over(layer{p.BuiltIn.settings(), p.BuiltIn.String()})
	if by.earlier && p.BuiltIn == Shared {
		all.over(layer{earlier(), p.BuiltIn.String()})
	}
	all.over(p.base)
	all.general = all.Hosts
	for i, each := range p.entries {
		if by.matching[i] == 0 {
			if hosts := withoutBeneath(each.Hosts); len(hosts) > 0 {
				all.elsewhere = append(all.elsewhere, grant{hosts, each.place})
			}
			continue
		}
		if each.Hosts != nil {
			all.grant(each.Hosts)
		}
		all.over(each.layer)
	}
	all.compile(all.Paths, all.Matches)
	all.compile(slices.Collect(maps.Values(all.Annotations))...)
	all.compile(slices.Collect(maps.Values(all.Labels))...)
	return all
}

// rules are the rules of a namespace. All Settings are set.
type rules struct {
	Settings
	policy *Policy
	choice choice
	// places are where each rule was set, by its name.
	places map[string]string
	// values are the compiled expressions of Keys.
	values map[string]*regexp.Regexp
	// named are the hosts that entries name for the namespace, general those of the default, which others may be granted.
	named, general Hosts
	// elsewhere are the hosts that entries name for other namespaces.
	elsewhere []grant
}

// grant holds the hosts that an entry names.
type grant struct {
	hosts Hosts
	place string
}

// over lays the settings of a layer over the rules.
func (r *rules) over(above layer) {
	into, from := reflect.ValueOf(&r.Settings).Elem(), reflect.ValueOf(&above.Settings).Elem()
	for i := range from.NumField() {
		name := nameOf(from.Type().Field(i))
		switch value := from.Field(i); {
		case value.IsZero():
		case value.Kind() == reflect.Map:
			below := into.Field(i).Addr().Interface().(*map[string]Keys)
			r.overKinds(below, value.Interface().(map[string]Keys), name, above.place)
		case value.Kind() == reflect.Slice:
			into.Field(i).Set(laid(into.Field(i), value))
			r.places[name] = above.place
		default:
			into.Field(i).Set(value)
			r.places[name] = above.place
		}
	}
}

// overKinds lays keys by kind over others.
func (r *rules) overKinds(into *map[string]Keys, above map[string]Keys, name, place string) {
	merged := maps.Clone(*into)
	if merged == nil {
		merged = map[string]Keys{}
	}
	for kind, keys := range above {
		merged[kind] = laid(reflect.ValueOf(merged[kind]), reflect.ValueOf(keys)).Interface().(Keys)
		r.places[ofKind(name, kind)] = place
	}
	*into = merged
}

// laid returns a list laid over another.
func laid(below, list reflect.Value) reflect.Value {
	if list.Len() == 0 || list.Index(0).String() != beneath {
		return list
	}
	out := reflect.MakeSlice(list.Type(), 0, below.Len()+list.Len()-1)
	return reflect.AppendSlice(reflect.AppendSlice(out, below), list.Slice(1, list.Len()))
}

// grant records hosts that an entry names for the namespace.
func (r *rules) grant(hosts Hosts) {
	if hosts != nil && (len(hosts) == 0 || hosts[0] != beneath) {
		r.named, r.general = nil, nil
	}
	r.named = append(slices.Clip(r.named), withoutBeneath(hosts)...)
}

func withoutBeneath(hosts Hosts) Hosts {
	if len(hosts) > 0 && hosts[0] == beneath {
		return hosts[1:]
	}
	return hosts
}

// nameOf returns the name of a field in files.
func nameOf(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

// ofKind returns the name of the rule for the annotations or labels of a kind.
func ofKind(rule, kind string) string { return rule + "." + kind }
