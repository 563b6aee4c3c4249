package kube

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// restartedAt is the annotation of a pod template by which kubectl rollout restart works.
const restartedAt = "kubectl.kubernetes.io/restartedAt"

// sinceEpoch matches a time in seconds, milliseconds or nanoseconds since 1970, from 2001 to 2286.
var sinceEpoch = regexp.MustCompile(`^[1-9][0-9]{9}(?:[0-9]{3}|[0-9]{9})?$`)

// IsRestart reports whether an annotation of a pod template is a request to restart its pods, as kubectl, consoles and
// operators write it: a time. Others may own that field of a pod template.
func IsRestart(annotation, value string) bool {
	if annotation == restartedAt || sinceEpoch.MatchString(value) {
		return true
	}
	date, _, _ := strings.Cut(value, ".") // Go's own format of a time begins with one, and a fraction
	return slices.ContainsFunc([]string{time.RFC3339, time.DateTime, time.RFC1123, time.RFC1123Z, time.UnixDate},
		func(layout string) bool {
			_, err := time.Parse(layout, value)
			_, cut := time.Parse(layout, date)
			return err == nil || cut == nil
		})
}
