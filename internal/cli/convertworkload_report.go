package cli

import (
	"context"
	"fmt"
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
	"github.com/example/appservice-operator/internal/render"
)

// show prints what a conversion would do, and returns what it found; nil if there is nothing to convert. Against is what
// prevents it.
func (m *mover) show(ctx context.Context, actor *release.Actor,
	result *render.Result) (found *conversion.State, against []string, err error) {
	if found, err = m.Look(ctx); err != nil {
		return nil, nil, err
	}
	if err := m.Rest(ctx, found); err != nil {
		return nil, nil, err
	}
	if found.Needless() {
		_, err = fmt.Fprintf(m.Out, "%s: nothing to convert: kubectl apply makes of it what the file says\n", m.one.name())
		return nil, nil, err
	}
	skipped, err := m.SkippedTasks(ctx, found, result.Runs)
	if err != nil {
		return nil, nil, err
	}
	if skipped != "" {
		m.one.SetAnnotations(labels.Merge(m.one.GetAnnotations(), map[string]string{v1.AnnotationSkipTask: skipped}))
	}
	survey, err := actor.Survey(ctx, release.Task{Owner: m.one.Unstructured, Desired: result})
	if err != nil {
		return nil, nil, err
	}
	if found.App == nil && found.Old == nil && len(survey.Own) == 0 {
		return nil, nil, fmt.Errorf("%s: there is none to convert: kubectl apply creates it", m.one.name())
	}
	against = append(found.Against(m.Options, history.OwnerOf(m.one.Unstructured), result.Objects), survey.Refusals()...)
	refused, err := m.rehearse(ctx, found)
	if err != nil {
		return nil, nil, err
	}
	against = append(against, refused...)
	return found, against, m.writeLines(m.Out, m.lines(found, survey, against))
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
// adopt what exists.
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
func (m *mover) lines(found *conversion.State, survey *release.Survey, against []string) []preview.Line {
	lines := []preview.Line{{Mark: preview.Head, Text: m.one.name() + ": " + m.summary(found, against)}}
	add := func(mark preview.Mark, text string) { lines = append(lines, preview.Line{Mark: mark, Text: text}) }
	for _, text := range append(against, found.Warnings()...) {
		add(preview.Consequent, "  ! "+text)
	}
	for _, object := range survey.Missing {
		add(preview.Comes, "  + "+kube.KeyOf(object).String())
	}
	for _, thing := range survey.Found {
		add(preview.Differs, fmt.Sprintf("  ~ %s, %s: it is taken over", thing.Key, thing.Owner))
	}
	if found.Old != nil {
		add(preview.Goes, "  - "+found.Old.Key().String())
	}
	for _, object := range found.Rest {
		add(preview.Goes, "  - "+kube.KeyOf(object).String())
	}
	var stays []string
	for _, key := range survey.Own {
		stays = append(stays, key.String())
	}
	if len(stays) > 0 {
		add(preview.Explanation, "    these stay: "+strings.Join(stays, ", "))
	}
	for _, claim := range found.Data() {
		add(preview.Explanation, fmt.Sprintf("    %s: %s", claim, claim.Fate))
		if command := found.Look(claim); command != "" && claim.Fate == conversion.Behind {
			add(preview.Explanation, "      "+command)
		}
	}
	if skipped := m.one.GetAnnotations()[v1.AnnotationSkipTask]; skipped != "" {
		add(preview.Explanation, "    its release task does not run again")
	}
	if found.MustGo() {
		add(preview.Explanation, fmt.Sprintf("    its release records go, so undo does not lead back: "+
			"kubectl get appservice %s --namespace=%s --output=yaml > before.yaml keeps the file that converts it back",
			m.one.GetName(), m.one.GetNamespace()))
	}
	return lines
}

// summary returns what becomes of the workload, in a line.
func (m *mover) summary(found *conversion.State, against []string) string {
	switch {
	case len(against) > 0:
		return "it cannot be converted: " + preview.Plural(len(against), "problem")
	case found.Again():
		return fmt.Sprintf("%s is made again with other claims; its pods are replaced one after the other", found.Old.Key())
	case found.Old == nil:
		return fmt.Sprintf("its conversion to a %s goes on", found.New.Kind)
	case m.StopFirst:
		return fmt.Sprintf("%s stops, and becomes a %s: nothing serves meanwhile", found.Old.Key(), found.New.Kind)
	}
	return fmt.Sprintf("%s becomes a %s; pods of both serve until it is Ready", found.Old.Key(), found.New.Kind)
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
