package rbac

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// Remedy returns how the operator gets the right.
func (n Need) Remedy() string {
	verbs := strings.Join(n.Verbs, ", ")
	switch {
	case n.Option != "":
		return fmt.Sprintf("install the operator with the right %s (%s/%s)", n.Option, OptionFolder, n.Option)
	case n.ClusterScoped:
		return fmt.Sprintf("add %s for it to %s", verbs, ClusterRoleFile)
	}
	return fmt.Sprintf("add %s for it to %s", verbs, RoleFile)
}

// MissingError reports a right that the operator lacks.
type MissingError struct {
	Need
	// Verbs that are missing.
	Verbs []string
	// Err is the API server's answer; nil if it was not asked.
	Err error
}

func (e *MissingError) Error() string {
	by := ""
	if e.By != "" {
		by = ", " + e.By
	}
	return fmt.Sprintf("the operator may not %s %s of API group %q%s: %s", listed(e.Verbs), e.Resource, e.Group, by,
		e.Remedy())
}

// Unwrap returns the API server's answer.
func (e *MissingError) Unwrap() error { return e.Err }

// Reason returns the reason of Ready.
func (e *MissingError) Reason() string { return v1.ReasonMissingRights }

// listed formats a list for people.
func listed(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// Explain adds to an error about a missing right what a chart says of it; any other error is returned unchanged. The
// option is the name by which an installation requests all that the chart needs; empty if there is none.
func Explain(err error, c *chart.Chart, option string, clusterScoped func(schema.GroupVersionKind) bool) error {
	var known *MissingError
	if refused := grant(err); refused != nil {
		refused.Option = option
		return refused
	}
	verbs, resource, found := refused(err)
	if !found || errors.As(err, &known) {
		return err
	}
	for _, need := range OfChart(c, clusterScoped) {
		if need.GroupResource == resource {
			need.Option = cmp.Or(need.Option, option)
			return &MissingError{Need: need, Verbs: verbs, Err: err}
		}
	}
	return &MissingError{Need: Need{GroupResource: resource, Verbs: ToRender, Option: option}, Verbs: verbs, Err: err}
}

// Reference returns the error for a referenced kind that may not be read.
func Reference(err *kube.ForbiddenError, by string, clusterScoped bool) error {
	return &MissingError{
		Need: Need{GroupResource: err.GroupResource, Verbs: ToRefer, By: by, ClusterScoped: clusterScoped}, Verbs: listing,
		Err: err,
	}
}

// Unlabeled returns the error for a policy that selects namespaces by labels, which may not be read. Assuming that no
// entry matches would allow what the policy forbids.
func Unlabeled() error {
	return &MissingError{
		Need: Need{
			GroupResource: schema.GroupResource{Resource: "namespaces"}, Verbs: ToRefer, ClusterScoped: true,
			By: "by whose labels the platform's policy selects (names need no right)",
		},
		Verbs: listing,
	}
}

// refused returns what the operator may not do according to the API server.
func refused(err error) (verbs []string, resource schema.GroupResource, found bool) {
	if unseen, found := errors.AsType[*kube.ForbiddenError](err); found {
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
