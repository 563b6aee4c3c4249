//go:build cluster

package walk

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/example/appservice-operator/test/specs"
)

func (g *generator) step(random *rand.Rand) step {
	switch choice := random.IntN(20); {
	case choice < 5:
		return g.someValue(random)
	case choice < 6:
		return g.noValue(random)
	case choice < 7:
		return g.noSection(random)
	case choice < 9:
		return g.someCase(random)
	case choice < 12:
		return someMove(random)
	}
	if len(g.writers) == 0 {
		return someMove(random)
	}
	writer := &g.writers[random.IntN(len(g.writers))]
	return step{text: writer.name, writer: writer}
}

// someValue sets a field, with the other fields that it needs.
func (g *generator) someValue(random *rand.Rand) step {
	f := g.fields[random.IntN(len(g.fields))]
	values := g.pool[f.Path]
	value := values[random.IntN(len(values))]
	if f.Schema.Type == "integer" && random.IntN(2) == 0 {
		value = someNumber(random, f.Schema)
	}
	return step{text: fmt.Sprintf("set spec.%s to %s", f.Path, short(value)), change: func(spec map[string]any) map[string]any {
		changed, err := g.Set(under(spec, g.Base(f.Path)), f.Path, value)
		if err != nil {
			return spec // what it needs cannot be made: nothing changes
		}
		return changed
	}}
}

// someNumber is one that the schema allows, or its neighbor.
func someNumber(random *rand.Rand, schema specs.Node) int64 {
	low, high := int64(0), int64(9)
	if schema.Minimum != nil {
		low = int64(*schema.Minimum)
		high = low + 9
	}
	if schema.Maximum != nil {
		high = min(high, int64(*schema.Maximum))
	}
	if random.IntN(20) == 0 {
		return low - 1
	}
	return low + random.Int64N(high-low+1)
}

func (g *generator) noValue(random *rand.Rand) step {
	f := g.fields[random.IntN(len(g.fields))]
	return step{text: "leave out spec." + f.Path, change: func(spec map[string]any) map[string]any {
		remove(spec, strings.Split(f.Path, "."))
		return spec
	}}
}

func (g *generator) noSection(random *rand.Rand) step {
	names := specs.SortedKeys(g.Schema.Properties)
	name := names[random.IntN(len(names))]
	return step{text: "leave out spec." + name, change: func(spec map[string]any) map[string]any {
		if name != "image" {
			delete(spec, name)
		}
		return spec
	}}
}

func (g *generator) someCase(random *rand.Rand) step {
	names := specs.SortedKeys(g.cases)
	name := names[random.IntN(len(names))]
	return step{text: "take the spec of case " + name, change: func(map[string]any) map[string]any {
		return runtime.DeepCopyJSON(g.cases[name])
	}}
}

// under is a spec, with the other fields of another one.
func under(spec, base map[string]any) map[string]any {
	for key, value := range base {
		have, found := spec[key]
		nested, isMap := have.(map[string]any)
		other, areMaps := value.(map[string]any)
		switch {
		case !found:
			spec[key] = value
		case isMap && areMaps:
			under(nested, other)
		}
	}
	return spec
}

// remove takes out a field; of lists, that of the first item.
func remove(content map[string]any, path []string) {
	name, isList := strings.CutSuffix(path[0], "[]")
	if len(path) == 1 {
		delete(content, name)
		return
	}
	next, _ := content[name].(map[string]any)
	if items, _ := content[name].([]any); isList && len(items) > 0 {
		next, _ = items[0].(map[string]any)
	}
	if next != nil {
		remove(next, path[1:])
	}
}
