package status

import (
	"fmt"

	v1 "github.com/example/appservice-operator/api/v1"
)

// problems lists what is wrong or worth knowing, errors first.
func problems(in Input, v verdict) []v1.Problem {
	var list []v1.Problem
	if v.outcome == stuck {
		list = append(list, v1.Problem{Type: v1.ProblemError, Reason: v.reason, Message: oneLine(v.message)})
	}
	for _, key := range in.Unserved {
		list = append(list, v1.Problem{
			Type:    v1.ProblemWarning,
			Source:  key.Kind,
			Reason:  v1.ReasonAPIAbsent,
			Message: fmt.Sprintf("the cluster does not serve %s in group %s, so it was left out", key.Kind, key.Group),
			Hint:    "ask the platform team to install that API; it is noticed when it appears",
		})
	}
	for _, missing := range in.Missing {
		message := fmt.Sprintf("%s does not exist, %s refers to it", missing.Object, missing.By)
		if missing.Key != "" {
			message = fmt.Sprintf("%s has no key %q, %s refers to it", missing.Object, missing.Key, missing.By)
		}
		list = append(list, v1.Problem{
			Type:    v1.ProblemWarning,
			Source:  missing.Kind,
			Reason:  v1.ReasonReferenceMissing,
			Message: message,
			Hint:    "create it, or wait until whoever makes it has done so; nothing waits for it",
		})
	}
	return list
}
