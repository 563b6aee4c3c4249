package translate

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/plugin/importer/read"
)

// place makes the resource of the pieces that are accepted. An object that is refused as a whole stays beside it, and
// all that refers to it is translated once more.
func (r Renderer) place(ctx context.Context, a *Application) error {
	for {
		pieces := a.pieces()
		if err := r.placeAll(ctx, a, pieces); err != nil {
			return err
		}
		if !a.release() {
			return nil
		}
	}
}

func (r Renderer) placeAll(ctx context.Context, a *Application, pieces []piece) error {
	build := func(pieces []piece) (*unstructured.Unstructured, error) {
		app, err := a.resource(pieces)
		if err == nil {
			err = r.refused(ctx, app)
		}
		return app, err
	}
	first := 1 // the image, which every resource needs
	if _, err := build(pieces[:first]); err != nil {
		return fmt.Errorf("%s is %q: %w", pieces[0].from.Field, a.container().Image, err)
	}
	a.Refused = nil
	taken := accepted(pieces[:first], pieces[first:], func(pieces []piece) error {
		_, err := build(pieces)
		return err
	}, func(p piece, err error) { a.Refused = append(a.Refused, Refusal{p.from, err}) })
	app, err := build(taken)
	a.App = app
	return err
}

// resource returns what the pieces make.
func (a *Application) resource(pieces []piece) (*unstructured.Unstructured, error) {
	spec, more := &v1.AppServiceSpec{}, map[string]any{}
	for _, p := range pieces {
		if p.set != nil {
			p.set(spec)
		}
		maps.Copy(more, p.job)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(spec)
	if err != nil {
		return nil, err
	}
	if a.Cron != nil {
		forJob(content)
		maps.Copy(content, more)
	}
	app := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1.GroupVersion.String(), "kind": a.Kind(), "spec": content,
	}}
	app.SetNamespace(a.Namespace())
	app.SetName(a.Name)
	return app, nil
}

// release gives back objects that were refused as a whole, and reports whether there were any: they stay beside the
// resource, and the workload refers to them as before.
func (a *Application) release() bool {
	before := len(a.kept)
	giveBack(a, &a.config)
	giveBack(a, &a.files)
	giveBack(a, &a.claim)
	giveBack(a, &a.account)
	return len(a.kept) > before
}

// giveBack empties a role whose object was refused.
func giveBack[T any](a *Application, role **read.Pair[T]) {
	for _, refusal := range a.Refused {
		if *role != nil && refusal.From.Object == read.Describe((*role).Object) {
			object := (*role).Object
			a.kept[read.Describe(object)] = true
			a.Given = slices.DeleteFunc(a.Given, func(o *unstructured.Unstructured) bool { return o == object })
			a.aside(object, "it is not taken: "+text.Line(refusal.Err.Error()), "keep it beside the "+a.Kind()+", which refers to it")
			*role = nil
		}
	}
}
