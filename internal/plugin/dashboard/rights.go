package dashboard

import (
	"context"
	"errors"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// View is what a user may see.
type View struct {
	// Namespace that is shown, empty for all; Scope is the same in words.
	Namespace, Scope string
	// Kinds that the user may list and watch there.
	Kinds []schema.GroupVersionKind
	// Left says of each other kind why it is left out.
	Left []string
}

// ViewOf returns the view of the first namespace, empty for all, in which the user may list and watch any of the kinds.
func ViewOf(ctx context.Context, c client.Client, kinds []schema.GroupVersionKind, namespaces ...string) (View, error) {
	var view View
	for _, namespace := range namespaces {
		view = View{Namespace: namespace, Scope: "namespace " + namespace}
		if namespace == "" {
			view.Scope = "all namespaces"
		}
		for _, kind := range kinds {
			verb, err := refused(ctx, c, kind, namespace)
			switch {
			case err != nil:
				return view, fmt.Errorf("cannot ask the cluster what you may list: %w", err)
			case verb == "":
				view.Kinds = append(view.Kinds, kind)
			default:
				left := fmt.Sprintf("%s is not shown: you may not %s them in %s", kind.Kind, verb, view.Scope)
				view.Left = append(view.Left, left)
			}
		}
		if view.Kinds != nil {
			return view, nil
		}
	}
	return view, errors.New(strings.Join(view.Left, "; "))
}

// refused returns what the user may not do, of that which a watch needs; empty if it may be watched.
func refused(ctx context.Context, c client.Client, kind schema.GroupVersionKind, namespace string) (string, error) {
	mapping, err := c.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return "", err
	}
	for _, verb := range []string{"list", "watch"} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: verb, Group: kind.Group, Version: kind.Version,
				Resource: mapping.Resource.Resource, Namespace: namespace}}}
		if err := c.Create(ctx, review); err != nil || !review.Status.Allowed {
			return verb, err
		}
	}
	return "", nil
}
