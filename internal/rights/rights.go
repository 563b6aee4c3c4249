// Package rights knows what the operator has to be allowed for what it serves, finds out what it is not allowed, and names it: the right,
// who needs it and the file where it belongs. It asks no cluster: it reads roles, and the API server's answers.
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

// The files of rights: what lives in namespaces, and what lives outside of them.
const (
	RoleFile        = "config/rbac/role.yaml"
	ClusterRoleFile = "config/rbac/cluster_role.yaml"
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
	// By says who needs it, as in "which templates/cronjob.yaml renders"; empty if nobody knows.
	By string
	// ClusterScoped says that it lives outside of namespaces.
	ClusterScoped bool
}

// File is where the right belongs.
func (n Need) File() string {
	if n.ClusterScoped {
		return ClusterRoleFile
	}
	return RoleFile
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
	return fmt.Sprintf("the operator may not %s %s of API group %q%s: add %s for it to %s",
		listed(e.Verbs), e.Resource, e.Group, by, strings.Join(e.Need.Verbs, ", "), e.File())
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

// Explain returns an error with all that a chart tells of a right that is missing; an error of another cause as it is.
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
	for _, kind := range appchart.Kinds(c) {
		list = append(list, Need{
			GroupResource: resourceOf(kind), Verbs: ToRender, By: "which " + templates[kind] + " renders",
			ClusterScoped: clusterScoped != nil && clusterScoped(kind),
		})
	}
	return list
}

// OfKind lists what has to be allowed for the resources of a kind that watches.yaml names. Those whose chart renders what lives outside of
// namespaces have a finalizer.
func OfKind(kind schema.GroupVersionKind, finalizer bool) []Need {
	resource, verbs, by := resourceOf(kind), []string{"get", "list", "watch"}, "of the kind "+kind.Kind+" of watches.yaml"
	if finalizer {
		verbs = append(verbs, "patch")
	}
	of := func(name string) schema.GroupResource {
		return schema.GroupResource{Group: resource.Group, Resource: name}
	}
	return []Need{
		{GroupResource: resource, Verbs: verbs, By: by},
		{GroupResource: of(resource.Resource + "/status"), Verbs: []string{"patch"}, By: by},
		// An owner reference with blockOwnerDeletion needs it where the admission plugin OwnerReferencesPermissionEnforcement runs.
		{GroupResource: of(resource.Resource + "/finalizers"), Verbs: []string{"update"}, By: by},
	}
}

// resourceOf returns the resource of a kind by the rules of English, as kubebuilder and the API server's own kinds have it.
func resourceOf(kind schema.GroupVersionKind) schema.GroupResource {
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	return plural.GroupResource()
}
