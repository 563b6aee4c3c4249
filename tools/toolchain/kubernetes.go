package toolchain

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// DefaultKubernetes is the version of Kubernetes where the environment names none.
const DefaultKubernetes = "1.36"

// kubernetesModule begins the name of every module that pins Kubernetes; the version follows.
const kubernetesModule = "kubernetes-"

// kubernetesVersion returns the version of Kubernetes that the environment requests.
func kubernetesVersion(pins string) (string, error) {
	version := os.Getenv("KUBERNETES_VERSION")
	if version == "" {
		return DefaultKubernetes, nil
	}
	known, err := kubernetesVersions(pins)
	if err != nil {
		return "", err
	}
	if !slices.Contains(known, version) {
		return "", fmt.Errorf("cannot use KUBERNETES_VERSION=%s: the known ones are %s", version, strings.Join(known, ", "))
	}
	return version, nil
}

// kubernetesVersions returns the versions of Kubernetes that a module in tools/pins pins.
func kubernetesVersions(pins string) ([]string, error) {
	modules, err := filepath.Glob(filepath.Join(pins, kubernetesModule+"*"))
	if err != nil {
		return nil, err
	}
	var versions []string
	for _, module := range modules {
		versions = append(versions, strings.TrimPrefix(filepath.Base(module), kubernetesModule))
	}
	return versions, nil
}
