// Package rbac owns the rights that the operator needs for what it serves and for what it does; config/rbac is
// generated from it. It detects missing rights, and names them: the right, what needs it and where it is granted. It
// calls no cluster: it reads the API server's answers.
package rbac

import (
	"regexp"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
)

// The files of rights: for namespaced and for cluster-scoped resources, and a folder for each option.
const (
	RoleFile        = "config/rbac/role.yaml"
	ClusterRoleFile = "config/rbac/cluster_role.yaml"
	OptionFolder    = "config/rights"
)

var (
	// ToRender are the verbs for what a chart renders: server-side apply patches, and creates missing objects.
	ToRender = []string{"get", "list", "watch", "create", "patch", "delete"}
	// ToRefer are the verbs for what a spec refers to.
	ToRefer = []string{"get", "list", "watch"}
	// listing are the verbs without which a kind cannot be read.
	listing = []string{"list", "watch"}
)

// Need is a right that the operator needs on one resource.
type Need struct {
	schema.GroupResource
	Verbs []string
	// By is what needs it, as in "which templates/cronjob.yaml renders"; empty if that is not known.
	By string
	// Why is its description in the role, for readers.
	Why string
	// ClusterScoped says that the resource is cluster-scoped, or in namespaces of others.
	ClusterScoped bool
	// Option is the name by which an installation requests it; if it is empty, every installation has it.
	Option string
}

// denied matches the messages of the API server's own authorizers. Admission answers with the same code, but other
// messages.
var denied = regexp.MustCompile(`cannot (\S+) resource "([^"]+)" in API group "([^"]*)"`)

// OfChart lists the rights for the kinds that are written literally in the templates of a chart.
func OfChart(c *chart.Chart, clusterScoped func(schema.GroupVersionKind) bool) []Need {
	var list []Need
	templates := appchart.Templates(c)
	foreign, _ := appchart.ForeignKinds(c) // a chart with a mistake there does not load
	for _, kind := range appchart.Kinds(c) {
		list = append(list, toRender(kind, templates[kind], foreign, clusterScoped))
	}
	return list
}

// OfRendered returns the right for objects of a kind that a template of a chart renders.
func OfRendered(c *chart.Chart, kind schema.GroupVersionKind, template string) Need {
	foreign, _ := appchart.ForeignKinds(c) // as above
	return toRender(kind, template, foreign, nil)
}

func toRender(kind schema.GroupVersionKind, template string, foreign map[schema.GroupKind]appchart.Foreign,
	clusterScoped func(schema.GroupVersionKind) bool) Need {
	need := Need{
		GroupResource: resourceOf(kind), Verbs: ToRender, By: "which " + template + " renders", Why: whyRendered,
		ClusterScoped: clusterScoped != nil && clusterScoped(kind),
	}
	if said, known := foreign[kind.GroupKind()]; known {
		need.Resource, need.Option = said.Resource, said.Option
		need.ClusterScoped = need.ClusterScoped || said.ClusterScoped
	}
	return need
}

// OfKind lists the rights for the resources of a kind in watches.yaml. Those whose chart renders cluster-scoped objects
// have a finalizer, and those with a spec.ttl are deleted by the operator.
func OfKind(kind schema.GroupVersionKind, finalizer, expires bool) []Need {
	resource, by := resourceOf(kind), "of the kind "+kind.Kind+" of watches.yaml"
	of := func(part, why string, verbs ...string) Need {
		return Need{GroupResource: schema.GroupResource{Group: resource.Group, Resource: resource.Resource + part},
			Verbs: verbs, By: by, Why: why}
	}
	list := []Need{
		of("", whyServed, ToRefer...),
		of("/status", whyServed, "patch"),
		of("/finalizers", whyServed, "update"),
	}
	if finalizer {
		list = append(list, of("", "They have a finalizer: their chart renders what lives outside of namespaces.", "patch"))
	}
	if expires {
		list = append(list, of("", "Those with spec.ttl are deleted when that time has passed. No other kind has the field.", "delete"))
	}
	return list
}

// resourceOf returns the resource of a kind by English plural rules, as kubebuilder and the API server's own kinds do.
func resourceOf(kind schema.GroupVersionKind) schema.GroupResource {
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	return plural.GroupResource()
}
