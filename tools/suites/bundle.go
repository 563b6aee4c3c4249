package suites

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
)

// validators runs those of operator-sdk: its suite, and those that OperatorHub.io and community-operators require.
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
