package suites

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// chartTests runs the charts' own tests on a copy: helm-unittest leaves folders beside them, which would be in images
// of the charts.
func chartTests(r *runner) error {
	copied, err := os.MkdirTemp("", "appservice-charts-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(copied) }()
	if err := os.CopyFS(copied, os.DirFS(filepath.Join(r.root, "helm-charts"))); err != nil {
		return fmt.Errorf("cannot copy the charts: %w", err)
	}
	charts, err := filepath.Glob(filepath.Join(copied, "*"))
	if err != nil {
		return err
	}
	args := append(words("go tool -modfile="+filepath.Join(r.root,
		"tools/pins/helm-unittest/go.mod")+" helm-unittest --strict"), charts...)
	return command{args: args}.run(r)
}

// olderVersions runs the integration tests on each older version of Kubernetes, and sums up.
func olderVersions(r *runner) error {
	line, errs := "VERSIONS", []error(nil)
	for _, version := range strings.Fields(parameter("OLDER_VERSIONS", "1.34 1.35")) {
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

// diagnosis runs tests of problems, each of which is a test within another, and counts those that were explained.
func diagnosis(r *runner) error {
	simulated, err := tests{folder: "test/integration", race: true, args: []string{"-test.v", "-test.parallel=8",
		"-test.run=" +
			"^(TestDiagnosis|TestACrashLoopDoesNotFlap|TestARestartOfTheOperatorChangesNoDiagnosis|TestWhatIsWellIsNotLookedAt)$"}}.compile(r)
	if err != nil {
		return err
	}
	causes, correct, errs := 0, 0, []error(nil)
	recorded := command{args: words("go test -count=1 -v -run ^TestRecorded ./test/diagnosis ./internal/controller/release")}
	for _, c := range []command{recorded, simulated} {
		var output bytes.Buffer
		process := r.command(c)
		process.Stdout, process.Stderr = io.MultiWriter(os.Stdout, &output), os.Stderr
		errs = append(errs, process.Run())
		causes += len(started.FindAll(output.Bytes(), -1))
		correct += len(passed.FindAll(output.Bytes(), -1))
	}
	fmt.Printf("DIAGNOSIS causes=%d correct=%d\n", causes, correct)
	if causes == 0 || causes != correct {
		errs = append(errs, errors.New("not each cause was found"))
	}
	return errors.Join(errs...)
}

var (
	started = regexp.MustCompile(`(?m)^=== RUN   Test[^/\n]*/`)
	passed  = regexp.MustCompile(`(?m)^ *--- PASS: Test[^/\n]*/`)
	fuzzer  = regexp.MustCompile(`(?m)^func (Fuzz[A-Za-z]*)\(`)
)

// fuzz runs the fuzzers whose file or name matches FUZZ one after the other, until one finds something.
func fuzz(r *runner) error {
	wanted, err := regexp.Compile(parameter("FUZZ", "."))
	if err != nil {
		return fmt.Errorf("cannot use FUZZ: %w", err)
	}
	repository := os.DirFS(r.root)
	visit := func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		source, err := fs.ReadFile(repository, name)
		if err != nil {
			return err
		}
		for _, found := range fuzzer.FindAllStringSubmatch(string(source), -1) {
			if !wanted.MatchString(name + ":" + found[0]) {
				continue
			}
			folder := filepath.Dir(name)
			fmt.Printf("==> %s of %s\n", found[1], folder)
			args := words("go test ./" + folder + " -run ^$ -fuzz ^" + found[1] + "$ -fuzzminimizetime 10s -fuzztime " + parameter("FUZZTIME", "1m"))
			if err := (command{args: args, flags: "FUZZFLAGS"}).run(r); err != nil {
				return err
			}
		}
		return nil
	}
	return errors.Join(fs.WalkDir(repository, "api", visit), fs.WalkDir(repository, "internal", visit))
}
