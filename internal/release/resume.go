package release

import (
	"context"
	"errors"
	"fmt"

	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage"
	"helm.sh/helm/v3/pkg/storage/driver"
)

// resume finishes the newest release, which is the wanted one but was interrupted or refused: the rest of the plan is
// written and the record marked deployed. It makes no new revision, however often it is tried.
func (a *Actor) resume(ctx context.Context, task Task) error {
	actions, err := a.open(ctx, task.Owner, a.write(ctx, task))
	if err != nil {
		return err
	}
	if err := a.applier.execute(ctx, task.Owner, task.Plan); err != nil {
		return err
	}
	records := actions.Config().Releases
	newest, err := read(records, task)
	if err != nil {
		return err
	}
	if err := supersede(records, newest); err != nil {
		return err
	}
	newest.SetStatus(helmrelease.StatusDeployed, "Resumed after an interruption")
	if err := records.Update(newest); err != nil {
		return fmt.Errorf("cannot mark release %d deployed: %w", newest.Version, err)
	}
	return nil
}

// supersede marks the releases that were deployed before the newest, as Helm's upgrade does.
func supersede(records *storage.Storage, newest *helmrelease.Release) error {
	deployed, err := records.DeployedAll(newest.Name)
	if err != nil && !errors.Is(err, driver.ErrNoDeployedReleases) {
		return fmt.Errorf("cannot list deployed releases: %w", err)
	}
	for _, older := range deployed {
		if older.Version == newest.Version {
			continue
		}
		older.Info.Status = helmrelease.StatusSuperseded
		if err := records.Update(older); err != nil {
			return fmt.Errorf("cannot mark release %d superseded: %w", older.Version, err)
		}
	}
	return nil
}
