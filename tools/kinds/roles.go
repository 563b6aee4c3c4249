package kinds

import (
	"fmt"
	"slices"
	"strings"
)

// person is a role of people, added to one of the cluster's own.
type person struct {
	who, to string
	verbs   []string
	scale   []string
}

var reading = []string{"get", "list", "watch"}

// people may read, or also change, or also delete many resources at a time.
var people = []person{
	{"admin", "admin", slices.Concat(reading, []string{"create", "update", "patch", "delete", "deletecollection"}), []string{"get", "update", "patch"}},
	{"editor", "edit", slices.Concat(reading, []string{"create", "update", "patch", "delete"}), []string{"get", "update", "patch"}},
	{"viewer", "view", reading, []string{"get"}},
}

func (k kind) roleFile(of person) string { return k.name() + "_" + of.who + "_role.yaml" }

// role is the text of a role of people. Those who may write a kind that outranks them get the role by name only.
func (k kind) role(of person) string {
	var out strings.Builder
	fmt.Fprintf(&out, `# By make generate, from watches.yaml and tools/kinds/roles.go. Do not change it here.
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: %s-%s-role
`, k.name(), of.who)
	if of.to == "view" || !k.outranks() {
		fmt.Fprintf(&out, "  labels:\n    rbac.authorization.k8s.io/aggregate-to-%s: \"true\"\n", of.to)
	}
	out.WriteString("rules:\n")
	lines := rule(k.Group, of.verbs, k.plural())
	if k.scales() {
		lines = append(lines, rule(k.Group, of.scale, k.plural()+"/scale")...)
	}
	lines = append(lines, rule(k.Group, []string{"get"}, k.plural()+"/status")...)
	out.WriteString(strings.Join(lines, "\n") + "\n")
	return out.String()
}

func (k kind) roleFiles() []string {
	var list []string
	for _, who := range people {
		list = append(list, k.roleFile(who))
	}
	return list
}

func rule(group string, verbs []string, resources ...string) []string {
	if group == "" {
		group = `""`
	}
	return []string{
		fmt.Sprintf("- apiGroups: [%s]", group),
		fmt.Sprintf("  resources: [%s]", strings.Join(resources, ", ")),
		fmt.Sprintf("  verbs: [%s]", strings.Join(verbs, ", ")),
	}
}
