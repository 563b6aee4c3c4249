package kube

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// IsQuota reports whether the API server refused an object because a quota of the namespace is used up.
func IsQuota(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota")
}
