package status

import (
	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator/status/health"
)

// resources lists the rendered objects and the state of each, once something was written. If nothing can be rendered,
// the list is left unchanged.
func resources(out *v1.AppServiceStatus, in Input, list []objectState) {
	if in.Rendered == nil {
		return
	}
	out.Resources = nil
	if in.Snapshot.Record == nil && len(in.Snapshot.Objects) == 0 && in.Previous.Release == nil &&
		len(in.Previous.Runs) == 0 {
		return
	}
	for _, one := range list {
		entry := v1.ResourceStatus{Kind: one.key.Kind, Name: one.key.Name, Ready: !one.Holds(),
			State: resourceStates[one.Verdict]}
		if one.Verdict != health.Ready {
			entry.Message = OneLine(one.Message)
		}
		out.Resources = append(out.Resources, entry)
	}
	for _, key := range in.Retained {
		out.Resources = append(out.Resources, v1.ResourceStatus{Kind: key.Kind, Name: key.Name, Ready: true,
			State: v1.ResourceReady, Message: KeptData})
	}
}

// KeptData is the message about an object that no release has, and that is kept because its content cannot be made
// again.
const KeptData = "kept for its data, though it is not rendered: it goes with the next release of a changed spec without it"

var resourceStates = map[health.Verdict]v1.ResourceState{
	health.Ready: v1.ResourceReady, health.Warned: v1.ResourceReady, health.Waiting: v1.ResourceWaiting,
	health.Stuck: v1.ResourceFailed,
}
