package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/release"
	"github.com/example/appservice-operator/internal/render"
)

// few is how many resources are named where many have the same difference.
const few = 3

// report is what a change of the charts does to the resources of one kind.
type report struct {
	kind                                       string
	total, change, restart, fail, failed, mend int
	groups                                     []*group
}

// group is something that is to be said of many resources.
type group struct {
	text  string
	names []string
}

// add renders one resource both ways and notes what differs. A renderer is nil where the kind is not served.
func (r *report) add(ctx context.Context, s subject, before, after *render.Renderer, capabilities *chartutil.Capabilities) error {
	r.total++
	old, oldErr := s.render(ctx, before, capabilities)
	rendered, err := s.render(ctx, after, capabilities)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	switch {
	case err != nil && oldErr != nil:
		r.failed++
		r.note("cannot be rendered, as before: "+err.Error(), s.name)
	case err != nil:
		r.fail++
		r.note("cannot be rendered any more: "+err.Error(), s.name)
	case oldErr != nil:
		r.mend++
		r.note("can be rendered, which failed before: "+oldErr.Error(), s.name)
	default:
		r.compare(s, old, rendered)
	}
	return nil
}

func (s subject) render(ctx context.Context, renderer *render.Renderer, capabilities *chartutil.Capabilities) (*render.Result, error) {
	if renderer == nil {
		return &render.Result{}, nil
	}
	draft, err := renderer.Draft(ctx, s.resource, capabilities)
	if err != nil {
		return nil, err
	}
	return renderer.Finish(ctx, draft, s.facts)
}

func (r *report) compare(s subject, old, rendered *render.Result) {
	var said []string
	there := byKey(old.Objects)
	for _, object := range rendered.Objects {
		before := there[kube.KeyOf(object)]
		if before == nil {
			said = append(said, title(object, s)+" is new")
			continue
		}
		for _, difference := range release.Differences(before, object) {
			said = append(said, title(object, s)+": "+anonymous(difference, s.resource.GetName()).String())
		}
	}
	wanted := byKey(rendered.Objects)
	for _, object := range old.Objects {
		if wanted[kube.KeyOf(object)] == nil {
			said = append(said, title(object, s)+" goes")
		}
	}
	if len(said) > 0 {
		r.change++
	}
	if release.RestartsPods(old.Objects, rendered.Objects) {
		r.restart++
	}
	for _, field := range rendered.Unknown {
		if !slices.Contains(old.Unknown, field) {
			said = append(said, "the field "+field+" does nothing any more: the new chart does not declare it")
		}
	}
	for _, text := range said {
		r.note(text, s.name)
	}
}

func byKey(objects []*unstructured.Unstructured) map[kube.Key]*unstructured.Unstructured {
	found := make(map[kube.Key]*unstructured.Unstructured, len(objects))
	for _, object := range objects {
		found[kube.KeyOf(object)] = object
	}
	return found
}

// own stands for the name of the resource, so that what is the same but for it is one group.
const own = "NAME"

// title names an object: its kind, and its name unless that is the resource's.
func title(object *unstructured.Unstructured, s subject) string {
	if object.GetName() == s.resource.GetName() {
		return object.GetKind()
	}
	return object.GetKind() + " " + withoutName(object.GetName(), s.resource.GetName())
}

func anonymous(d release.Difference, name string) release.Difference {
	d.Field = strings.NewReplacer("["+name+"]", "["+own+"]", "["+name+"-", "["+own+"-").Replace(d.Field)
	d.Old, d.New = withoutName(d.Old, name), withoutName(d.New, name)
	return d
}

func withoutName(text, name string) string {
	if rest, found := strings.CutPrefix(text, name); found && (rest == "" || rest[0] == '-' || rest[0] == '.') {
		return own + rest
	}
	return text
}

func (r *report) note(text, name string) {
	at := slices.IndexFunc(r.groups, func(g *group) bool { return g.text == text })
	if at < 0 {
		at = len(r.groups)
		r.groups = append(r.groups, &group{text: text})
	}
	r.groups[at].names = append(r.groups[at].names, name)
}

// String returns the summary and, below it, what differs in most resources first.
func (r *report) String() string {
	var out strings.Builder
	kind := r.kind + "s"
	if r.total == 1 {
		kind = r.kind
	}
	fmt.Fprintf(&out, "%d %s: %d change, %d restart pods", r.total, kind, r.change, r.restart)
	for _, more := range []struct {
		count int
		words string
	}{{r.fail, "cannot be rendered any more"}, {r.failed, "cannot be rendered, as before"}, {r.mend, "can be rendered again"}} {
		if more.count > 0 {
			fmt.Fprintf(&out, ", %d %s", more.count, more.words)
		}
	}
	out.WriteByte('\n')
	sorted := slices.SortedStableFunc(slices.Values(r.groups), func(a, b *group) int { return cmp.Compare(len(b.names), len(a.names)) })
	for _, g := range sorted {
		fmt.Fprintf(&out, "%5d  %s\n       %s\n", len(g.names), g.text, some(g.names))
	}
	return out.String()
}

// some names the first resources and counts the others.
func some(names []string) string {
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}
