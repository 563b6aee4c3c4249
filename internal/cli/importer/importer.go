package importer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/example/appservice-operator/api/v1"
)

// Importer converts workloads into AppServices.
type Importer struct {
	// Render returns the rendered objects of an AppService, without access to a cluster, or the error with which the
	// operator would refuse it.
	Render func(context.Context, *unstructured.Unstructured) ([]*unstructured.Unstructured, error)
	// Check returns the error with which the API server would refuse an AppService. It may be nil.
	Check func(*unstructured.Unstructured) error
}

// Result is one AppService, with notes on differences from the original.
type Result struct {
	AppService *unstructured.Unstructured
	// Notes are ordered by their objects.
	Notes []Note
}

// Note explains why a field, or a whole object, differs with the AppService, and has a remedy.
type Note struct {
	// Object is its kind and name, as in "Deployment web".
	Object string
	// Field is its path; empty for the object as a whole.
	Field string
	// Reason is the difference and its cause.
	Reason string
	// Remedy is what to do, or how to keep the original.
	Remedy string
	// Unexplained is set for a difference that no rule explains, which is a bug of this package.
	Unexplained bool
}

// Place returns the object and the field.
func (n Note) Place() string { return strings.TrimSuffix(n.Object+" "+n.Field, " ") }

// String returns the note in one line.
func (n Note) String() string {
	text := n.Place() + ": " + n.Reason
	if n.Remedy != "" {
		text += "; " + n.Remedy
	}
	return text
}

// Objects returns an AppService for each Deployment and StatefulSet among objects, in their order, or only for those
// with a name. Objects that belong to none of them have notes without an AppService.
func (i *Importer) Objects(ctx context.Context, objects []*unstructured.Unstructured,
	only string) ([]Result, []Note, error) {
	w := sorted(objects)
	var results []Result
	for _, of := range w.workloads {
		if only != "" && of.GetName() != only {
			continue
		}
		result, err := i.workload(ctx, w, of)
		if err != nil {
			return nil, nil, err
		}
		results = append(results, *result)
	}
	if len(results) == 0 {
		name := ""
		if only != "" {
			name = fmt.Sprintf(" %q", only)
		}
		return nil, nil, fmt.Errorf("there is no Deployment or StatefulSet%s among %d objects: an AppService is made of one",
			name, len(objects))
	}
	if only != "" {
		return results, nil, nil
	}
	return results, w.leftOver(), nil
}

// workload imports one workload and the objects that belong to it.
func (i *Importer) workload(ctx context.Context, w *world, of *unstructured.Unstructured) (*Result, error) {
	s, err := w.sourceOf(of)
	if err != nil {
		return nil, err
	}
	app, refused, err := i.place(ctx, types.NamespacedName{Namespace: of.GetNamespace(), Name: s.name}, s.pieces())
	if err != nil {
		return nil, fmt.Errorf("cannot make an AppService of %s: %w", describe(of), err)
	}
	s.refused = refused
	if err := i.patch(ctx, s, app); err != nil {
		return nil, err
	}
	i.shorten(ctx, s, app)
	rendered, err := i.made(ctx, app)
	if err != nil {
		return nil, err
	}
	s.compare(rendered)
	slices.SortStableFunc(s.notes, func(a, b Note) int { return cmp.Compare(s.rank(a.Object), s.rank(b.Object)) })
	return &Result{AppService: app, Notes: s.notes}, nil
}

// appService returns an AppService with a spec.
func appService(of types.NamespacedName, spec *v1.AppServiceSpec) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(spec)
	if err != nil {
		return nil, err
	}
	metadata := map[string]any{"name": of.Name}
	if of.Namespace != "" {
		metadata["namespace"] = of.Namespace
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1.GroupVersion.String(), "kind": v1.Kind, "metadata": metadata, "spec": content,
	}}, nil
}

// refused returns the error with which an AppService is refused; nil if it is accepted.
func (i *Importer) refused(ctx context.Context, app *unstructured.Unstructured) error {
	if i.Check != nil {
		if err := i.Check(app); err != nil {
			return err
		}
	}
	_, err := i.Render(ctx, app.DeepCopy())
	return err
}

// describe returns kind and name of an object.
func describe(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + object.GetName()
}

// piece is a part of a spec.
type piece struct {
	// from is its source: a field of the workload or of another object.
	from source
	set  func(*v1.AppServiceSpec)
}

// source is a field of an object.
type source struct{ object, field string }

// refusal is the error because of which a piece was left out.
type refusal struct {
	from source
	err  error
}

// place returns a spec of the pieces that are accepted. They are tried one by one only if they are refused together.
func (i *Importer) place(ctx context.Context, of types.NamespacedName,
	pieces []piece) (*unstructured.Unstructured, []refusal, error) {
	build := func(pieces []piece) (*unstructured.Unstructured, error) {
		spec := &v1.AppServiceSpec{}
		for _, p := range pieces {
			p.set(spec)
		}
		app, err := appService(of, spec)
		if err == nil {
			err = i.refused(ctx, app)
		}
		return app, err
	}
	app, err := build(pieces)
	if err == nil || len(pieces) == 0 {
		return app, nil, err
	}
	var taken []piece
	var refused []refusal
	for n, p := range pieces {
		with, err := build(append(slices.Clone(taken), p))
		switch {
		case err == nil:
			app, taken = with, append(taken, p)
		case n == 0: // the image, without which there is no AppService
			return nil, nil, err
		default:
			refused = append(refused, refusal{p.from, err})
		}
	}
	return app, refused, nil
}

// matches reports whether a selector selects labels; one that is nil or empty selects nothing here.
func matches(selector *metav1.LabelSelector, set map[string]string) bool {
	if selector == nil || len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
		return false
	}
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && parsed.Matches(labels.Set(set))
}
