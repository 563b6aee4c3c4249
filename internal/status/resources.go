package status

import (
	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/status/health"
)

// resources lists the rendered objects and the state of each. If nothing can be rendered, the list is left unchanged.
func resources(out *v1.AppServiceStatus, in Input, list []objectState) {
	if in.Rendered == nil {
		return
	}
	out.Resources = nil
	for _, one := range list {
		entry := v1.ResourceStatus{Kind: one.key.Kind, Name: one.key.Name, Ready: !one.Holds(), State: stateOf(one.Verdict)}
		if one.Verdict != health.Ready {
			entry.Message = OneLine(one.Message)
		}
		out.Resources = append(out.Resources, entry)
	}
}

func stateOf(verdict health.Verdict) v1.ResourceState {
	switch verdict {
	case health.Waiting:
		return v1.ResourceWaiting
	case health.Stuck:
		return v1.ResourceFailed
	}
	return v1.ResourceReady
}
