package kinds

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/chart/fields"
)

// base is what bundles for OLM are made of. Its entries of kinds with a Go type come from markers.
const base = "config/manifests/bases/appservice-operator.clusterserviceversion.yaml"

// entry is a kind in a ClusterServiceVersion: what consoles show. The keys are in the order in which they are written.
type entry struct {
	Description       string       `json:"description"`
	DisplayName       string       `json:"displayName"`
	Kind              string       `json:"kind"`
	Name              string       `json:"name"`
	Resources         []resource   `json:"resources"`
	SpecDescriptors   []descriptor `json:"specDescriptors"`
	StatusDescriptors any          `json:"statusDescriptors"`
	Version           string       `json:"version"`
}

type resource struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Version string `json:"version"`
}

type descriptor struct {
	Description string   `json:"description"`
	DisplayName string   `json:"displayName"`
	Path        string   `json:"path"`
	Controls    []string `json:"x-descriptors,omitempty"`
}

// describe writes the entries of the kinds that have no Go type. All kinds share a status, and so its descriptors.
func describe(root string, list []kind) error {
	file := filepath.Join(root, base)
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	csv := map[string]any{}
	if err := yaml.Unmarshal(text, &csv); err != nil {
		return fmt.Errorf("cannot parse %s: %w", base, err)
	}
	definitions, _ := csv["spec"].(map[string]any)["customresourcedefinitions"].(map[string]any)
	owned, _ := definitions["owned"].([]any)
	if len(owned) == 0 {
		return fmt.Errorf("%s owns no kind", base)
	}
	status := statusOf(owned, list)
	for _, k := range list {
		if !k.Is() && (k.declared == nil || k.declared.Kind == nil) {
			continue
		}
		made, err := k.entry(root)
		if err != nil {
			return err
		}
		made.StatusDescriptors = status
		at := slices.IndexFunc(owned, func(one any) bool {
			known, there := one.(map[string]any) // the others are made by now
			return there && known["name"] == made.Name
		})
		if at < 0 {
			at, owned = len(owned), append(owned, nil)
		}
		owned[at] = made
	}
	definitions["owned"] = owned
	if text, err = yaml.Marshal(csv); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// statusOf returns the descriptors of the status of a kind whose entry is made of markers.
func statusOf(owned []any, list []kind) any {
	for _, one := range owned {
		entry, _ := one.(map[string]any)
		made := slices.ContainsFunc(list, func(k kind) bool {
			return (k.Is() || k.declared != nil && k.declared.Kind != nil) && k.crd.Name == entry["name"]
		})
		if !made {
			return entry["statusDescriptors"]
		}
	}
	return nil
}

func (k kind) entry(root string) (*entry, error) {
	if k.Is() {
		return k.publishedEntry(root)
	}
	c, err := appchart.Load(os.DirFS(root), k.Chart)
	if err != nil {
		return nil, err
	}
	made := &entry{Description: k.declared.Kind.Description, DisplayName: k.declared.Kind.Title, Kind: k.Kind, Name: k.crd.Name, Version: k.Version}
	if made.DisplayName == "" {
		made.DisplayName = words(k.Kind)
	}
	made.Resources = []resource{{Kind: k.Kind, Version: k.Version}, {Kind: "Pod", Version: "v1"}}
	for _, rendered := range appchart.Kinds(c) {
		made.Resources = append(made.Resources, resource{Kind: rendered.Kind, Version: rendered.Version})
	}
	slices.SortFunc(made.Resources, func(a, b resource) int { return strings.Compare(a.Kind, b.Kind) })
	made.Resources = slices.Compact(made.Resources)
	made.SpecDescriptors = k.fields()
	return made, nil
}

// publishedEntry is that of a kind of a chart of others, whose fields nobody has described for a console.
func (k kind) publishedEntry(root string) (*entry, error) {
	c, err := appchart.LoadPublished(os.DirFS(root), k.Chart)
	if err != nil {
		return nil, err
	}
	made := &entry{Description: firstSentence(c.Metadata.Description), DisplayName: words(k.Kind), Kind: k.Kind, Name: k.crd.Name, Version: k.Version}
	if made.Description == "" {
		made.Description = "The chart " + c.Name() + "."
	}
	made.Resources, made.SpecDescriptors = []resource{{Kind: k.Kind, Version: k.Version}}, []descriptor{}
	return made, nil
}

// fields describes the fields that the chart declares.
func (k kind) fields() []descriptor {
	var list []descriptor
	spec := k.crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	for _, name := range fields.Names(k.declared.Spec) {
		property := spec.Properties[name]
		one := descriptor{Description: property.Description, DisplayName: property.Title, Path: name, Controls: controls(property)}
		if one.DisplayName == "" {
			one.DisplayName = words(name)
		}
		list = append(list, one)
	}
	return list
}

// DescribeFields adds the fields that charts declare to the entries of kinds with a Go type in a ClusterServiceVersion: operator-sdk generates
// these from the markers of the type each time.
func DescribeFields(root string, csv map[string]any) error {
	list, err := served(root)
	if err != nil {
		return err
	}
	owned, _, err := unstructured.NestedSlice(csv, "spec", "customresourcedefinitions", "owned")
	if err != nil {
		return err
	}
	for _, k := range list {
		at := slices.IndexFunc(owned, func(one any) bool { return one.(map[string]any)["name"] == k.crd.Name })
		if k.declared == nil || k.declared.Kind != nil || at < 0 {
			continue
		}
		entry := owned[at].(map[string]any)
		described, _ := entry["specDescriptors"].([]any)
		for _, field := range k.fields() {
			as, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&field)
			if err != nil {
				return err
			}
			described = append(described, as)
		}
		entry["specDescriptors"] = described
	}
	return unstructured.SetNestedSlice(csv, owned, "spec", "customresourcedefinitions", "owned")
}

// controls are what a console lets a field be set with.
func controls(of apiextensionsv1.JSONSchemaProps) []string {
	const prefix = "urn:alm:descriptor:com.tectonic.ui:"
	switch {
	case len(of.Enum) > 0:
		var list []string
		for _, value := range of.Enum {
			list = append(list, prefix+"select:"+strings.Trim(string(value.Raw), `"`))
		}
		return list
	case of.Type == "boolean":
		return []string{prefix + "booleanSwitch"}
	case of.Type == "integer" || of.Type == "number":
		return []string{prefix + "number"}
	case of.Type == "string":
		return []string{prefix + "text"}
	}
	return nil
}

// words are those of a name, as in "App Job" or "Image pull policy".
func words(name string) string {
	var out strings.Builder
	kind := unicode.IsUpper(rune(name[0]))
	for i, letter := range name {
		switch {
		case i == 0:
			letter = unicode.ToUpper(letter)
		case unicode.IsUpper(letter):
			out.WriteByte(' ')
			if !kind {
				letter = unicode.ToLower(letter)
			}
		}
		out.WriteRune(letter)
	}
	return out.String()
}
