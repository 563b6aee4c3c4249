package release

import (
	"context"
	"fmt"
	"strings"

	"github.com/operator-framework/helm-operator-plugins/pkg/annotation"
	helmclient "github.com/operator-framework/helm-operator-plugins/pkg/client"
	"helm.sh/helm/v3/pkg/action"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/observe"
	"github.com/example/appservice-operator/internal/render"
)

// install makes the first release.
func (a *Actor) install(ctx context.Context, task Task) error {
	manifest, err := task.Desired.Manifest()
	if err != nil {
		return err
	}
	if err := fits(manifest, task.Desired.Values); err != nil {
		return err
	}
	actions, err := a.open(ctx, task.Owner, a.write(ctx, task))
	if err != nil {
		return err
	}
	options := []helmclient.InstallOption{
		helmclient.WithInstallPostRenderer(printed(manifest)),
		func(install *action.Install) error {
			install.Labels = a.labels(task)
			install.SkipCRDs = true
			install.DisableHooks = true
			install.DisableOpenAPIValidation = true
			return nil
		},
	}
	if description, found := task.Owner.GetAnnotations()[(annotation.InstallDescription{}).Name()]; found {
		options = append(options, (annotation.InstallDescription{}).InstallOption(description))
	}
	_, err = actions.Install(task.Owner.GetName(), task.Owner.GetNamespace(), a.chart, task.Desired.Values, options...)
	if err != nil && strings.Contains(err.Error(), "cannot re-use a name that is still in use") {
		return a.explainTakenName(ctx, task)
	}
	return err
}

// explainTakenName looks up whose release has the name: the caches show only those that carry our label.
func (a *Actor) explainTakenName(ctx context.Context, task Task) error {
	records := &metav1.PartialObjectMetadataList{}
	records.SetGroupVersionKind(observe.SecretKind.GroupVersion().WithKind("SecretList"))
	err := a.applier.live.List(ctx, records, client.InNamespace(task.Owner.GetNamespace()),
		client.MatchingLabels{"owner": "helm", "name": task.Owner.GetName()})
	if err != nil {
		return fmt.Errorf("cannot look for release records: %w", err)
	}
	for i := range records.Items {
		record := &records.Items[i]
		record.SetGroupVersionKind(observe.SecretKind)
		if !observe.IsRecord(record) {
			continue
		}
		if !controls(task.Owner, record) {
			return inTheWay(task.Owner, render.Key{GroupKind: schema.GroupKind{Kind: "Helm release"}, Name: task.Owner.GetName()}, record)
		}
		// Ours, but somebody took the label off by which it is found.
		patch := []byte(fmt.Sprintf(`{"metadata":{"labels":{%q:"true"}}}`, v1.LabelManaged))
		if err := a.client.Patch(ctx, record, client.RawPatch("application/merge-patch+json", patch), client.FieldOwner(FieldManager)); err != nil {
			return fmt.Errorf("cannot label the release record %s: %w", record.Name, err)
		}
	}
	return &StaleError{fmt.Errorf("a release of the name is there, the caches do not show it")}
}
