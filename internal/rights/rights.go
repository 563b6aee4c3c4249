// Package rights knows what the operator has to be allowed for what it serves and for what it does; config/rbac is made of that. It finds
// out what it is not allowed, and names it: the right, who needs it and where it is granted. It asks no cluster: it reads the API server's
// answers.
package rights

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/example/appservice-operator/api/v1"
	appchart "github.com/example/appservice-operator/internal/chart"
	"github.com/example/appservice-operator/internal/kube"
)

// The files of rights: what lives in namespaces, what lives outside of them, and a folder for each option.
const (
	RoleFile        = "config/rbac/role.yaml"
	ClusterRoleFile = "config/rbac/cluster_role.yaml"
	OptionFolder    = "config/rights"
)

var (
	// ToRender are the verbs for what a chart renders: server-side apply patches, and creates what is not there.
	ToRender = []string{"get", "list", "watch", "create", "patch", "delete"}
	// ToRefer are the verbs for what a spec refers to.
	ToRefer = []string{"get", "list", "watch"}
	// listing are the verbs without which a kind is not seen.
	listing = []string{"list", "watch"}
)

// Need is what the operator has to be allowed on one resource.
type Need struct {
	schema.GroupResource
	Verbs []string
	// By says who needs it, as in "which templates/cronjob.yaml renders"; empty if that is not known.
	By string
	// Why is what the role says of it, for those who read it.
	Why string
	// ClusterScoped says that it lives outside of namespaces, or in namespaces of others.
	ClusterScoped bool
	// Option is the name by which an installation asks for it; if it is empty, every installation has it.
	Option string
}

// Remedy says how the operator gets the right.
func (n Need) Remedy() string {
	verbs := strings.Join(n.Verbs, ", ")
	switch {
	case n.Option != "":
		return fmt.Sprintf("install it with the right %s (%s/%s)", n.Option, OptionFolder, n.Option)
	case n.ClusterScoped:
		return fmt.Sprintf("add %s for it to %s", verbs, ClusterRoleFile)
	}
	return fmt.Sprintf("add %s for it to %s", verbs, RoleFile)
}

// MissingError says what the operator is not allowed.
type MissingError struct {
	Need
	// Verbs that are missing.
	Verbs []string
	// Err is what the API server says; nil if it was not asked.
	Err error
}

func (e *MissingError) Error() string {
	by := ""
	if e.By != "" {
		by = ", " + e.By
	}
	return fmt.Sprintf("the operator may not %s %s of API group %q%s: %s", listed(e.Verbs), e.Resource, e.Group, by, e.Remedy())
}

// Unwrap returns what the API server says.
func (e *MissingError) Unwrap() error { return e.Err }

// Reason is that of Ready.
func (e *MissingError) Reason() string { return v1.ReasonMissingRights }

// listed is a list as people write it.
func listed(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// Explain returns an error with all that a chart says of a right that is missing; an error of another cause as it is.
func Explain(err error, c *chart.Chart, clusterScoped func(schema.GroupVersionKind) bool) error {
	var known *MissingError
	verbs, resource, found := refused(err)
	if !found || errors.As(err, &known) {
		return err
	}
	for _, need := range OfChart(c, clusterScoped) {
		if need.GroupResource == resource {
			return &MissingError{Need: need, Verbs: verbs, Err: err}
		}
	}
	return &MissingError{Need: Need{GroupResource: resource, Verbs: ToRender}, Verbs: verbs, Err: err}
}

// Reference returns the error for a kind that somebody refers to and that may not be seen.
func Reference(err *kube.ForbiddenError, by string, clusterScoped bool) error {
	return &MissingError{
		Need: Need{GroupResource: err.GroupResource, Verbs: ToRefer, By: by, ClusterScoped: clusterScoped}, Verbs: listing, Err: err,
	}
}

// Unlabelled returns the error for a policy that selects namespaces by labels, which may not be read. To take no entry to match would allow
// what the policy forbids.
func Unlabelled() error {
	return &MissingError{
		Need: Need{
			GroupResource: schema.GroupResource{Resource: "namespaces"}, Verbs: ToRefer, ClusterScoped: true,
			By: "by whose labels the platform's policy selects (names need no right)",
		},
		Verbs: listing,
	}
}

// denied are the words of the API server's own authorizers. Admission answers with the same code, in other words.
var denied = regexp.MustCompile(`cannot (\S+) resource "([^"]+)" in API group "([^"]*)"`)

// refused returns what the API server says the operator may not do.
func refused(err error) (verbs []string, resource schema.GroupResource, found bool) {
	var unseen *kube.ForbiddenError
	if errors.As(err, &unseen) {
		return listing, unseen.GroupResource, true
	}
	var answer apierrors.APIStatus
	if !apierrors.IsForbidden(err) || !errors.As(err, &answer) {
		return nil, resource, false
	}
	words := denied.FindStringSubmatch(answer.Status().Message)
	if words == nil {
		return nil, resource, false
	}
	return []string{words[1]}, schema.GroupResource{Group: words[3], Resource: words[2]}, true
}

// OfChart lists what has to be allowed for the kinds that the templates of a chart name in so many words.
func OfChart(c *chart.Chart, clusterScoped func(schema.GroupVersionKind) bool) []Need {
	var list []Need
	templates := appchart.Templates(c)
	foreign, _ := appchart.ForeignKinds(c) // a chart with a mistake there does not load
	for _, kind := range appchart.Kinds(c) {
		list = append(list, toRender(kind, templates[kind], foreign, clusterScoped))
	}
	return list
}

// OfRendered returns what has to be allowed for objects of a kind that a template of a chart renders.
func OfRendered(c *chart.Chart, kind schema.GroupVersionKind, template string) Need {
	foreign, _ := appchart.ForeignKinds(c) // as above
	return toRender(kind, template, foreign, nil)
}

func toRender(kind schema.GroupVersionKind, template string, foreign map[schema.GroupKind]appchart.Foreign, clusterScoped func(schema.GroupVersionKind) bool) Need {
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

// OfKind lists what has to be allowed for the resources of a kind that watches.yaml names. Those whose chart renders what lives outside of
// namespaces have a finalizer, and those with a spec.ttl delete themselves.
func OfKind(kind schema.GroupVersionKind, finalizer, expires bool) []Need {
	resource, by := resourceOf(kind), "of the kind "+kind.Kind+" of watches.yaml"
	of := func(part, why string, verbs ...string) Need {
		return Need{GroupResource: schema.GroupResource{Group: resource.Group, Resource: resource.Resource + part}, Verbs: verbs, By: by, Why: why}
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
		list = append(list, of("", "Those with spec.ttl are deleted when they have lived for it. No other kind has the field.", "delete"))
	}
	return list
}

// resourceOf returns the resource of a kind by the rules of English, as kubebuilder and the API server's own kinds have it.
func resourceOf(kind schema.GroupVersionKind) schema.GroupResource {
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	return plural.GroupResource()
}
