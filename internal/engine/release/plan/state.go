package plan

import (
	helmrelease "helm.sh/helm/v3/pkg/release"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
)

// State describes how the live objects of a resource relate to the rendered ones. Each state has one action.
type State string

// The states, in the order in which Decide looks for them.
const (
	// Absent: there is neither a record nor an object. Install.
	Absent State = "Absent"
	// Unfinished: the objects were never recorded as deployed: an install was interrupted, the record was deleted, or an
	// earlier version, or Helm, left it undeployed. Resume.
	Unfinished State = "Unfinished"
	// OutOfDate: the newest release was rendered differently. Upgrade.
	OutOfDate State = "OutOfDate"
	// Drifted: the release is deployed, but objects are missing, changed or left over. Repair.
	Drifted State = "Drifted"
	// InSync: everything is as rendered. Nothing is requested or written.
	InSync State = "InSync"
	// Failed: the release is as rendered, and its pods do not run for a cause of its own. Return to one that was Ready, if
	// the spec requests that. Decide does not look for it: pods show it, not objects.
	Failed State = "Failed"
)

// Verb is the name of an action on a release.
type Verb string

// The verbs.
const (
	Install Verb = "install"
	Upgrade Verb = "upgrade"
	Resume  Verb = "resume"
	Repair  Verb = "repair"
	Return  Verb = "return"
)

// Action describes the action of a state.
type Action struct {
	// Verb is its name where it is counted.
	Verb Verb
	// Records: it ends with a release record.
	Records bool
	// DryRun: all writes are tried in a dry run before the first.
	DryRun bool
	// Failure is the reason of Ready if it fails and the error has no reason of its own.
	Failure string
	// Event is the reason of the event, Note its text, of the release's revision and of the writes; Log is the line
	// in the log.
	Event, Note, Log string
}

// actions defines for each state what is done and how it is reported. Another state needs a line here and a case in
// Decide.
var actions = map[State]Action{
	Absent: {
		Verb: Install, Records: true, Failure: v1.ReasonInstallFailed,
		Event: v1.ReasonInstalled, Note: "release %[1]d: %[2]s", Log: "release installed",
	},
	Unfinished: {
		Verb: Resume, Records: true, Failure: v1.ReasonInstallFailed,
		Event: v1.ReasonReleaseResumed, Note: "release %[1]d was unfinished: %[2]s", Log: "release resumed",
	},
	OutOfDate: {
		Verb: Upgrade, Records: true, DryRun: true, Failure: v1.ReasonUpgradeFailed,
		Event: v1.ReasonUpgraded, Note: "release %[1]d: %[2]s", Log: "release upgraded",
	},
	Drifted: {
		Verb: Repair, Failure: v1.ReasonRepairFailed,
		Event: v1.ReasonDriftCorrected, Note: "%[2]s", Log: "drift corrected",
	},
	Failed: {
		Verb: Return, Records: true, Failure: v1.ReasonUpgradeFailed,
		Event: v1.ReasonReturnedToRelease, Note: "release %[1]d: %[2]s", Log: "release failed, an earlier one applied again",
	},
	InSync: {Failure: v1.ReasonUpgradeFailed},
}

// ActionOf returns the action of a state. An unknown state, in which nothing was decided, has the action of InSync.
func ActionOf(state State) Action {
	if action, known := actions[state]; known {
		return action
	}
	return actions[InSync]
}

// StatusDeployed is the status of every record that this operator writes.
const StatusDeployed = string(helmrelease.StatusDeployed)

// IsDeployed reports whether a record is that of a deployed release with a digest.
func IsDeployed(record *livestate.Record, digest string) bool {
	return record != nil && record.Digest == digest && record.Status == StatusDeployed
}

// Decide returns the state. It depends only on its arguments: the rendered digest, the snapshot, and the plan that
// leads from the snapshot to the rendered objects.
func Decide(digest string, observed *livestate.Snapshot, plan *Plan) State {
	newest := observed.Record
	switch {
	case newest == nil && len(observed.Objects) == 0:
		return Absent
	case newest == nil:
		return Unfinished
	case newest.Digest != digest:
		return OutOfDate
	case newest.Status != StatusDeployed:
		return Unfinished
	case !plan.Empty():
		return Drifted
	}
	return InSync
}
