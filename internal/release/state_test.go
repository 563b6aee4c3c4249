package release

import (
	"fmt"
	"testing"

	helmrelease "helm.sh/helm/v3/pkg/release"

	"github.com/example/appservice-operator/internal/cluster"
)

func TestDecide(t *testing.T) {
	empty := &Plan{}
	plans := map[string]*Plan{
		"nothing":  empty,
		"a create": {Create: Compare(renderedOnce(t), nil).Create},
		"an apply": {Apply: []Change{{}}},
		"a delete": {Delete: Compare(nil, there(owned(t, "ConfigMap", "left-over", "one"))).Delete},
	}
	statuses := []helmrelease.Status{
		helmrelease.StatusUnknown, helmrelease.StatusDeployed, helmrelease.StatusUninstalled, helmrelease.StatusSuperseded,
		helmrelease.StatusFailed, helmrelease.StatusUninstalling, helmrelease.StatusPendingInstall,
		helmrelease.StatusPendingUpgrade, helmrelease.StatusPendingRollback,
	}
	want := func(status helmrelease.Status, same bool, plan *Plan) State {
		switch {
		case !same:
			return OutOfDate
		case status != helmrelease.StatusDeployed:
			return Unfinished
		case plan != empty:
			return Drifted
		}
		return InSync
	}
	for writes, plan := range plans {
		t.Run("no record, the plan has "+writes, func(t *testing.T) {
			if got := Decide("wanted", nil, plan); got != Absent {
				t.Errorf("got %s, want %s", got, Absent)
			}
		})
		for _, status := range statuses {
			for digest, same := range map[string]bool{"wanted": true, "other": false, "": false} {
				t.Run(fmt.Sprintf("%s release of digest %q, the plan has %s", status, digest, writes), func(t *testing.T) {
					record := &cluster.Record{Revision: 3, Status: status.String(), Digest: digest}
					if got, want := Decide("wanted", record, plan), want(status, same, plan); got != want {
						t.Errorf("got %s, want %s", got, want)
					}
				})
			}
		}
	}
}
