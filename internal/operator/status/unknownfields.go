package status

import (
	"fmt"

	v1 "github.com/example/appservice-operator/api/v1"
)

// mostUnknown is how many fields that the operator does not know are listed.
const mostUnknown = 5

// unknown returns the problem of fields that the operator does not know.
func unknown(paths []string) []v1.Problem {
	var list []v1.Problem
	for i, path := range paths[:min(len(paths), mostUnknown)] {
		message := path + " is ignored: the installed CRD is newer than this operator version"
		if more := len(paths) - mostUnknown; more > 0 && i == mostUnknown-1 {
			message += fmt.Sprintf(" (and %d more)", more)
		}
		list = append(list, warning(path, v1.ReasonFieldUnknown, OneLine(message)))
	}
	return list
}
