package render

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/singleflight"
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// Which value avoids what a published chart may not do is found by trying those that look like it.

// mostTrials is how many values are tried.
const mostTrials = 24

// trialValue is a value to try.
type trialValue struct {
	path  []string
	value any
	// rank is 0 for those that are tried first.
	rank int
	// shown stands for a value that is another one for each resource; empty for the value itself.
	shown string
}

// budget is what may be spent on trials, as a share of the most that one render may cost.
type budget struct{ left float64 }

func (b *budget) spend(cost float64) {
	if b != nil {
		b.left -= cost
	}
}

func (b *budget) empty() bool { return b == nil || b.left <= 0 }

// mostAdvices is how many places of a chart are advised on: a place depends on the chart, and on little else.
const mostAdvices = 64

// advices remembers them by place. It is safe for concurrent use.
type advices struct {
	mu      sync.Mutex
	known   map[string]string
	flights singleflight.Group
}

// of returns the advice about a place, which is computed once.
func (a *advices) of(place string, compute func() string) string {
	a.mu.Lock()
	known, found := a.known[place]
	full := len(a.known) >= mostAdvices
	a.mu.Unlock()
	if found || full {
		return known
	}
	made, _, _ := a.flights.Do(place, func() (any, error) {
		advice := compute()
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.known == nil {
			a.known = map[string]string{}
		}
		if advice != "" { // else another spec may leave more to be tried
			a.known[place] = advice
		}
		return advice, nil
	})
	advice, _ := made.(string)
	return advice
}

// advise returns the line for the first value that helps; empty for none.
func (r *Renderer) advise(ctx context.Context, of run, list []trialValue, helps func(run) bool) string {
	slices.SortStableFunc(list, func(a, b trialValue) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(len(a.path), len(b.path)))
	})
	for _, each := range list[:min(len(list), mostTrials)] {
		if ctx.Err() == nil && !of.trials.empty() && helps(of.with(each.path, each.value)) {
			return fmt.Sprintf("set %s: %s", fieldOf(nil, each.path), cmp.Or(each.shown, fmt.Sprint(each.value)))
		}
	}
	return ""
}

// values returns the values that templates see without a spec: advice is given to all who have a mistake in common, and
// names no key that only one of them has.
func (r *Renderer) values(of run) map[string]any {
	of.vals = chartutil.Values{}
	_, input, err := r.input(of)
	if err != nil {
		return nil
	}
	all, _ := input["Values"].(chartutil.Values)
	return all
}

// eachLeaf calls visit for each value that is no map, in order.
func eachLeaf(values map[string]any, path []string, visit func(path []string, value any)) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		at := below(path, key)
		switch value := values[key].(type) {
		case map[string]any:
			eachLeaf(value, at, visit)
		case chartutil.Values:
			eachLeaf(value, at, visit)
		default:
			visit(at, value)
		}
	}
}

var secretWords = regexp.MustCompile(`password|secret|token|key|cookie|salt|cert|crt|user`)

// adviseOnRandom returns which value makes a field the same in each render.
func (r *Renderer) adviseOnRandom(ctx context.Context, of run, unstable *UnstableError) string {
	var list []trialValue
	last := simple(unstable.Field[strings.LastIndexByte(unstable.Field, '.')+1:])
	eachLeaf(r.values(of), nil, func(path []string, value any) {
		name := simple(path[len(path)-1])
		isEmpty := value == nil || value == ""
		switch {
		case isEmpty && strings.Contains(name, "existing"):
			list = append(list, trialValue{path: path, value: "NAME", rank: 0})
		case isEmpty && (name == last || strings.Contains(last, name) || strings.Contains(name, last)):
			list = append(list, trialValue{path: path, value: "VALUE", rank: 1})
		case isEmpty && secretWords.MatchString(name):
			list = append(list, trialValue{path: path, value: "VALUE", rank: 2})
		case value == true && secretWords.MatchString(simple(strings.Join(path, "."))):
			list = append(list, trialValue{path: path, value: false, rank: 3})
		case value == true:
			list = append(list, trialValue{path: path, value: false, rank: 4})
		case isFilled(value):
			list = append(list, trialValue{path: path, value: []any{}, rank: 5})
		}
	})
	return r.advices.of(unstable.Function+" "+unstable.Site, func() string {
		return r.advise(ctx, of, list, func(of run) bool {
			one, err := r.renderSeeded(ctx, of, first, "")
			if err != nil {
				return false
			}
			other, err := r.renderSeeded(ctx, of, second, "")
			return err == nil && !slices.ContainsFunc(differences(one.manifests, other.manifests), func(d difference) bool {
				return d.key == unstable.Key && d.field == unstable.Field
			})
		})
	})
}

// isFilled reports whether a value is a list with items.
func isFilled(value any) bool {
	list, isList := value.([]any)
	return isList && len(list) > 0
}

// simple returns a name in small letters, without anything between them.
func simple(name string) string { return notLetters.ReplaceAllString(strings.ToLower(name), "") }

var notLetters = regexp.MustCompile(`[^a-z0-9]`)

// adviseOnHook adds to a HookError the value that turns the hook off.
func (r *Renderer) adviseOnHook(ctx context.Context, of run, err error) error {
	hook, found := errors.AsType[*HookError](err)
	if !found {
		return err
	}
	hook.Source = within(r.Chart, hook.Source)
	words := strings.FieldsFunc(strings.ToLower(hook.Source+" "+hook.Object.GetName()), func(c rune) bool { return c < 'a' || c > 'z' })
	var list []trialValue
	eachLeaf(r.values(of), nil, func(path []string, value any) {
		off := any(false)
		if isFilled(value) {
			off = []any{}
		} else if _, isBool := value.(bool); !isBool || value == false && !says(of.vals, path) {
			return
		}
		rank, at := 3, strings.ToLower(strings.Join(path, "."))
		for _, word := range words {
			if len(word) > 3 && strings.Contains(at, word) {
				rank = max(0, rank-1)
			}
		}
		list = append(list, trialValue{path: path, value: off, rank: rank})
	})
	hook.Advice = r.advices.of("hook "+hook.Source+" "+hook.Object.GetKind(), func() string {
		other := map[string]bool{} // with another hook
		advice := r.advise(ctx, of, list, func(of run) bool {
			_, err := r.renderSeeded(ctx, of, first, "")
			again, still := errors.AsType[*HookError](err)
			if still && kube.KeyOf(again.Object) != kube.KeyOf(hook.Object) {
				other[fmt.Sprint(of.vals)] = true
			}
			return err == nil
		})
		if advice == "" {
			advice = r.advise(ctx, of, list, func(of run) bool { return other[fmt.Sprint(of.vals)] })
		}
		return advice
	})
	return &InvalidSpecError{hook}
}

// NamespaceError says that a chart renders an object into another namespace than that of its resource.
type NamespaceError struct {
	Key kube.Key
	// Source is the template.
	Source string
	// Namespace of the object.
	Namespace string
	// Advice says which value avoids it; empty if none is known.
	Advice string
}

func (e *NamespaceError) Error() string {
	return fmt.Sprintf("%s is rendered into namespace %q, and other namespaces than that of the resource are not served (%s): %s",
		e.Key, e.Namespace, e.Source, cmp.Or(e.Advice, notFound))
}

// elsewhere returns an error for the first object that is rendered into another namespace; nil if there is none.
func (r *Renderer) elsewhere(ctx context.Context, of run, out *publishedOutput) error {
	own := of.resource.GetNamespace()
	first := func(list []manifest) int {
		return slices.IndexFunc(list, func(m manifest) bool {
			namespace := m.object.GetNamespace()
			return namespace != "" && namespace != own && (r.ClusterScoped == nil || !r.ClusterScoped(m.object.GroupVersionKind()))
		})
	}
	at := first(out.manifests)
	if at < 0 {
		return nil
	}
	found := out.manifests[at]
	wrong := &NamespaceError{Key: kube.KeyOf(found.object), Namespace: found.object.GetNamespace(),
		Source: within(r.Chart, found.source)}
	var list []trialValue
	eachLeaf(r.values(of), nil, func(path []string, value any) {
		if value == wrong.Namespace {
			list = append(list, trialValue{path, own, 0, "NAMESPACE"})
		} else if all, isList := value.([]any); isList && slices.Contains(all, any(wrong.Namespace)) {
			list = append(list, trialValue{path, []any{own}, 0, "[NAMESPACE]"})
		}
	})
	wrong.Advice = r.advices.of("namespace "+wrong.Source, func() string {
		return r.advise(ctx, of, list, func(of run) bool {
			again, err := r.renderSeeded(ctx, of, 0, "")
			return err == nil && !slices.ContainsFunc(again.manifests, func(m manifest) bool {
				return kube.KeyOf(m.object) == wrong.Key && m.object.GetNamespace() == wrong.Namespace
			})
		})
	})
	return &InvalidSpecError{wrong}
}
