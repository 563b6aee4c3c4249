package suites

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// slack is by how many percent the share of a package may be lower: tests that run at the same time differ a little.
const slack = 0.5

// coverage compares the share of statements that unit tests of any package cover, by package, with those of a file.
// COVERAGE=update writes the file.
func coverage(r *runner) error {
	profile, file := filepath.Join(r.root, "bin/coverage.out"), filepath.Join(r.root, "test/mutants/coverage.yaml")
	if err := (empty("bin/coverage.out")).run(r); err != nil {
		return err
	}
	tested := command{args: append(words("go test -vet=off -timeout=40m -coverpkg=./api/...,./cmd/...,./internal/... -coverprofile"),
		profile, "./...")}.run(r)
	text, err := os.ReadFile(profile)
	if err = errors.Join(tested, err); err != nil {
		return err
	}
	now := shares(string(text))
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

// shares returns the percentages by package, with one decimal, of a profile in which each test has all blocks.
func shares(profile string) map[string]float64 {
	covered := map[string]bool{}
	for line := range strings.Lines(profile) {
		if block, count, found := strings.Cut(strings.TrimSpace(line), " "); found && block != "mode:" {
			statements, times, _ := strings.Cut(count, " ")
			covered[block+" "+statements] = covered[block+" "+statements] || times != "0"
		}
	}
	all, some := map[string]float64{}, map[string]float64{}
	for block, is := range covered {
		file, _, _ := strings.Cut(block, ":")
		_, statements, _ := strings.Cut(block, " ")
		count, _ := strconv.ParseFloat(statements, 64)
		if all[path.Dir(file)] += count; is {
			some[path.Dir(file)] += count
		}
	}
	for name, count := range all {
		all[name] = float64(int(1000*some[name]/max(count, 1))) / 10
	}
	return all
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
