package suites

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
)

var (
	started = regexp.MustCompile(`(?m)^=== RUN   Test[^/\n]*/`)
	passed  = regexp.MustCompile(`(?m)^ *--- PASS: Test[^/\n]*/`)
)

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
