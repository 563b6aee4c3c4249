package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

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

// Import is what was made of the given objects.
type Import struct {
	Results []Result
	// Left are notes on objects that belong to no workload.
	Left []Note
	// Failed are the workloads, and objects around them, that cannot be imported.
	Failed []Failure
}

// Result is one AppService or AppJob, with notes on differences from the original.
type Result struct {
	Resource *unstructured.Unstructured
	// Rendered are its objects, and Given those that it was made of.
	Rendered, Given []*unstructured.Unstructured
	// Notes are ordered by their objects.
	Notes []Note
}

// Failure is an object that cannot be imported.
type Failure struct {
	// Object is its kind and name.
	Object string
	Err    error
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

// Unexplained counts the differences without an explanation, which are bugs.
func (i *Import) Unexplained() int {
	count := 0
	for _, result := range i.Results {
		for _, note := range result.Notes {
			if note.Unexplained {
				count++
			}
		}
	}
	return count
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

// resource returns an AppService or AppJob with a spec.
func resource(of types.NamespacedName, kind string, content map[string]any) *unstructured.Unstructured {
	metadata := map[string]any{"name": of.Name}
	if of.Namespace != "" {
		metadata["namespace"] = of.Namespace
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1.GroupVersion.String(), "kind": kind, "metadata": metadata, "spec": content,
	}}
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

// plainly returns the errors of an API server without the values and the remarks on its own work.
func plainly(err error) error {
	var list utilerrors.Aggregate
	if !errors.As(err, &list) {
		return err
	}
	var texts []string
	for _, one := range list.Errors() {
		var found *field.Error
		switch {
		case !errors.As(one, &found):
			texts = append(texts, one.Error())
		case strings.HasPrefix(found.Detail, "some validation rules were not checked"):
		case found.Field == "" || found.Field == "<nil>":
			texts = append(texts, found.Detail)
		default:
			texts = append(texts, strings.TrimSuffix(found.Field+": "+cmp.Or(found.Detail, strings.ToLower(found.Type.String())), ": "))
		}
	}
	slices.Sort(texts)
	return errors.New(strings.Join(slices.Compact(texts), ", "))
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
	// job are fields that only an AppJob has; set is nil then.
	job map[string]any
}

// source is a field of an object.
type source struct{ object, field string }

// refusal is the error that made import leave out a piece.
type refusal struct {
	from source
	err  error
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

// accepted returns what is accepted of more items, in their order, after those that are taken already. It tries all of
// them, then halves, so that a few that are refused cost few attempts.
func accepted[T any](taken, more []T, try func([]T) error, refused func(T, error)) []T {
	if len(more) == 0 {
		return taken
	}
	with := slices.Concat(taken, more)
	err := try(with)
	if err == nil {
		return with
	}
	if len(more) == 1 {
		refused(more[0], err)
		return taken
	}
	half := len(more) / 2
	return accepted(accepted(taken, more[:half], try, refused), more[half:], try, refused)
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

// matches reports whether a selector selects labels; one that is nil or empty selects nothing here.
func matches(selector *metav1.LabelSelector, set map[string]string) bool {
	if selector == nil || len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
		return false
	}
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && parsed.Matches(labels.Set(set))
}
