package chart

import (
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// FromPublished is the value of from for a chart that was written for Helm, by people who do not know this operator.
const FromPublished = "published"

// Published are the keys of an entry of watches.yaml for a chart that is served as it was published. The zero value is
// for all other charts.
type Published struct {
	// From is FromPublished, or empty for a chart that was written for this operator.
	From string `json:"from,omitempty"`
	// Renders are all kinds that the chart may render, each as Kind.group, or Kind for those of the core group.
	Renders []string `json:"renders,omitempty"`
	// Grants are the rights that roles of the chart may grant, and, by the verb bind with resourceNames, the other roles
	// that its bindings may refer to.
	Grants []rbacv1.PolicyRule `json:"grants,omitempty"`
	// TemplatesInSpec has tpl execute what is a template in a spec.
	TemplatesInSpec bool `json:"templatesInSpec,omitempty"`
}

// Is reports whether the chart is served as it was published.
func (p Published) Is() bool { return p.From == FromPublished }

// MayRender reports whether a kind is among those that the chart may render.
func (p Published) MayRender(kind schema.GroupKind) bool {
	return slices.Contains(p.Renders, kind.String())
}

// check returns an error if the keys do not fit each other.
func (p Published) check() error {
	if !p.Is() {
		switch {
		case p.From != "":
			return fmt.Errorf("from: %q is unknown: it is %q, or left out for a chart that was written for this operator", p.From,
				FromPublished)
		case len(p.Renders) > 0 || len(p.Grants) > 0 || p.TemplatesInSpec:
			return fmt.Errorf("renders, grants and templatesInSpec are for entries with from: %s", FromPublished)
		}
		return nil
	}
	if len(p.Renders) == 0 {
		return fmt.Errorf("renders is required with from: %s: the kinds that the chart may render, as make kind writes them",
			FromPublished)
	}
	for i, name := range p.Renders {
		if kind := schema.ParseGroupKind(name); kind.Kind == "" || kind.String() != name {
			return fmt.Errorf("renders[%d]: %q is no kind, as in Deployment.apps, or Service for the core group", i, name)
		}
	}
	for i, rule := range p.Grants {
		if len(rule.Verbs) == 0 {
			return fmt.Errorf("grants[%d]: verbs are required, as in a rule of a role", i)
		}
	}
	return nil
}
