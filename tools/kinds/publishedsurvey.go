package kinds

import (
	"bufio"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	helmchart "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/kube/stage"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/tools/toolchain"
)

// anyName stands for the name of a resource, and for its namespace, where that is not known: no chart has it.
const anyName = "zqx"

// kubernetesVersion is that of the cluster that charts are rendered for.
const kubernetesVersion = "v" + toolchain.DefaultKubernetes + ".0"

// survey is what renderings of a chart show: one with its defaults, and one with each boolean turned.
type survey struct {
	chart        *helmchart.Chart
	capabilities *chartutil.Capabilities
	names        []string // of resources; with none, roles are known only if their names do not depend on that

	failed error // why the chart does not render with its defaults
	kinds  []rendered[string]
	rules  []rendered[rbacv1.PolicyRule]
	crds   map[string]*apiextensionsv1.CustomResourceDefinition
	// unnamed are names of roles that depend on the name of a resource, and need the right to escalate or to bind.
	unnamed []string
}

// rendered is something with the value that it takes, as in "persistence.enabled: true"; empty for the defaults.
type rendered[T any] struct {
	what T
	with string
}

// crdSwitch matches the values that have a template render definitions of kinds.
var crdSwitch = regexp.MustCompile(`(?i)(^|\.|install|create|enable)(crds?|customresourcedefinitions?)(\.|$)`)

// look renders a chart.
func look(c *helmchart.Chart, names []string) (s *survey, err error) {
	s = &survey{chart: c, names: names, capabilities: render.Serving(c), crds: map[string]*apiextensionsv1.CustomResourceDefinition{}}
	if s.capabilities.KubeVersion, err = kubeVersion(); err != nil {
		return nil, err
	}
	for _, file := range c.CRDObjects() {
		for _, object := range objectsOf(string(file.File.Data)) {
			s.define(object)
		}
	}
	s.serve(c)
	if s.failed = s.add(nil, ""); s.failed != nil {
		s.assume(c)
		return s, nil
	}
	values, err := s.values(appchart.Copy(c), map[string]any{}, anyName)
	if err != nil {
		return nil, err
	}
	for _, one := range switches(values["Values"], nil) {
		if err := s.add(one.values(), one.String()); err != nil {
			continue // it takes other values besides
		}
	}
	if len(s.kinds) == 0 {
		s.assume(c)
	}
	return s, nil
}

// assume takes down the kinds that templates name, for a chart that renders nothing without values.
func (s *survey) assume(c *helmchart.Chart) {
	for _, kind := range appchart.Kinds(c) {
		s.kind(kind.GroupKind(), "values of your own")
	}
}

func kubeVersion() (chartutil.KubeVersion, error) {
	parsed, err := chartutil.ParseKubeVersion(kubernetesVersion)
	if err != nil {
		return chartutil.KubeVersion{}, err
	}
	return *parsed, nil
}

// serve adds what the chart looks for in a cluster: the kinds that its templates name, and those that it defines.
func (s *survey) serve(c *helmchart.Chart) {
	versions := slices.Clone(s.capabilities.APIVersions)
	for _, kind := range appchart.Kinds(c) {
		versions = append(versions, kind.GroupVersion().String())
	}
	for _, crd := range s.crds {
		for _, version := range crd.Spec.Versions {
			group := crd.Spec.Group + "/" + version.Name
			versions = append(versions, group, group+"/"+crd.Spec.Names.Kind)
		}
	}
	slices.Sort(versions)
	s.capabilities.APIVersions = slices.Compact(versions)
}

// boolean is a value of a chart that is true or false.
type boolean struct {
	path []string
	now  bool
}

func (b boolean) String() string { return fmt.Sprintf("%s: %t", strings.Join(b.path, "."), !b.now) }

// values are those that turn it.
func (b boolean) values() map[string]any {
	var at any = !b.now
	for _, name := range slices.Backward(b.path) {
		at = map[string]any{name: at}
	}
	return at.(map[string]any)
}

// switches lists the booleans in values, in order.
func switches(values any, path []string) []boolean {
	switch values := values.(type) {
	case bool:
		return []boolean{{path, values}}
	case chartutil.Values:
		return switches(map[string]any(values), path)
	case map[string]any:
		var list []boolean
		for _, name := range slices.Sorted(maps.Keys(values)) {
			list = append(list, switches(values[name], append(slices.Clone(path), name))...)
		}
		return list
	}
	return nil
}

// add renders the chart with values, for each of the names.
func (s *survey) add(values map[string]any, with string) error {
	names := s.names
	if len(names) == 0 {
		names = []string{anyName}
	}
	var rules []rbacv1.PolicyRule
	for _, name := range names {
		objects, err := s.render(values, name)
		if err != nil {
			return err
		}
		rules = append(rules, s.note(objects, with)...)
	}
	for _, rule := range mergedRules(rules) {
		known := slices.DeleteFunc(s.granted(), func(other rbacv1.PolicyRule) bool { return wild(other) != wild(rule) })
		for _, more := range mergedRules(lacking([]rbacv1.PolicyRule{rule}, known)) {
			s.rules = append(s.rules, rendered[rbacv1.PolicyRule]{more, with})
		}
	}
	return nil
}

// values are what templates see.
func (s *survey) values(c *helmchart.Chart, values map[string]any, name string) (chartutil.Values, error) {
	if err := chartutil.ProcessDependenciesWithMerge(c, values); err != nil {
		return nil, err
	}
	// The operator holds the schema against each spec. It may be elsewhere, and the defaults may not fit it.
	return chartutil.ToRenderValuesWithSchemaValidation(c, values, chartutil.ReleaseOptions{
		Name: name, Namespace: anyName + "-namespace", Revision: 1, IsInstall: true,
	}, s.capabilities, true)
}

func (s *survey) render(values map[string]any, name string) ([]*unstructured.Unstructured, error) {
	c := appchart.Copy(s.chart)
	if values == nil {
		values = map[string]any{}
	}
	input, err := s.values(c, values, name)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(c, input)
	if err != nil {
		return nil, err
	}
	var list []*unstructured.Unstructured
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if base := path.Base(file); base != "NOTES.txt" && !strings.HasPrefix(base, "_") {
			list = append(list, objectsOf(files[file])...)
		}
	}
	return list, nil
}

// objectsOf returns the objects in a text that is one or more documents of YAML, without what is no object.
func objectsOf(text string) []*unstructured.Unstructured {
	var list []*unstructured.Unstructured
	reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	for {
		document, err := reader.Read()
		if err != nil {
			return list // its end
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(document, &object.Object); err != nil || object.GetKind() == "" {
			continue
		}
		if object.IsList() {
			_ = object.EachListItem(func(item runtime.Object) error {
				list = append(list, item.(*unstructured.Unstructured))
				return nil
			})
			continue
		}
		list = append(list, object)
	}
}

// written reports whether an object is part of a release: hooks are, unless they are for tests, or for what never
// happens to a release.
func written(object *unstructured.Unstructured) bool {
	events := object.GetAnnotations()["helm.sh/hook"]
	return events == "" || slices.ContainsFunc(strings.Split(events, ","), func(event string) bool {
		return stage.OfHook(event) != ""
	})
}

// note takes down the kinds of objects, and returns what roles among them grant.
func (s *survey) note(objects []*unstructured.Unstructured, with string) (rules []rbacv1.PolicyRule) {
	objects = slices.DeleteFunc(objects, func(object *unstructured.Unstructured) bool { return !written(object) })
	for _, object := range objects {
		kind := object.GroupVersionKind().GroupKind()
		if kind.Kind == "CustomResourceDefinition" {
			if with == "" || crdSwitch.MatchString(strings.Split(with, ":")[0]) {
				s.define(object)
			}
			continue
		}
		s.kind(kind, with)
		if kind.Group != rbacv1.GroupName {
			continue
		}
		switch kind.Kind {
		case "Role", "ClusterRole":
			rules = append(rules, s.ofRole(object)...)
		case "RoleBinding", "ClusterRoleBinding":
			rules = append(rules, s.ofBinding(object, objects)...)
		}
	}
	return rules
}

// granted are the rules that are known.
func (s *survey) granted() []rbacv1.PolicyRule {
	var list []rbacv1.PolicyRule
	for _, rule := range s.rules {
		list = append(list, rule.what)
	}
	return list
}

func (s *survey) kind(kind schema.GroupKind, with string) {
	name := kind.String()
	if kind.Kind != "CustomResourceDefinition" && !slices.ContainsFunc(s.kinds, func(known rendered[string]) bool { return known.what == name }) {
		s.kinds = append(s.kinds, rendered[string]{name, with})
	}
}

// define takes down a definition of a kind.
func (s *survey) define(object *unstructured.Unstructured) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, crd); err == nil && crd.Spec.Group != "" {
		maps.DeleteFunc(crd.Labels, func(_, value string) bool { return !named(value) }) // those of a release
		s.crds[crd.Name] = crd
	}
}

// named reports whether a name in a rendering is the one in the cluster, too.
func named(name string) bool { return !strings.Contains(name, anyName) }

// ofRole returns what a role grants, and the right to write it as it is if it has wildcards: that cannot be held.
func (s *survey) ofRole(object *unstructured.Unstructured) []rbacv1.PolicyRule {
	role := &rbacv1.ClusterRole{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, role); err != nil {
		return nil
	}
	all := slices.ContainsFunc(role.Rules, wild)
	for i, rule := range role.Rules {
		if slices.ContainsFunc(rule.ResourceNames, func(name string) bool { return !named(name) }) {
			role.Rules[i].ResourceNames = nil // each resource has others
		}
	}
	if all {
		role.Rules = append(role.Rules, s.right(object.GetKind(), role.Name, "bind", "escalate")...)
	}
	return role.Rules
}

// ofBinding returns the right to bind a role that is not rendered.
func (s *survey) ofBinding(object *unstructured.Unstructured, objects []*unstructured.Unstructured) []rbacv1.PolicyRule {
	kind, _, _ := unstructured.NestedString(object.Object, "roleRef", "kind")
	name, _, _ := unstructured.NestedString(object.Object, "roleRef", "name")
	if slices.ContainsFunc(objects, func(other *unstructured.Unstructured) bool {
		return other.GetKind() == kind && other.GetName() == name
	}) {
		return nil
	}
	return s.right(kind, name, "bind")
}

// right is that to do something with a role; none if its name is not known.
func (s *survey) right(kind, name string, verbs ...string) []rbacv1.PolicyRule {
	if !named(name) {
		if name = kind + " " + strings.ReplaceAll(name, anyName, "NAME"); !slices.Contains(s.unnamed, name) {
			s.unnamed = append(s.unnamed, name)
		}
		return nil
	}
	return []rbacv1.PolicyRule{{
		APIGroups: []string{rbacv1.GroupName}, Resources: []string{strings.ToLower(kind) + "s"},
		Verbs: verbs, ResourceNames: []string{name},
	}}
}
