package release

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/example/appservice-operator/internal/kube"
)

// SpareAdmitted removes from a plan the objects that differ only in what admission changed in the operator's own write,
// such as the image of a mirror: it would change the next write in the same way. Managed fields, which the caches do
// not hold, distinguish that from changes by others: whoever changes a field owns it from then on. It reads each object
// once that is rendered as before and differs. The error is a StaleError if the caches are behind, or the API server's.
func (a *Actor) SpareAdmitted(ctx context.Context, plan *Plan) error {
	var spared []kube.Key
	for _, change := range plan.Apply {
		if stampOf(change.Live) != stampOf(change.Desired) {
			continue
		}
		live := identity(change.Live)
		err := a.live.Get(ctx, client.ObjectKeyFromObject(live), live)
		switch {
		case apierrors.IsNotFound(err), err == nil && !sameContent(change.Live, live):
			return &StaleError{errors.New(kube.KeyOf(change.Desired).String() + " has changed")}
		case err != nil:
			return err
		case admitted(change.Desired, live):
			spared = append(spared, kube.KeyOf(change.Desired))
		}
	}
	plan.Apply = slices.DeleteFunc(plan.Apply,
		func(c Change) bool { return slices.Contains(spared, kube.KeyOf(c.Desired)) })
	return nil
}

// sameContent reports whether an object has the content that the caches show, ignoring its status.
func sameContent(cached client.Object, live *unstructured.Unstructured) bool {
	return cached.GetUID() == live.GetUID() && cached.GetResourceVersion() == live.GetResourceVersion() ||
		kube.SameGeneration(cached, live)
}

// admitted reports whether an object is as rendered except for fields that the operator wrote last.
func admitted(desired, live *unstructured.Unstructured) bool {
	accepted := asFarAsMutable(desired, live).DeepCopy()
	kube.OwnFields(live).Leaves().Iterate(func(path fieldpath.Path) {
		accept(accepted.Object, live.Object, path)
	})
	return compareObject(accepted, live) == nil
}

// accept sets the value of want at a path to that of live, if want has a value there, and returns want.
func accept(want, live any, path fieldpath.Path) any {
	if len(path) == 0 {
		return live
	}
	switch element := path[0]; {
	case element.FieldName != nil:
		fields, _ := want.(map[string]any)
		have, _ := live.(map[string]any)
		value, rendered := fields[*element.FieldName]
		if known, found := have[*element.FieldName]; rendered && found {
			fields[*element.FieldName] = accept(value, known, path[1:])
		}
	case element.Key != nil:
		items, _ := want.([]any)
		have, _ := live.([]any)
		is := func(item any) bool { return keyed(item, element) }
		if at, there := slices.IndexFunc(items, is), slices.IndexFunc(have, is); at >= 0 && there >= 0 {
			items[at] = accept(items[at], have[there], path[1:])
		}
	}
	return want
}

// keyed reports whether an element of a list is the one that a path element names.
func keyed(item any, element fieldpath.PathElement) bool {
	fields, _ := item.(map[string]any)
	for _, key := range *element.Key {
		value := fields[key.Name]
		if value == nil && key.Name == "protocol" {
			value = "TCP" // the API server's default
		}
		if !equalScalars(value, key.Value.Unstructured()) {
			return false
		}
	}
	return fields != nil
}
