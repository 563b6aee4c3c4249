package release

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// Recorded returns the manifest of the release that a record holds, for those who only look.
func Recorded(record *corev1.Secret) (string, error) {
	manifest, err := decodeManifest(record.Data["release"])
	if err != nil {
		return "", fmt.Errorf("the release record %s cannot be read: %w", record.Name, err)
	}
	return manifest, nil
}
