package rbac

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// Granted is what roles allow.
type Granted []rbacv1.PolicyRule

// ReadGranted returns what an installation with all options grants: the files of rights, by their paths in the
// repository.
func ReadGranted(files fs.FS) (Granted, error) {
	var all Granted
	for _, name := range []string{RoleFile, ClusterRoleFile} {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		for _, document := range bytes.Split(text, []byte("\n---\n")) {
			var role rbacv1.ClusterRole
			if err := yaml.Unmarshal(document, &role); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			all = append(all, role.Rules...)
		}
	}
	options, err := fs.ReadDir(files, OptionFolder)
	if err != nil {
		return nil, err
	}
	for _, option := range options {
		name := path.Join(OptionFolder, option.Name(), "kustomization.yaml")
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		more, err := ofComponent(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, more...)
	}
	return all, nil
}

// ofComponent reads the rules that a component of kustomize adds to a role.
func ofComponent(text []byte) (Granted, error) {
	var component struct {
		Patches []struct{ Patch string }
	}
	if err := yaml.Unmarshal(text, &component); err != nil {
		return nil, err
	}
	var all Granted
	for _, each := range component.Patches {
		var operations []struct{ Value rbacv1.PolicyRule }
		if err := yaml.Unmarshal([]byte(each.Patch), &operations); err != nil {
			return nil, err
		}
		for _, operation := range operations {
			all = append(all, operation.Value)
		}
	}
	return all, nil
}

// Lacks returns the verbs of a need that no role grants.
func (g Granted) Lacks(need Need) []string {
	var missing []string
	for _, verb := range need.Verbs {
		grants := func(rule rbacv1.PolicyRule) bool {
			return slices.Contains(rule.Verbs, verb) && slices.Contains(rule.APIGroups, need.Group) &&
				slices.Contains(rule.Resources, need.Resource)
		}
		if !slices.ContainsFunc(g, grants) {
			missing = append(missing, verb)
		}
	}
	return missing
}
