package walk

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/specs"
)

// generator makes walks.
type generator struct {
	*specs.Maker
	admission *specs.Checker
	fields    []specs.Field
	// pool holds the values that each field is tried with.
	pool map[string][]any
	// cases are the specs of test/testdata/cases, by name.
	cases map[string]map[string]any
	// writers are those that take part.
	writers []writer
}

// plan is a walk before it is taken: the first spec and what happens then.
type plan struct {
	first map[string]any
	steps []step
}

// step changes the spec, or is what somebody else does.
type step struct {
	text string
	// change makes the next spec of the present one.
	change func(spec map[string]any) map[string]any
	writer *writer // who else writes, instead
	// choice decides where there are several things to pick.
	choice uint64
	// hurry means that the next step does not wait for this one.
	hurry bool
}

func (p plan) print(chosen []int) string {
	var out strings.Builder
	fmt.Fprintf(&out, "     begin with %s\n", short(p.first))
	for _, i := range chosen {
		fmt.Fprintf(&out, "%3d. %s", i, p.steps[i].text)
		if p.steps[i].hurry {
			out.WriteString(", without waiting")
		}
		out.WriteString("\n")
	}
	return out.String()
}

func short(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func newGenerator() (*generator, error) {
	const crd = "../../config/crd/bases/app.example.com_appservices.yaml"
	schema, _, err := specs.ReadSchema(crd)
	if err != nil {
		return nil, err
	}
	g := &generator{Maker: &specs.Maker{Schema: schema.Properties["spec"]}, pool: map[string][]any{}, cases: map[string]map[string]any{}}
	if g.admission, err = specs.NewChecker(crd); err != nil {
		return nil, err
	}
	if g.Table, err = specs.ReadTable("../contract/values.yaml"); err != nil {
		return nil, err
	}
	if err := g.readCases(); err != nil {
		return nil, err
	}
	if g.writers, err = writersAmong(*among); err != nil {
		return nil, err
	}
	for _, f := range specs.FieldsOf("", g.Schema) {
		if f.Path == "paused" {
			continue // a step of its own
		}
		values, err := g.Values(f.Path, f.Schema)
		if err != nil {
			return nil, err
		}
		for _, value := range values {
			g.add(f.Path, value)
		}
		g.fields = append(g.fields, f)
	}
	return g, nil
}

func (g *generator) readCases() error {
	files, err := filepath.Glob("../testdata/cases/*/cr.yaml")
	if err != nil {
		return err
	}
	for _, file := range files {
		content, err := specs.ReadPlain(file)
		if err != nil {
			return err
		}
		spec := content["spec"].(map[string]any)
		delete(spec, "paused")
		g.cases[filepath.Base(filepath.Dir(file))] = spec
		g.harvest("", spec, g.Schema)
	}
	return nil
}

// harvest puts the values of a spec's fields into the pool.
func (g *generator) harvest(prefix string, content map[string]any, schema specs.Node) {
	for _, name := range specs.SortedKeys(content) {
		property, path := schema.Properties[name], specs.Join(prefix, name)
		items, isList := content[name].([]any)
		switch nested, isMap := content[name].(map[string]any); {
		case isMap && specs.Ours(property):
			g.harvest(path, nested, property)
		case isList && property.Items != nil && property.Items.Schema != nil && specs.Ours(*property.Items.Schema):
			for _, item := range items {
				g.harvest(path+"[]", item.(map[string]any), *property.Items.Schema)
			}
		default:
			g.add(path, content[name])
		}
	}
}

func (g *generator) add(path string, value any) {
	if !slices.ContainsFunc(g.pool[path], func(known any) bool { return short(known) == short(value) }) {
		g.pool[path] = append(g.pool[path], value)
	}
}

// plan makes a walk. The same arguments make the same walk.
func (g *generator) plan(seed, number uint64, count int) plan {
	random := rand.New(rand.NewPCG(seed, number))
	p := plan{first: g.someCase(random).change(nil)}
	spec := p.first
	for len(p.steps) < count {
		next := g.step(random)
		if next.change != nil {
			// One of many refused specs is kept: the API server must refuse it, and nothing may come of it.
			changed := next.change(runtime.DeepCopyJSON(spec))
			if err := g.check(changed); err != nil && random.IntN(40) > 0 {
				continue
			} else if err == nil {
				spec = changed
			}
		}
		next.hurry = random.IntN(3) == 0
		next.choice = random.Uint64()
		p.steps = append(p.steps, next)
	}
	return p
}

func (g *generator) check(spec map[string]any) error {
	return g.admission.Check(map[string]any{
		"apiVersion": v1.GroupVersion.String(), "kind": v1.Kind, "metadata": map[string]any{"name": name, "namespace": "default"}, "spec": spec,
	})
}

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

// someValue sets a field, with what it needs besides.
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

// someNumber is one that the schema allows, or its neighbour.
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

// under is a spec, and what another one has besides.
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
