package release

import (
	"context"
	"errors"
	"fmt"

	"github.com/operator-framework/helm-operator-plugins/pkg/annotation"
	helmclient "github.com/operator-framework/helm-operator-plugins/pkg/client"
	"helm.sh/helm/v3/pkg/action"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage"
	"helm.sh/helm/v3/pkg/storage/driver"

	"github.com/example/appservice-operator/internal/observe"
)

// upgrade makes the next release. What the API server would refuse it refuses in a dry run, before anything is written.
func (a *Actor) upgrade(ctx context.Context, task Task) error {
	manifest, err := task.Desired.Manifest()
	if err != nil {
		return err
	}
	if err := fits(manifest, task.Desired.Values); err != nil {
		return err
	}
	if err := a.applier.dryRun(ctx, task.Plan); err != nil {
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
	if err != nil {
		return explainRefusal(err, actions, task)
	}
	return nil
}

// explainRefusal looks whether an upgrade was refused because the newest record is damaged: Helm overlooks such a record,
// and stumbles over its name.
func explainRefusal(err error, actions helmclient.ActionInterface, task Task) error {
	var damaged *DamagedError
	if _, readErr := read(actions.Config().Releases, task); errors.As(readErr, &damaged) {
		return damaged
	}
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
	newest, err := read(records, task)
	if err != nil {
		return err
	}
	newest.SetStatus(helmrelease.StatusFailed, "Abandoned: the operator stopped before it was deployed")
	if err := records.Update(newest); err != nil {
		return fmt.Errorf("cannot mark release %d failed: %w", newest.Version, err)
	}
	return nil
}

// read gets the newest record of a task. The error is a StaleError where the record is gone, a DamagedError where it cannot
// be decoded.
func read(records *storage.Storage, task Task) (newest *helmrelease.Release, err error) {
	revision := task.Snapshot.Record.Revision
	defer func() {
		if recover() != nil { // Helm 3.22 does, where the payload cannot be decoded
			err = &DamagedError{Revision: revision, Secret: fmt.Sprintf("%s%s.v%d", observe.RecordPrefix, task.Owner.GetName(), revision)}
		}
	}()
	newest, err = records.Get(task.Owner.GetName(), revision)
	if errors.Is(err, driver.ErrReleaseNotFound) {
		return nil, &StaleError{fmt.Errorf("release %d is gone", revision)}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read release %d: %w", revision, err)
	}
	return newest, nil
}
