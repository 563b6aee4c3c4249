package preview

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/release/plan"
	"github.com/example/appservice-operator/internal/engine/text"
)

// few is the number of resources that are named if many have the same difference.
const few = 3

// Fleet is the effect of a change on all resources of one kind.
type Fleet struct {
	Kind string
	// Total is the number of resources. Change of them change, Restart restart their pods, and Fail can no longer be
	// rendered.
	Total, Change, Restart, Fail int
	// Refused would change immutable fields.
	Refused int

	// resources that failed before, too; that no longer fail; and that have fields without an effect
	failed, mend, idle int
	groups             []*group
}

// group is a line that applies to many resources.
type group struct {
	first bool // an effect, printed before mere differences
	text  string
	names []string
}

// FleetOf renders resources of a kind before and after a change, in parallel. Before is the last release if it is
// known, else the resource rendered with the old charts.
func FleetOf(
	ctx context.Context, kind schema.GroupVersionKind, subjects []Subject, releases Releases,
	before, after *Charts, capabilities *chartutil.Capabilities,
) (*Fleet, error) {
	pairs := make([]struct{ before, after Outcome }, len(subjects))
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i := range subjects {
		workers.Go(func() error {
			subject := subjects[i]
			released := releases.Of(subject.Resource)
			if released != nil {
				subject.Facts.Content = released.Content.Version
			}
			pairs[i].after = subject.Render(ctx, after.Renderers[kind], capabilities)
			switch {
			case released == nil:
				pairs[i].before = subject.Render(ctx, before.Renderers[kind], capabilities)
			case released.Digest != "" && released.Digest == pairs[i].after.Digest:
				pairs[i].before = pairs[i].after // same digest: no need to decompress the release
			default:
				// Live objects are not read for a fleet: selectors, certificates and keys of checksums are those of the
				// record. Most renderings have none that matter, and are not repeated.
				pairs[i].before = released.Outcome(subject.Resource)
				before := pairs[i].before.Objects
				kept, certificates := postrender.SelectorsOf(before), postrender.CertificatesOf(before)
				subject.Facts.Recorded, subject.Facts.Keys = before, postrender.ChecksumKeys(before)
				if pairs[i].after.Err != nil || !pairs[i].after.SameSelectors(kept) ||
					len(certificates)+len(subject.Facts.Keys) > 0 {
					subject.Facts.Selectors, subject.Facts.Certificates = kept, certificates
					pairs[i].after = subject.Render(ctx, after.Renderers[kind], capabilities)
				}
			}
			return ctx.Err()
		})
	}
	if err := workers.Wait(); err != nil {
		return nil, err
	}
	fleet := &Fleet{Kind: kind.Kind}
	for i, subject := range subjects {
		fleet.Add(subject, pairs[i].before, pairs[i].after)
	}
	return fleet, nil
}

// Add adds the renderings of one resource before and after the change.
func (f *Fleet) Add(s Subject, before, after Outcome) {
	f.Total++
	switch {
	case after.Err != nil && before.Err != nil:
		f.failed++
		f.note(false, "cannot be rendered, as before: "+after.Err.Error(), s.Name)
	case after.Err != nil:
		f.Fail++
		f.note(true, "can no longer be rendered: "+after.Err.Error(), s.Name)
	case before.Err != nil:
		f.mend++
		f.note(false, "can be rendered, which failed before: "+before.Err.Error(), s.Name)
	default:
		f.compare(s, DiffOf(s.Name, before, after))
	}
}

func (f *Fleet) compare(s Subject, d *Diff) {
	if len(d.Changes) > 0 {
		f.Change++
	}
	if d.Has(Restarts) {
		f.Restart++
	}
	if d.Has(Refused) {
		f.Refused++
	}
	name := s.Resource.GetName()
	for _, consequence := range d.Consequences {
		if consequence.Effect != Restarts && consequence.Effect != Rests { // the lines of the fields mention the former
			f.note(true, anonymousText(consequence.Text, name), s.Name)
		}
	}
	for _, change := range d.Changes {
		of := title(change.Object(), name)
		switch {
		case change.Old == nil:
			f.note(false, of+" is new", s.Name)
		case change.New == nil:
			f.note(false, of+" goes", s.Name)
		}
		for _, difference := range change.Fields {
			f.note(false, of+": "+anonymous(difference, name).String(), s.Name)
		}
	}
	f.idle += len(d.Idle)
	for _, field := range d.Idle {
		f.note(false, "the field "+field+" no longer has an effect: the new chart does not declare it", s.Name)
	}
}

// own stands for the name of the resource, so that lines that differ only in it form one group.
const own = "NAME"

// title returns the kind of an object, and its name unless that is the resource's.
func title(object *unstructured.Unstructured, name string) string {
	if object.GetName() == name {
		return object.GetKind()
	}
	return kube.Key{GroupKind: object.GroupVersionKind().GroupKind(), Name: withoutName(object.GetName(), name)}.String()
}

func anonymous(d plan.Difference, name string) plan.Difference {
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

// anonymousText returns a text without the name of the resource, in quotes or not.
func anonymousText(text, name string) string {
	words := strings.Split(text, " ")
	for i, word := range words {
		rest, quoted := strings.CutPrefix(word, `"`)
		end := strings.TrimRight(rest, `",:;`)
		if without := withoutName(end, name); without != end {
			words[i] = without + rest[len(end):]
			if quoted {
				words[i] = `"` + words[i]
			}
		}
	}
	return strings.Join(words, " ")
}

func (f *Fleet) note(first bool, text, name string) {
	at := slices.IndexFunc(f.groups, func(g *group) bool { return g.text == text })
	if at < 0 {
		at = len(f.groups)
		f.groups = append(f.groups, &group{first: first, text: text})
	}
	f.groups[at].names = append(f.groups[at].names, name)
}

// Empty reports whether no resource changes.
func (f *Fleet) Empty() bool { return f.Change+f.Fail+f.mend+f.idle == 0 }

// Summary returns the first line.
func (f *Fleet) Summary() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %d change, %d restart pods", Plural(f.Total, f.Kind), f.Change, f.Restart)
	for _, more := range []struct {
		count int
		words string
	}{
		{f.Refused, "will be refused"}, {f.Fail, "can no longer be rendered"},
		{f.failed, "cannot be rendered, as before"}, {f.mend, "can be rendered again"},
	} {
		if more.count > 0 {
			fmt.Fprintf(&out, ", %d %s", more.count, more.words)
		}
	}
	return out.String()
}

// String returns the summary, the effects of the change, and the differences, the most frequent first.
func (f *Fleet) String() string {
	var out strings.Builder
	out.WriteString(f.Summary() + "\n")
	mostFirst := slices.SortedStableFunc(slices.Values(f.groups), func(a, b *group) int {
		return cmp.Compare(len(b.names), len(a.names))
	})
	for _, effects := range []bool{true, false} {
		for _, g := range mostFirst {
			if g.first == effects {
				fmt.Fprintf(&out, "%5d  %s\n       %s\n", len(g.names), g.text, text.Some(g.names, few))
			}
		}
	}
	return out.String()
}
