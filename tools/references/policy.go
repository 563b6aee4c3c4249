package references

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"text/template"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

const (
	// maxNames is how many new names are asked about one by one: a check costs 350,000 of the 10,000,000 that a policy may cost.
	maxNames = 16
	// maxNew is how many new references there may be to these names, each of which is compared with all others: an expression may cost 1,000,000.
	maxNew = 50
	// maxEntries is how many entries of lists are compared with those of before.
	maxEntries = 256
)

//go:embed policy.yaml.tmpl
var text string

var policies = template.Must(template.New("policy").Parse(text))

// Policies returns the policies of the kind of a CRD, and their bindings, as YAML. The root is the folder of the repository.
func Policies(root string, crd *apiextensionsv1.CustomResourceDefinition) (string, error) {
	all, err := read(root)
	if err != nil {
		return "", err
	}
	about := all[crd.Spec.Names.Kind]
	spec, err := about.spec(crd)
	if err != nil {
		return "", err
	}
	data := subject{Name: strings.ToLower(crd.Spec.Names.Kind), Kind: crd.Spec.Names.Kind, Group: crd.Spec.Group, Plural: crd.Spec.Names.Plural}
	for _, version := range crd.Spec.Versions {
		data.Versions = append(data.Versions, version.Name)
	}
	found, err := about.references(spec)
	if err != nil {
		return "", err
	}
	for _, kind := range kinds {
		if paths := found[kind.name]; len(paths) > 0 {
			data.Policies = append(data.Policies, newPolicy(kind, paths))
		}
	}
	if data.Makes, err = about.made(spec); err != nil {
		return "", err
	}
	var out strings.Builder
	if err := policies.Execute(&out, data); err != nil {
		return "", err
	}
	return out.String(), nil
}

// subject is the kind of resource that policies are about.
type subject struct {
	Name, Kind, Group, Plural string
	Versions                  []string
	Policies                  []policy
	Makes                     []makes
}

// policy is about references to one kind.
type policy struct {
	To, Name, Group, Resource, Verb, Use string
	// Fields are those at the top of the spec that refer to something or hold what does.
	Fields []string
	// Pods and Others are expressions of what fields name, those whose content pods can read and the others. Entries is how long the lists
	// are that these fields are in.
	Pods, Others, Entries string
	// Names are the numbers of new names, of which each is asked about.
	Names []int
	// MaxNew is how many new references, MaxEntries how many entries are compared.
	MaxNames, MaxNew, MaxEntries int
}

func newPolicy(to kind, paths []path) policy {
	p := policy{
		To: to.name, Name: to.policy, Group: to.group, Resource: to.resource, Verb: to.verb, Use: to.use,
		MaxNames: maxNames, MaxNew: maxNew, MaxEntries: maxEntries, Entries: counted("o", leaves(to.name, paths)),
	}
	for i := range maxNames {
		p.Names = append(p.Names, i)
	}
	var pods, others []path
	for _, at := range paths {
		if top := at[1].name; !slices.Contains(p.Fields, top) {
			p.Fields = append(p.Fields, top)
		}
		if at.pods() {
			pods = append(pods, at)
		} else {
			others = append(others, at)
		}
	}
	p.Pods, p.Others = naming("o", leaves(to.name, pods)), naming("o", leaves(to.name, others))
	return p
}

// makes is a field that makes an object.
type makes struct {
	made
	// Asked is an expression on object o: whether it asks for the object; Part is what of it says how the object is to be.
	Asked, Part string
}

// made returns what is declared of fields that make objects, as expressions.
func (d declared) made(spec *node) ([]makes, error) {
	fields := map[string]path{}
	path{spec}.walk(func(p path) { fields[p.String()] = p })
	var list []makes
	for _, m := range d.Makes {
		chain := "o.?" + strings.ReplaceAll(m.Field, ".", ".?")
		entry := makes{made: m, Part: chain}
		switch p := fields[strings.TrimSuffix(m.Field, "[]")]; {
		case fields[m.Field] == nil && fields[m.Field+"[]"] != nil:
			entry.Asked = chain + ".orValue([]).size() > 0"
		case p == nil:
			return nil, fmt.Errorf("%s: there is no field %s", File, m.Field)
		case p.last().typ == "boolean":
			entry.Asked, entry.Part = chain+".orValue(false)", chain[:strings.LastIndex(chain, ".?")]
		default:
			entry.Asked = chain + ".hasValue()"
		}
		list = append(list, entry)
	}
	return list, nil
}

// references returns the paths of all fields that refer to something, by what they refer to, in order.
func (d declared) references(spec *node) (map[string][]path, error) {
	found, known := map[string][]path{}, map[string]bool{}
	path{spec}.walk(func(p path) {
		refers := p.refersTo()
		if declared, there := d.Refers[p.String()]; there {
			refers, known[p.String()] = []string{declared}, true
		}
		for _, to := range refers {
			if to != "" {
				found[to] = append(found[to], slices.Clone(p))
			}
		}
	})
	for field, to := range d.Refers {
		if !known[field] {
			return nil, fmt.Errorf("%s: there is no field %s", File, field)
		}
		if to != "" && !slices.ContainsFunc(kinds, func(k kind) bool { return k.name == to }) {
			return nil, fmt.Errorf("%s: %s refers to %s, which nothing is known of", File, field, to)
		}
	}
	return found, nil
}

// spec is that of the kind of a CRD.
func (d declared) spec(crd *apiextensionsv1.CustomResourceDefinition) (*node, error) {
	for _, version := range crd.Spec.Versions {
		if version.Storage && version.Schema != nil && version.Schema.OpenAPIV3Schema != nil {
			schema := version.Schema.OpenAPIV3Schema.Properties["spec"]
			spec := ofSchema("spec", &schema)
			return spec, d.complete(spec)
		}
	}
	return nil, fmt.Errorf("the CRD %s has no schema", crd.Name)
}
