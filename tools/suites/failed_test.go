package suites

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// gotestsum passes on the output of go test -v, where lines of tests that run at the same time alternate, and sums up at the end.
func TestTheTestsThatFailedAreListed(t *testing.T) {
	var failed failedTests
	for _, text := range []string{
		"=== RUN   TestOne\n=== RUN   TestTwo\n    two_test.go:7: begun\n=== NAME  TestOne\n    one_te",
		"st.go:3: got 1, want 2\n--- FAIL: TestOne (0.1s)\n=== NAME  TestTwo\n    two_test.go:9: done\n--- PASS: TestTwo (1s)\n",
		"=== Failed\n=== FAIL: test/x TestOne (0.10s)\n",
		"=== FAIL: test/x TestThree (0.00s)\n=== FAIL: test/x TestThree/case (0.00s)\n    --- FAIL: TestThree/case (0.00s)\n        three_test.go:4: \n",
		"        \tError:      \tNot equal\nWARNING: DATA RACE\n",
	} {
		_, err := failed.Write([]byte(text))
		require.NoError(t, err)
	}
	var out strings.Builder
	failed.print(&out)
	require.Equal(t, `FAIL TestOne: one_test.go:3: got 1, want 2
FAIL TestThree: 
FAIL TestThree/case: three_test.go:4: Error: Not equal
DATA RACE reported 1 times
`, out.String())
}
