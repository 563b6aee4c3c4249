//go:build cluster

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
	"github.com/example/appservice-operator/test/try"
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
	role  role
	first map[string]any
	steps []step
	// runs are the steps of an AppJob, in the place of those of an AppService.
	runs []jobStep
}

// step changes the spec, or is a write by another client.
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
		if p.role == ofJob {
			fmt.Fprintf(&out, "%3d. %s\n", i, p.runs[i].text)
			continue
		}
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

// perReplica are the fields that no step sets: an AppService never goes from a Deployment to a StatefulSet. Some walks have one from the first
// spec on.
var perReplica = []string{
	"persistence.perReplica", "persistence.podManagementPolicy", "persistence.whenScaled", "claims[].perReplica",
	"statefulSet", "statefulSet.podManagementPolicy", "statefulSet.serviceName", "statefulSet.whenScaled",
}

func newGenerator() *generator {
	const crd = "../../config/crd/bases/app.example.com_appservices.yaml"
	schema, _ := try.Get2(specs.ReadSchema(crd))
	g := &generator{Maker: &specs.Maker{Schema: schema.Properties["spec"]}, pool: map[string][]any{}, cases: map[string]map[string]any{}}
	g.admission = try.Get(specs.NewChecker(crd))
	g.Table = try.Get(specs.ReadTable("../contract/values.yaml"))
	g.readCases()
	g.writers = writersAmong(*among)
	for _, f := range specs.FieldsOf("", g.Schema) {
		if f.Path == "paused" {
			continue // a step of its own
		}
		if slices.Contains(perReplica, f.Path) {
			continue
		}
		values := try.Get(g.Values(f.Path, f.Schema))
		for _, value := range values {
			g.add(f.Path, value)
		}
		g.fields = append(g.fields, f)
	}
	return g
}

func (g *generator) readCases() {
	files := try.Get(filepath.Glob("../testdata/cases/*/cr.yaml"))
	for _, file := range files {
		content := try.Get(specs.ReadPlain(file))
		spec := content["spec"].(map[string]any)
		persistence, _ := spec["persistence"].(map[string]any)
		if _, stateful := spec["statefulSet"]; stateful || persistence["perReplica"] == true {
			continue
		}
		delete(spec, "paused")
		g.cases[filepath.Base(filepath.Dir(file))] = spec
		g.harvest("", spec, g.Schema)
	}
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
	p := plan{role: roleOf(number)}
	if p.role == ofJob {
		p.first, p.runs = map[string]any{"image": images[0]}, someRuns(random, count)
		return p
	}
	p.first = g.someFirst(random, p.role)
	p.steps = p.role.opening(count)
	spec := p.first
	for len(p.steps) < count {
		next := g.step(random)
		if next.change != nil {
			next.change = p.role.keeping(next.change)
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
