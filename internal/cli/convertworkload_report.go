package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/cli/conversion"
	"github.com/example/appservice-operator/internal/cli/history"
	"github.com/example/appservice-operator/internal/cli/preview"
	"github.com/example/appservice-operator/internal/controller/release"
	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/kube/jobs"
	"github.com/example/appservice-operator/internal/render"
)

// forecast is what a conversion would do.
type forecast struct {
	*conversion.State
	survey *release.Survey
	// against is what prevents it.
	against []string
}

// show prints what a conversion would do, and returns it; nil if there is nothing to convert.
func (m *mover) show(ctx context.Context, actor *release.Actor, result *render.Result) (*forecast, error) {
	found, err := m.Look(ctx)
	if err == nil {
		err = m.Rest(ctx, found)
	}
	if err != nil {
		return nil, err
	}
	if found.Needless() {
		_, err = fmt.Fprintf(m.Out, "%s: nothing to convert: kubectl apply makes of it what the file says\n", m.one.name())
		return nil, err
	}
	if err := m.skipTasks(ctx, found, result.Runs); err != nil {
		return nil, err
	}
	f, err := m.foresee(ctx, found, actor, result)
	if err != nil {
		return nil, err
	}
	return f, m.writeLines(m.Out, m.lines(f))
}

// skipTasks has the release tasks skipped that have run.
func (m *mover) skipTasks(ctx context.Context, found *conversion.State, runs []jobs.Run) error {
	skipped, err := m.SkippedTasks(ctx, found, runs)
	if skipped != "" {
		m.one.SetAnnotations(labels.Merge(m.one.GetAnnotations(), map[string]string{v1.AnnotationSkipTask: skipped}))
	}
	return err
}

// foresee examines a conversion by dry runs. A refusal is no error.
func (m *mover) foresee(ctx context.Context, found *conversion.State, actor *release.Actor,
	result *render.Result) (*forecast, error) {
	survey, err := actor.Survey(ctx, release.Task{Owner: m.one.Unstructured, Desired: result})
	if err != nil {
		return nil, err
	}
	if found.App == nil && found.Old == nil && len(survey.Own) == 0 {
		return nil, fmt.Errorf("%s: there is none to convert: kubectl apply creates it", m.one.name())
	}
	refused, err := m.rehearse(ctx, found)
	against := found.Against(m.Options, history.OwnerOf(m.one.Unstructured), result.Objects)
	return &forecast{found, survey, slices.Concat(against, survey.Refusals(), refused)}, err
}

// rehearse returns why the API server would refuse the writes, by dry runs. A new AppService of the same name cannot be
// tried beside the present one: one of a generated name is.
func (m *mover) rehearse(ctx context.Context, found *conversion.State) ([]string, error) {
	if found.App != nil && !found.MustGo() {
		return nil, nil
	}
	fresh, err := m.desired()
	if err != nil {
		return nil, err
	}
	fresh.SetGenerateName(fresh.GetName() + "-")
	fresh.SetName("")
	err = m.writer.Create(ctx, fresh, client.DryRunAll, client.FieldOwner(fieldManager))
	if err == nil && found.App != nil {
		err = m.writer.Delete(ctx, found.App, client.DryRunAll)
	}
	switch {
	case err == nil:
		return nil, nil
	case release.Refused(err):
		return []string{explainRefusal(nameOf(m.one.Unstructured), err).Error()}, nil
	}
	return nil, err
}

// desired returns the AppService to apply: what the file says, without what a cluster adds, and the annotations that
// adopt existing objects.
func (m *mover) desired() (*unstructured.Unstructured, error) {
	written := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(m.one.Text, &written.Object); err != nil {
		return nil, err
	}
	out := history.SourceOf(written)
	out.SetNamespace(m.one.GetNamespace())
	annotations := out.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[v1.AnnotationAdopt] = "true"
	if skipped := m.one.GetAnnotations()[v1.AnnotationSkipTask]; skipped != "" {
		annotations[v1.AnnotationSkipTask] = skipped
	}
	out.SetAnnotations(annotations)
	return out, nil
}

// lines returns the preview of a conversion as text.
func (m *mover) lines(f *forecast) []preview.Line {
	lines := []preview.Line{{Mark: preview.Head, Text: m.one.name() + ": " + m.summary(f)}}
	add := func(mark preview.Mark, text string) { lines = append(lines, preview.Line{Mark: mark, Text: text}) }
	for _, text := range slices.Concat(f.against, f.Warnings()) {
		add(preview.Consequent, "  ! "+text)
	}
	for _, object := range f.survey.Missing {
		add(preview.Comes, "  + "+kube.KeyOf(object).String())
	}
	for _, thing := range f.survey.Found {
		add(preview.Differs, fmt.Sprintf("  ~ %s, %s: it is taken over", thing.Key, thing.Owner))
	}
	if f.Old != nil {
		add(preview.Goes, "  - "+f.Old.Key().String())
	}
	for _, object := range f.Rest {
		add(preview.Goes, "  - "+kube.KeyOf(object).String())
	}
	for _, text := range m.notes(f) {
		add(preview.Explanation, "    "+text)
	}
	return lines
}

// notes returns what stays, what becomes of data, task and history.
func (m *mover) notes(f *forecast) (notes []string) {
	var stays []string
	for _, key := range f.survey.Own {
		stays = append(stays, key.String())
	}
	if len(stays) > 0 {
		notes = append(notes, "these stay: "+strings.Join(stays, ", "))
	}
	for _, claim := range f.Data() {
		notes = append(notes, fmt.Sprintf("%s: %s", claim, claim.Fate))
		if command := f.ListOf(claim); command != "" && claim.Fate == conversion.Behind {
			notes = append(notes, "  "+command)
		}
	}
	if m.one.GetAnnotations()[v1.AnnotationSkipTask] != "" {
		notes = append(notes, "the release task does not run again")
	}
	if f.MustGo() {
		notes = append(notes, fmt.Sprintf("the release records are deleted, so undo does not lead back: kubectl get appservice %s "+
			"--namespace=%s --output=yaml > before.yaml keeps the file that converts it back", m.one.GetName(), m.one.GetNamespace()))
	}
	return notes
}

// summary returns what becomes of the workload, in a line.
func (m *mover) summary(f *forecast) string {
	switch {
	case len(f.against) > 0:
		return "cannot be converted: " + preview.Plural(len(f.against), "problem")
	case f.Again():
		return fmt.Sprintf("%s is created again with other claims; its pods are replaced one after the other", f.Old.Key())
	case f.Old == nil:
		return fmt.Sprintf("the conversion to a %s continues", f.New.Kind)
	case m.StopFirst:
		return fmt.Sprintf("%s stops, and becomes a %s: nothing serves meanwhile", f.Old.Key(), f.New.Kind)
	}
	return fmt.Sprintf("%s becomes a %s; pods of both serve until it is Ready", f.Old.Key(), f.New.Kind)
}

// conclude reports what is left once a conversion is done.
func (m *mover) conclude(first, last *conversion.State) error {
	text := fmt.Sprintf("%s has %s\n", m.one.name(), last.New.Key())
	if m.KeepOld && last.Old != nil {
		text = fmt.Sprintf("%s has %s, and %s runs beside it: the same command without --keep-old deletes that\n", m.one.name(),
			last.New.Key(), last.Old.Key())
		for _, command := range last.Copies() {
			text += "  " + command + "\n"
		}
	}
	for _, claim := range first.Data() {
		if claim.Fate == conversion.Behind {
			text += fmt.Sprintf("%s stays: kubectl delete pvc %s --namespace=%s, once nobody needs its data\n", claim, claim.Name,
				m.one.GetNamespace())
		}
	}
	if m.Suspended {
		text += "commit the file to the source of the AppService before the tool applies it again\n"
	}
	_, err := fmt.Fprint(m.Out, text)
	return err
}
