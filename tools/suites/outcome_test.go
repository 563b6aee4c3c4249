package suites

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheTestsThatFailedAreListed(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "1.json"), []byte(`{"Action":"output","Test":"TestOne","Output":"    one_test.go:3: got 1, want 2\n"}
{"Action":"output","Test":"TestTwo","Output":"    two_test.go:9: done\n"}
{"Action":"output","Test":"TestThree/case","Output":"        three_test.go:4: \n"}
{"Action":"fail","Test":"TestOne"}
{"Action":"output","Test":"TestThree/case","Output":"        \tError:      \tNot equal\n"}
{"Action":"output","Test":"TestThree/case","Output":"WARNING: DATA RACE\n"}
{"Action":"fail","Test":"TestThree/case"}
{"Action":"pass","Test":"TestTwo"}
{"Action":"fail","Test":"TestThree"}
{"Action":"output","Output":"FAULTS plans=3 failed=1\n"}
{"Action":"fail"}
{"Action":"fa`), 0o600))
	var all outcome
	require.NoError(t, all.read(folder))
	require.Equal(t, outcome{[]string{"FAIL TestOne: one_test.go:3: got 1, want 2", "FAIL TestThree/case: three_test.go:4: Error: Not equal", "FAIL TestThree: "},
		1, " FAULTS plans=3 failed=1"}, all)
}
