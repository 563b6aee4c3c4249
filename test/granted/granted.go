// Package granted reads what installations let the operator do: config/rbac, and the options of config/rights.
package granted

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/chart/rbac"
	"github.com/example/appservice-operator/tools/kinds"
	"github.com/example/appservice-operator/tools/toolchain"
)

// Rights are the rules of the operator's roles.
type Rights struct {
	// InNamespaces is what it may in each namespace that it serves, and Everywhere what it may besides in all of the cluster.
	InNamespaces, Everywhere []rbacv1.PolicyRule
	// Leading is what it may in its own namespace, for the election, and Metrics in all of the cluster, to ask who may read them.
	Leading, Metrics []rbacv1.PolicyRule
}

// Account is the service account of the operator, as make deploy makes it.
const (
	Namespace = "appservice-operator-system"
	Account   = "appservice-operator-controller-manager"
)

// Plain returns the rights of an installation that asks for no option, WithOptions those of one that asks for all.
func Plain() (Rights, error) { return read() }

// WithOptions returns the rights of an installation that asks for all options but those of charts that are served as
// they were published, which ask for anything.
func WithOptions() (Rights, error) {
	r, err := read()
	if err != nil {
		return r, err
	}
	root, err := toolchain.Root()
	if err != nil {
		return r, err
	}
	files, err := filepath.Glob(filepath.Join(root, rbac.OptionFolder, "*", "kustomization.yaml"))
	if err != nil {
		return r, err
	}
	published, err := kinds.PublishedKinds(root)
	if err != nil {
		return r, err
	}
	for _, file := range files {
		option := filepath.Base(filepath.Dir(file))
		if slices.ContainsFunc(published, func(kind kinds.PublishedKind) bool { return kind.Option == option }) {
			continue
		}
		if err := r.add(file); err != nil {
			return r, fmt.Errorf("cannot read %s: %w", file, err)
		}
	}
	return r, nil
}

func read() (r Rights, err error) {
	root, err := toolchain.Root()
	if err != nil {
		return r, err
	}
	for file, into := range map[string]*[]rbacv1.PolicyRule{
		rbac.RoleFile: &r.InNamespaces, rbac.ClusterRoleFile: &r.Everywhere,
		"config/rbac/leader_election_role.yaml": &r.Leading, "config/rbac/metrics_auth_role.yaml": &r.Metrics,
	} {
		role := &rbacv1.ClusterRole{}
		if err := parse(filepath.Join(root, file), role); err != nil {
			return r, err
		}
		*into = role.Rules
	}
	return r, nil
}

func parse(file string, into any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return yaml.Unmarshal(text, into)
}

// add adds the rules of an option, which is a kustomize component with a patch for each role.
func (r *Rights) add(file string) error {
	var component struct {
		Patches []struct {
			Target struct{ Name string }
			Patch  string
		}
	}
	if err := parse(file, &component); err != nil {
		return err
	}
	for _, patch := range component.Patches {
		var additions []struct{ Value rbacv1.PolicyRule }
		if err := yaml.Unmarshal([]byte(patch.Patch), &additions); err != nil {
			return err
		}
		target, err := regexp.Compile("^(" + patch.Target.Name + ")$")
		if err != nil {
			return err
		}
		for _, addition := range additions {
			switch {
			case target.MatchString("manager-role"):
				r.InNamespaces = append(r.InNamespaces, addition.Value)
			case target.MatchString("manager-cluster-role"):
				r.Everywhere = append(r.Everywhere, addition.Value)
			default:
				return fmt.Errorf("it adds to %s", patch.Target.Name)
			}
		}
	}
	return nil
}
