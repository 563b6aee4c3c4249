package kinds

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/chart/rbac"
)

const generated = "# By make generate, from watches.yaml, the charts that it names and internal/engine/chart/rbac/code.go. Do not change it here.\n"

// head is how the file of a role begins.
func head(kind, name, about string) string {
	return generated + "# " + about + "\napiVersion: rbac.authorization.k8s.io/v1\nkind: " + kind +
		"\nmetadata:\n  name: " + name + "\nrules:\n"
}

// namespacedFile is for kustomizations of those who serve some namespaces only.
const namespacedFile = "config/namespaced/rights/role.yaml"

// mild is what both roles have in common.
const mild = ": no wildcard, and neither escalate, bind nor impersonate."

// verbs in the usual order.
var verbs = []string{"get", "list", "watch", "create", "update", "patch", "delete"}

// grants writes the rights of the operator: what all installations have, and a kustomize component for each option.
func grants(root string, list []kind) error {
	needs, err := needed(root, list)
	if err != nil {
		return err
	}
	everywhere := func(need rbac.Need) bool { return need.ClusterScoped }
	options := map[string]string{} // the text of each
	byOption := map[string][]rbac.Need{}
	var all []rbac.Need
	for _, need := range needs {
		if need.Option == "" {
			all = append(all, need)
			continue
		}
		byOption[need.Option] = append(byOption[need.Option], need)
	}
	for name, needs := range byOption {
		within, without := apart(needs, everywhere)
		options[name] = component(name, "", addition{rulesOf(within), rulesOf(without)})
	}
	for _, k := range list {
		if !k.Is() {
			continue
		}
		if options[k.name()] != "" {
			return fmt.Errorf("%s: the option %s is that of another chart, too: give the kind another name", k.Kind, k.name())
		}
		if added := k.addition(all); len(added.inside)+len(added.outside) > 0 || k.unheld() != "" {
			options[k.name()] = component(k.name(), k.unheld(), added)
		}
	}
	inside, outside := apart(all, everywhere)
	files := map[string]string{
		rbac.RoleFile: head("ClusterRole", "manager-role",
			"What the manager needs in each namespace that it serves"+mild) + strings.Join(rulesOf(inside), ""),
		namespacedFile: head("Role", "appservice-operator-manager-role",
			"What the manager needs in a namespace that it serves, as config/rbac/role.yaml"+mild) +
			strings.Join(rulesOf(inside), ""),
		rbac.ClusterRoleFile: head("ClusterRole", "manager-cluster-role",
			"What lives outside of namespaces, or in namespaces of others. "+
				"A manager that serves some namespaces only also works without it.") + strings.Join(rulesOf(outside), ""),
	}
	for _, name := range slices.Sorted(maps.Keys(options)) {
		file := filepath.Join(rbac.OptionFolder, name, "kustomization.yaml")
		files[file] = options[name]
		if err := link(root, filepath.Join("config/chart/files/rights", name+".yaml"), filepath.Join("../../../rights", name, "kustomization.yaml")); err != nil {
			return err
		}
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return forgotten(root, options)
}

// forgotten deletes the files for options that no chart names any more.
func forgotten(root string, options map[string]string) error {
	there, err := filepath.Glob(filepath.Join(root, rbac.OptionFolder, "*", "kustomization.yaml"))
	if err != nil {
		return err
	}
	for _, file := range there {
		folder := filepath.Dir(file)
		if _, named := options[filepath.Base(folder)]; named {
			continue
		}
		if err := os.RemoveAll(folder); err != nil {
			return err
		}
		if err := os.Remove(filepath.Join(root, "config/chart/files/rights", filepath.Base(folder)+".yaml")); err != nil {
			return err
		}
	}
	return nil
}

// needed lists the rights that the operator needs, each resource once for each reason.
func needed(root string, list []kind) ([]rbac.Need, error) {
	var served, rendered []rbac.Need
	for _, k := range list {
		if k.Is() {
			served = append(served, k.own(k.clusterScoped(), false)...)
			continue
		}
		c, err := appchart.Load(os.DirFS(root), k.Chart)
		if err != nil {
			return nil, err
		}
		foreign, err := appchart.ForeignKinds(c)
		if err != nil {
			return nil, err
		}
		finalizer := false
		for kind, template := range appchart.Templates(c) {
			known, clusterScoped := builtIn(kind)
			said, declared := foreign[kind.GroupKind()]
			if !known && !declared {
				return nil, unknownKind(k.Chart, template, kind)
			}
			finalizer = finalizer || clusterScoped || said.ClusterScoped
		}
		outside := func(kind schema.GroupVersionKind) bool { _, clusterScoped := builtIn(kind); return clusterScoped }
		rendered = append(rendered, rbac.OfChart(c, outside)...)
		served = append(served, k.own(finalizer, k.expires())...)
	}
	slices.SortFunc(rendered, func(a, b rbac.Need) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource))
	})
	return slices.Concat(served, merged(rendered, rbac.OfCode())), nil
}

// own lists the rights for the resources of the kind itself.
func (k kind) own(finalizer, expires bool) []rbac.Need {
	list := rbac.OfKind(schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind}, finalizer, expires)
	for i := range list {
		_, part, _ := strings.Cut(list[i].Resource, "/")
		list[i].Resource = strings.TrimSuffix(k.plural()+"/"+part, "/")
	}
	return list
}

// merged drops what is listed twice, and of what the code needs all that charts need anyway; where it needs more, it says why.
func merged(rendered, code []rbac.Need) []rbac.Need {
	same := func(a, b rbac.Need) bool {
		return a.GroupResource == b.GroupResource && a.ClusterScoped == b.ClusterScoped
	}
	rendered = slices.CompactFunc(rendered, same)
	covers := func(all, some []string) bool {
		return !slices.ContainsFunc(some, func(verb string) bool { return !slices.Contains(all, verb) })
	}
	var out, more []rbac.Need
	for _, need := range code {
		if !slices.ContainsFunc(rendered, func(other rbac.Need) bool { return same(need, other) && covers(other.Verbs, need.Verbs) }) {
			more = append(more, need)
		}
	}
	for _, need := range rendered {
		if !slices.ContainsFunc(more, func(other rbac.Need) bool { return same(need, other) && covers(other.Verbs, need.Verbs) }) {
			out = append(out, need)
		}
	}
	return append(out, more...)
}

// unknownKind returns the error for a kind that the chart has to declare.
func unknownKind(folder, template string, kind schema.GroupVersionKind) error {
	plural := strings.ToLower(kind.Kind) + "s"
	return fmt.Errorf("%s/%s renders %s of API group %q, which is a custom kind: declare its resource name in %s/Chart.yaml, as in\n"+
		"annotations:\n  %s: |\n    %s.%s: {resource: %s}\n"+
		"with \"clusterScoped: true\" if it is cluster-scoped, and \"option: NAME\" if the right is for installations with that option only",
		folder, template, kind.Kind, kind.Group, folder, appchart.AnnotationForeignKinds, kind.Kind, kind.Group, plural)
}

// expires reports whether resources of the kind can have a spec.ttl.
func (k kind) expires() bool {
	for _, version := range k.crd.Spec.Versions {
		if _, there := version.Schema.OpenAPIV3Schema.Properties["spec"].Properties["ttl"]; there {
			return true
		}
	}
	return false
}

func apart(needs []rbac.Need, second func(rbac.Need) bool) (first, rest []rbac.Need) {
	for _, need := range needs {
		if second(need) {
			rest = append(rest, need)
		} else {
			first = append(first, need)
		}
	}
	return first, rest
}

// rulesOf are the rules of a role, as text: those of one reason together, below it; those of one group with the same verbs in one.
func rulesOf(needs []rbac.Need) []string {
	var reasons []string
	of := map[string][]rbac.Need{}
	for _, need := range needs {
		if of[need.Why] == nil {
			reasons = append(reasons, need.Why)
		}
		of[need.Why] = append(of[need.Why], need)
	}
	var out []string
	for _, why := range reasons {
		comment := "# " + strings.ReplaceAll(why, "\n", "\n# ") + "\n"
		for rest := of[why]; len(rest) > 0; {
			first := rest[0]
			var resources []string
			rest = slices.DeleteFunc(slices.Clone(rest), func(need rbac.Need) bool {
				together := need.Group == first.Group && slices.Equal(need.Verbs, first.Verbs)
				if together && !slices.Contains(resources, need.Resource) {
					resources = append(resources, need.Resource)
				}
				return together
			})
			out = append(out, comment+strings.Join(rule(first.Group, inOrder(first.Verbs), resources...), "\n")+"\n")
			comment = ""
		}
	}
	return out
}

func inOrder(list []string) []string {
	place := func(verb string) int {
		if at := slices.Index(verbs, verb); at >= 0 {
			return at
		}
		return len(verbs)
	}
	return slices.SortedStableFunc(slices.Values(list), func(a, b string) int { return place(a) - place(b) })
}

// component is the kustomization that adds an option to the roles.
func component(name, remark string, added addition) string {
	var out strings.Builder
	fmt.Fprintf(&out, generated+`# The option %s: what only those installations may do that ask for it. make deploy RIGHTS=%s adds this component, and so does a
# kustomization of your own; the chart that installs the operator has --set rights.%s=true.
%sapiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
`, name, name, name, remark)
	for _, part := range []struct {
		kind, role string
		rules      []string
	}{{"(Cluster)?Role", "(appservice-operator-)?manager-role", added.inside}, {"ClusterRole", "(appservice-operator-)?manager-cluster-role", added.outside}} {
		if len(part.rules) == 0 {
			continue
		}
		fmt.Fprintf(&out, "- target: {kind: %q, name: %q}\n  patch: |\n", part.kind, part.role)
		for _, text := range part.rules {
			for line := range strings.Lines(text) {
				switch {
				case strings.HasPrefix(line, "#"):
					out.WriteString("    " + line)
				case strings.HasPrefix(line, "- "):
					out.WriteString("    - op: add\n      path: /rules/-\n      value:\n        " + line[2:])
				default:
					out.WriteString("      " + line)
				}
			}
		}
	}
	return out.String()
}
