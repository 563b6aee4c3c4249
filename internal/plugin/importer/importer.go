package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/plugin/importer/proof"
)

// Importer converts workloads into AppServices, and Jobs into AppJobs.
type Importer struct {
	// Render returns the rendered objects of an AppService or AppJob, without access to a cluster, or the error with
	// which the operator would refuse it.
	Render func(context.Context, *unstructured.Unstructured) ([]*unstructured.Unstructured, error)
	// Check returns the error with which the API server would refuse a resource. It may be nil.
	Check func(*unstructured.Unstructured) error
	// Names are those of resources whose workload has another name, by the workload: NAME or KIND/NAME, in lower case.
	// That of "" is for the only workload.
	Names map[string]string
}

// Objects imports each workload among objects, in their order, or only those with a name. It returns an error if there
// is none; one that cannot be imported does not hold up the others.
func (i *Importer) Objects(ctx context.Context, objects []*unstructured.Unstructured, only string) (*Import, error) {
	w, out := sorted(objects), &Import{}
	var subjects []*subject
	for _, of := range w.workloads {
		if only != "" && of.GetName() != only {
			continue
		}
		s, err := i.workload(ctx, w, of)
		if err == nil {
			err = unique(subjects, s)
		}
		if err != nil {
			w.taken[of] = true
			out.Failed = append(out.Failed, Failure{describe(of), plainly(err)})
			continue
		}
		subjects = append(subjects, s)
	}
	out.Failed = append(out.Failed, w.unreadable...)
	if len(subjects) == 0 {
		return nil, nothing(out, only, len(objects))
	}
	for _, s := range subjects {
		s.prove(subjects)
		out.Results = append(out.Results, Result{s.app, s.rendered, s.given, s.notes})
	}
	if only == "" {
		out.Left = w.leftOver()
	}
	return out, nil
}

// nothing returns the error for objects that no resource can be made from.
func nothing(i *Import, only string, objects int) error {
	var errs []error
	for _, failure := range i.Failed {
		errs = append(errs, fmt.Errorf("cannot import %s: %s", text.Line(failure.Object), text.Line(failure.Err.Error())))
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	name := ""
	if only != "" {
		name = fmt.Sprintf(" %q", only)
	}
	return fmt.Errorf("there is no Deployment, StatefulSet, Job or other workload%s among %d objects: "+
		"an AppService or AppJob is made of one", name, objects)
}

// unique returns an error if a resource of a kind and name is made already.
func unique(subjects []*subject, s *subject) error {
	for _, other := range subjects {
		if other.app.GetKind() == s.app.GetKind() && other.name == s.name && other.namespace() == s.namespace() {
			return fmt.Errorf("%s is made already, of %s, and both would be one: choose another name by --name %s/%s=NAME",
				describe(s.app), describe(other.workload), strings.ToLower(s.workload.GetKind()), s.workload.GetName())
		}
	}
	return nil
}

// workload translates one workload and the objects that belong to it.
func (i *Importer) workload(ctx context.Context, w *world, of *unstructured.Unstructured) (*subject, error) {
	s, err := w.sourceOf(of, i.nameOf(w, of))
	if err != nil {
		return nil, err
	}
	if err := s.named(); err != nil {
		return nil, err
	}
	if err := i.place(ctx, s); err != nil {
		return nil, err
	}
	if err := i.patch(ctx, s); err != nil {
		return nil, err
	}
	i.shorten(ctx, s)
	if s.rendered, err = i.made(ctx, s.app); err != nil {
		return nil, err
	}
	return s, s.keepsClaims()
}

// nameOf returns the name of the resource that a workload becomes.
func (i *Importer) nameOf(w *world, of *unstructured.Unstructured) string {
	lone := ""
	if len(w.workloads) == 1 {
		lone = i.Names[""]
	}
	return cmp.Or(i.Names[strings.ToLower(of.GetKind())+"/"+of.GetName()], i.Names[of.GetName()], lone, of.GetName())
}

// prove compares the original with the rendered objects, and adds a note for each difference.
func (s *subject) prove(all []*subject) {
	for _, d := range proof.Differences(s.before(), s.after(all)) {
		s.explain(d)
	}
	s.notesBeside()
	s.gather()
	slices.SortStableFunc(s.notes, func(a, b Note) int { return cmp.Compare(s.rank(a.Object), s.rank(b.Object)) })
}

// before is the application as it was, among the other workloads of its namespace.
func (s *subject) before() proof.Side {
	others := map[string]map[string]string{}
	for _, object := range s.world.objects {
		template := podTemplate(object)
		if template != nil && object != s.workload && !controlled(object) && !isHook(object) {
			others[describe(object)] = template.Labels
		}
	}
	return proof.Side{Objects: s.given, Others: others}
}

// after is the application as it is rendered, among the other workloads as they are then.
func (s *subject) after(all []*subject) proof.Side {
	side := s.before()
	side.Objects = s.rendered
	for _, other := range all {
		if other == s || other.namespace() != s.namespace() {
			continue
		}
		for _, object := range other.rendered {
			if template := podTemplate(object); template != nil && object.GetKind() != "Job" {
				side.Others[describe(other.workload)] = template.Labels
			}
		}
	}
	return side
}

// refused returns the error with which a resource, or what it becomes, is refused; nil if it is accepted.
func (i *Importer) refused(ctx context.Context, app *unstructured.Unstructured) error {
	if i.Check != nil {
		if err := i.Check(app); err != nil {
			return plainly(err)
		}
	}
	rendered, err := i.Render(ctx, app.DeepCopy())
	if err != nil {
		return err
	}
	return invalid(rendered)
}

// place makes the resource of the pieces that are accepted. An object that is refused as a whole stays beside it, and
// all that refers to it is translated once more.
func (i *Importer) place(ctx context.Context, s *subject) error {
	for {
		pieces := s.pieces()
		if err := i.placeAll(ctx, s, pieces); err != nil {
			return err
		}
		if !s.release() {
			return nil
		}
	}
}

func (i *Importer) placeAll(ctx context.Context, s *subject, pieces []piece) error {
	build := func(pieces []piece) (*unstructured.Unstructured, error) {
		app, err := s.resource(pieces)
		if err == nil {
			err = i.refused(ctx, app)
		}
		return app, err
	}
	first := 1 // the image, which every resource needs
	if _, err := build(pieces[:first]); err != nil {
		return fmt.Errorf("%s is %q: %w", pieces[0].from.field, s.container().Image, err)
	}
	s.refused = nil
	taken := accepted(pieces[:first], pieces[first:], func(pieces []piece) error {
		_, err := build(pieces)
		return err
	}, func(p piece, err error) { s.refused = append(s.refused, refusal{p.from, err}) })
	app, err := build(taken)
	s.app = app
	return err
}

// resource returns what the pieces make.
func (s *subject) resource(pieces []piece) (*unstructured.Unstructured, error) {
	spec, more := &v1.AppServiceSpec{}, map[string]any{}
	for _, p := range pieces {
		if p.set != nil {
			p.set(spec)
		}
		for key, value := range p.job {
			more[key] = value
		}
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(spec)
	if err != nil {
		return nil, err
	}
	content = s.specOfKind(content)
	for key, value := range more {
		content[key] = value
	}
	return resource(types.NamespacedName{Namespace: s.namespace(), Name: s.name}, s.kind(), content), nil
}
