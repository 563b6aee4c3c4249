package suites

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// vulnerabilities looks up those of the modules in the manager. Without a network nothing is looked up, which fails
// no build.
func vulnerabilities(r *runner) error {
	var output bytes.Buffer
	check := r.command(command{args: words("go tool -modfile=" + filepath.Join(r.root, "tools/pins/govulncheck/go.mod") +
		" govulncheck -mode=binary bin/manager")})
	check.Stdout, check.Stderr = &output, &output
	err := check.Run()
	if err != nil && strings.Contains(output.String(), "fetching vulnerabilities") {
		fmt.Println("govulncheck cannot reach the database of vulnerabilities: nothing was looked up.")
		return nil
	}
	fmt.Print(output.String())
	return err
}

// validators runs those of operator-sdk: its suite, and what OperatorHub.io and community-operators ask for besides.
// These two say of themselves that they are deprecated; any other warning is a failure.
func validators(r *runner) error {
	for _, validator := range []string{"suite=operatorframework", "name=operatorhub", "name=community"} {
		var log bytes.Buffer
		validate := r.command(command{args: words(
			"go run ./tools/cmd/tool operator-sdk bundle validate ./bundle --select-optional " + validator)})
		validate.Stdout, validate.Stderr = os.Stdout, &log
		err := validate.Run()
		for line := range strings.Lines(log.String()) {
			fmt.Fprintf(os.Stderr, "%s: %s", validator, line)
			if err == nil && strings.Contains(line, "level=warning") && !strings.Contains(line, "validator is deprecated") {
				err = errors.New("it warns")
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", validator, err)
		}
	}
	return nil
}
