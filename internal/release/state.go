package release

import (
	"github.com/example/appservice-operator/internal/cluster"
)

// State is where a resource stands between what is rendered and what is there. Each state has one action.
type State string

// The states, in the order in which Decide looks for them.
const (
	// Absent: there is no release. Install.
	Absent State = "Absent"
	// OutOfDate: the newest release was rendered otherwise. Upgrade.
	OutOfDate State = "OutOfDate"
	// Unfinished: the newest release is the wanted one, and was interrupted or refused before it was deployed. Resume.
	Unfinished State = "Unfinished"
	// Drifted: the release is deployed, but objects are missing, changed or left over. Repair.
	Drifted State = "Drifted"
	// InSync: everything is as rendered. Nothing is called, nothing is written.
	InSync State = "InSync"
)

const statusDeployed = "deployed"

// Decide names the state. It looks at nothing but its arguments: the digest of what is rendered, the newest release
// record that the resource controls (nil if none) and the plan that leads to what is rendered.
func Decide(digest string, newest *cluster.Record, plan *Plan) State {
	switch {
	case newest == nil:
		return Absent
	case newest.Digest != digest:
		return OutOfDate
	case newest.Status != statusDeployed:
		return Unfinished
	case !plan.Empty():
		return Drifted
	}
	return InSync
}
