package suites

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// otherVersions runs the integration tests on each other version of Kubernetes, and sums up.
func otherVersions(r *runner) error {
	line, errs := "VERSIONS", []error(nil)
	for _, version := range strings.Fields(parameter("VERSIONS", "1.34 1.35 1.37")) {
		fmt.Printf("==> Kubernetes %s.\n", version)
		result := "ok"
		if err := r.on(version); err != nil {
			result, errs = "failed", append(errs, err)
		}
		line += fmt.Sprintf(" %s=%s", version, result)
	}
	fmt.Println(line)
	return errors.Join(errs...)
}

// on runs the integration tests on a version of Kubernetes.
func (r *runner) on(version string) error {
	for name, value := range map[string]string{"CLUSTER": "", "KUBERNETES_VERSION": version} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	tests, _ := Find("integration")
	return r.steps(tests.steps)
}
