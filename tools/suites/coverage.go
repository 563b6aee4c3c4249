package suites

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"sigs.k8s.io/yaml"
)

// slack is by how many percent the share of a package may be lower: tests that run at the same time differ a little.
const slack = 0.5

// covered is a line of go tool covdata percent.
var covered = regexp.MustCompile(`(?m)^\s*(\S+)\s+coverage: (\S+)% of statements$`)

// coverage compares the share of statements that unit tests of any package cover, by package, with those of a file.
// COVERAGE=update writes the file.
func coverage(r *runner) error {
	folder, file := filepath.Join(r.root, "bin/coverage"), filepath.Join(r.root, "test/mutants/coverage.yaml")
	if err := (empty("bin/coverage/")).run(r); err != nil {
		return err
	}
	tested := command{args: words("go test -vet=off -timeout=40m -coverpkg=./api/...,./cmd/...,./internal/... ./... -args -test.gocoverdir=" + folder)}.run(r)
	text, err := r.command(command{args: words("go tool covdata percent -i=" + folder)}).Output()
	if err = errors.Join(tested, err); err != nil {
		return err
	}
	now := map[string]float64{}
	for _, found := range covered.FindAllStringSubmatch(string(text), -1) {
		now[found[1]], _ = strconv.ParseFloat(found[2], 64)
	}
	if os.Getenv("COVERAGE") == "update" {
		text, err := yaml.Marshal(now)
		if err != nil {
			return err
		}
		return os.WriteFile(file, append([]byte("# Percent of statements that unit tests cover: make test-coverage COVERAGE=update writes them.\n"), text...), 0o600)
	}
	var kept map[string]float64
	if text, err = os.ReadFile(file); err == nil {
		err = yaml.UnmarshalStrict(text, &kept)
	}
	return errors.Join(err, lower(kept, now))
}

// lower returns an error for each package whose share is lower than it was, or that is gone.
func lower(was, now map[string]float64) (err error) {
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if share, there := now[name]; !there || share < was[name]-slack {
			err = errors.Join(err, fmt.Errorf("%s: tests cover %.1f %% of its statements, and covered %.1f %%", name, share, was[name]))
		}
	}
	return err
}
