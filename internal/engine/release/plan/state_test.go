package plan

import (
	"fmt"
	"strings"
	"testing"

	helmrelease "helm.sh/helm/v3/pkg/release"

	"github.com/example/appservice-operator/internal/engine/kube/livestate"
)

func TestDecide(t *testing.T) {
	empty := &Plan{}
	plans := map[string]*Plan{
		"nothing":  empty,
		"a create": {Create: Compare(renderedOnce(t), nil).Create},
		"an apply": {Apply: []Change{{}}},
		"a delete": {Delete: Compare(nil, there(owned(t, "ConfigMap", "left-over", "one"))).Delete},
	}
	present := map[string]*livestate.Snapshot{"nothing": {}, "an object": {Objects: there(owned(t, "ConfigMap", "web", "one"))}}
	statuses := []helmrelease.Status{
		helmrelease.StatusUnknown, helmrelease.StatusDeployed, helmrelease.StatusUninstalled,
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
		for what, want := range map[string]State{"nothing": Absent, "an object": Unfinished} {
			t.Run("no record, "+what+" is there, the plan has "+writes, func(t *testing.T) {
				if got := Decide("wanted", present[what], plan); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			})
		}
		for _, status := range statuses {
			for digest, same := range map[string]bool{"wanted": true, "other": false, "": false} {
				t.Run(fmt.Sprintf("%s release of digest %q, the plan has %s", status, digest, writes), func(t *testing.T) {
					record := &livestate.Record{Revision: 3, Status: status.String(), Digest: digest}
					if got, want := Decide("wanted", &livestate.Snapshot{Record: record}, plan), want(status, same, plan); got != want {
						t.Errorf("got %s, want %s", got, want)
					}
				})
			}
		}
	}
}

func TestEachStateHasAnAction(t *testing.T) {
	for _, state := range []State{Absent, Unfinished, OutOfDate, Drifted} {
		action := ActionOf(state)
		if action.Verb == "" || action.Failure == "" || action.Event == "" || action.Log == "" || !strings.Contains(action.Note, "%[2]s") {
			t.Errorf("%s: something is missing: %+v", state, action)
		}
	}
	for _, state := range []State{InSync, ""} {
		if action := ActionOf(state); action.Verb != "" || action.Event != "" || action.Records || action.Failure == "" {
			t.Errorf("%q: got %+v, want nothing but the reason of a failure", state, action)
		}
	}
}
