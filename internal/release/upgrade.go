package release

import (
	"context"
	"fmt"

	"github.com/operator-framework/helm-operator-plugins/pkg/annotation"
	helmclient "github.com/operator-framework/helm-operator-plugins/pkg/client"
	"helm.sh/helm/v3/pkg/action"
	helmrelease "helm.sh/helm/v3/pkg/release"
)

// upgrade makes the next release. What the API server would refuse it refuses in a dry run, before anything is written.
func (a *Actor) upgrade(ctx context.Context, task Task) error {
	if err := a.applier.dryRun(ctx, task.Plan); err != nil {
		return err
	}
	manifest, err := task.Desired.Manifest()
	if err != nil {
		return err
	}
	actions, err := a.open(ctx, task.Owner, a.write(ctx, task))
	if err != nil {
		return err
	}
	if err := abandon(actions, task); err != nil {
		return err
	}
	options := []helmclient.UpgradeOption{
		helmclient.WithUpgradePostRenderer(printed(manifest)),
		func(upgrade *action.Upgrade) error {
			upgrade.Labels = a.labels(task)
			upgrade.MaxHistory = maxHistory
			upgrade.ResetValues = true
			upgrade.SkipCRDs = true
			upgrade.DisableHooks = true
			upgrade.DisableOpenAPIValidation = true
			return nil
		},
	}
	if description, found := task.Owner.GetAnnotations()[(annotation.UpgradeDescription{}).Name()]; found {
		options = append(options, (annotation.UpgradeDescription{}).UpgradeOption(description))
	}
	_, err = actions.Upgrade(task.Owner.GetName(), task.Owner.GetNamespace(), a.chart, task.Desired.Values, options...)
	return err
}

// abandon marks a newest release failed that a crash left pending, and that is no longer wanted: Helm upgrades from
// deployed, superseded and failed releases only.
func abandon(actions helmclient.ActionInterface, task Task) error {
	switch helmrelease.Status(task.Snapshot.Record.Status) {
	case helmrelease.StatusDeployed, helmrelease.StatusSuperseded, helmrelease.StatusFailed:
		return nil
	}
	records := actions.Config().Releases
	newest, err := records.Get(task.Owner.GetName(), task.Snapshot.Record.Revision)
	if err != nil {
		return &StaleError{fmt.Errorf("cannot read release %d: %w", task.Snapshot.Record.Revision, err)}
	}
	newest.SetStatus(helmrelease.StatusFailed, "Abandoned: the operator stopped before it was deployed")
	if err := records.Update(newest); err != nil {
		return fmt.Errorf("cannot mark release %d failed: %w", newest.Version, err)
	}
	return nil
}
