package kinds

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/component-helpers/auth/rbac/validation"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/chart/rbac"
)

// whyPublished is the description of rights in the roles.
const (
	whyPublished = "The kinds that the chart may render, by renders of watches.yaml. They are written by server-side apply: a patch,\n" +
		"and a create if the object is new."
	whyGranted = "What roles of the chart may grant, by grants of watches.yaml: nobody can grant what he does not have."
)

// definition is what rights need to know of a kind.
type definition struct {
	plural        string
	clusterScoped bool
}

// wellKnown are kinds of others that charts render, and that neither a client nor the chart describes.
var wellKnown = map[schema.GroupKind]definition{
	{Group: "apiregistration.k8s.io", Kind: "APIService"}:                {"apiservices", true},
	{Group: "cert-manager.io", Kind: "ClusterIssuer"}:                    {"clusterissuers", true},
	{Group: "gateway.networking.k8s.io", Kind: "GatewayClass"}:           {"gatewayclasses", true},
	{Group: "policy", Kind: "PodSecurityPolicy"}:                         {"podsecuritypolicies", true},
	{Group: "security.openshift.io", Kind: "SecurityContextConstraints"}: {"securitycontextconstraints", true},
	{Group: "snapshot.storage.k8s.io", Kind: "VolumeSnapshotClass"}:      {"volumesnapshotclasses", true},
}

// guessed is the plural of the kind.
func (k kind) guessed() string { return guessed(schema.GroupKind{Group: k.Group, Kind: k.Kind}) }

func guessed(kind schema.GroupKind) string {
	plural, _ := meta.UnsafeGuessKindToResource(kind.WithVersion(""))
	return plural.Resource
}

// lookup returns what is known of a kind that the chart renders, and of any other by the usual rules.
func (k kind) lookup(of schema.GroupKind) definition {
	if said, known := k.defined[of]; known {
		return said
	}
	if said, known := wellKnown[of]; known {
		return said
	}
	for _, version := range scheme.Scheme.VersionsForGroupKind(of) {
		if found, clusterScoped := builtIn(of.WithVersion(version.Version)); found {
			return definition{guessed(of), clusterScoped}
		}
	}
	return definition{plural: guessed(of)}
}

// mayRender lists what the chart may render.
func (k kind) mayRender() []schema.GroupKind {
	var list []schema.GroupKind
	for _, name := range k.Renders {
		list = append(list, schema.ParseGroupKind(name))
		if name == "StatefulSet.apps" {
			list = append(list, schema.GroupKind{Kind: "PersistentVolumeClaim"}) // of its templates
		}
	}
	return list
}

// clusterScoped reports whether the chart may render what lives outside of namespaces.
func (k kind) clusterScoped() bool {
	return slices.ContainsFunc(k.mayRender(), func(of schema.GroupKind) bool { return k.lookup(of).clusterScoped })
}

// outranks reports whether a resource of the kind becomes what the role edit of Kubernetes does not let its users make:
// rights, webhooks, APIs, or anything for the whole cluster.
func (k kind) outranks() bool {
	return k.clusterScoped() || slices.ContainsFunc(k.mayRender(), func(of schema.GroupKind) bool { return of.Group == rbacv1.GroupName })
}

// addition is what an option adds to the roles of an installation: rules as text for namespaces, and for outside of them.
type addition struct{ inside, outside []string }

// addition returns the rights that the chart takes besides those that all installations have.
func (k kind) addition(all []rbac.Need) addition {
	var held, renders, grants []rbacv1.PolicyRule
	for _, need := range all {
		held = append(held, rbacv1.PolicyRule{APIGroups: []string{need.Group}, Resources: []string{need.Resource}, Verbs: need.Verbs})
	}
	for _, of := range k.mayRender() {
		renders = append(renders, rbacv1.PolicyRule{
			APIGroups: []string{of.Group}, Resources: []string{k.lookup(of).plural}, Verbs: rbac.ToRender,
		})
	}
	for _, rule := range k.Grants {
		if !wild(rule) {
			grants = append(grants, rule)
		}
	}
	var out addition
	out.add(k, whyPublished, lacking(renders, held))
	out.add(k, whyGranted, lacking(grants, slices.Concat(held, renders)))
	return out
}

// add adds rules with their reason.
func (a *addition) add(k kind, why string, rules []rbacv1.PolicyRule) {
	for into, outside := range map[*[]string]bool{&a.inside: false, &a.outside: true} {
		some := slices.DeleteFunc(slices.Clone(rules), func(rule rbacv1.PolicyRule) bool { return k.outside(rule) != outside })
		comment := "# " + strings.ReplaceAll(why, "\n", "\n# ") + "\n"
		for _, rule := range mergedRules(some) {
			*into = append(*into, comment+ruleText(rule))
			comment = ""
		}
	}
}

// outside reports whether a rule is about what lives outside of namespaces.
func (k kind) outside(rule rbacv1.PolicyRule) bool {
	if len(rule.NonResourceURLs) > 0 {
		return true
	}
	resource, _, _ := strings.Cut(rule.Resources[0], "/")
	of := schema.GroupResource{Group: rule.APIGroups[0], Resource: resource}
	for kind, known := range k.defined {
		if kind.Group == of.Group && known.plural == of.Resource {
			return known.clusterScoped
		}
	}
	for kind, known := range wellKnown {
		if kind.Group == of.Group && known.plural == of.Resource {
			return known.clusterScoped
		}
	}
	return slices.Contains(outsiders(), of)
}

// outsiders are Kubernetes' own resources that live outside of namespaces.
var outsiders = sync.OnceValue(func() []schema.GroupResource {
	var list []schema.GroupResource
	for kind := range scheme.Scheme.AllKnownTypes() {
		if found, clusterScoped := builtIn(kind); found && clusterScoped {
			list = append(list, schema.GroupResource{Group: kind.Group, Resource: guessed(kind.GroupKind())})
		}
	}
	return list
})

// lacking returns what rules grant that others do not.
func lacking(rules, held []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	_, rest := validation.Covers(held, rules)
	return rest
}

// installerFile has the values of the chart that installs the operator, with a line for each option. Those of charts of
// others are generated, below the rest.
const installerFile = "config/chart/values.yaml"

var (
	offered     = regexp.MustCompile(`(?m)^  \w+: false # .*\n`)
	offeredByUs = regexp.MustCompile(`(?m)^  \w+: false # what the chart .* takes\n`)
)

// offer writes the options of published charts to these values.
func offer(root string, list []kind) error {
	file := filepath.Join(root, installerFile)
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text = offeredByUs.ReplaceAll(text, nil)
	found := offered.FindAllIndex(text, -1)
	if len(found) == 0 {
		return fmt.Errorf("%s has no option, as in \"  keda: false # ScaledObjects\"", installerFile)
	}
	at := found[len(found)-1][1]
	var lines []byte
	for _, k := range list {
		if _, err := os.Stat(filepath.Join(root, rbac.OptionFolder, k.name())); k.Is() && err == nil {
			lines = fmt.Appendf(lines, "  %s: false # what the chart %s takes\n", k.name(), filepath.Base(k.Chart))
		}
	}
	return os.WriteFile(file, slices.Concat(text[:at], lines, text[at:]), 0o644)
}

// unheld says in a comment which grants the operator cannot have.
func (k kind) unheld() string {
	var out strings.Builder
	for _, rule := range k.Grants {
		if wild(rule) {
			out.WriteString("# " + strings.ReplaceAll(strings.TrimSuffix(ruleText(rule), "\n"), "\n", "\n# ") + "\n")
		}
	}
	if out.Len() == 0 {
		return ""
	}
	return "# Not in it, because of their wildcards, are these grants. The operator can write a role with such a rule only with the verb escalate\n" +
		"# on that role, and bind it with bind: make kind with NAMES=NAME of the resources writes these to grants.\n" + out.String()
}

// definedBy reads the definitions of kinds that a chart brings.
func definedBy(root, chart string) (map[schema.GroupKind]definition, error) {
	text, err := os.ReadFile(filepath.Join(root, ownDefinitions, filepath.Base(chart)+".yaml"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found := map[schema.GroupKind]definition{}
	for _, object := range objectsOf(string(text)) {
		var read struct {
			Spec struct {
				Group, Scope string
				Names        struct{ Kind, Plural string }
			}
		}
		raw, err := object.MarshalJSON()
		if err != nil {
			return nil, err
		}
		if err := yaml.Unmarshal(raw, &read); err != nil {
			return nil, err
		}
		found[schema.GroupKind{Group: read.Spec.Group, Kind: read.Spec.Names.Kind}] =
			definition{read.Spec.Names.Plural, read.Spec.Scope == "Cluster"}
	}
	return found, nil
}
