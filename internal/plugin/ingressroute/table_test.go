package ingressroute

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the table into the page")

// allowed are the annotations of ingress-nginx that the built-in policy allows.
func allowed(t *testing.T) (list []string) {
	t.Helper()
	text, err := os.ReadFile("../../operator/policy/shared.yaml")
	require.NoError(t, err)
	for _, line := range regexp.MustCompile(`(?m)^    - nginx\.ingress\.kubernetes\.io/([^\s=]+)`).FindAllSubmatch(text, -1) {
		list = append(list, string(line[1]))
	}
	return list
}

func TestTheTableHasWhatTheBuiltInPolicyAllows(t *testing.T) {
	var rows []string
	for _, row := range Table {
		rows = append(rows, row.Annotation)
		assert.True(t, row.Field != "" || row.Why != "", "%s: neither a field nor a reason", row.Annotation)
		assert.True(t, row.Field == "" || row.convert != nil, "%s is not converted", row.Annotation)
	}
	assert.Equal(t, allowed(t), rows)
}

const page = "../../../docs/ingress-to-route.md"

func TestThePageHasTheTable(t *testing.T) {
	var out strings.Builder
	var order []string
	annotations := map[string][]string{} // those with the same answer share a row
	for _, row := range Table {
		field := "–"
		if row.Field != "" {
			field = "`" + strings.ReplaceAll("spec.route."+row.Field, "spec.route.ports", "spec.ports") + "`"
		}
		why := row.Why
		if why != "" {
			why = strings.ToUpper(why[:1]) + why[1:]
		}
		answer := fmt.Sprintf("%s | %s", field, strings.ReplaceAll(why, "|", `\|`))
		if annotations[answer] == nil {
			order = append(order, answer)
		}
		annotations[answer] = append(annotations[answer], "`"+row.Annotation+"`")
	}
	for _, answer := range order {
		fmt.Fprintf(&out, "| %s | %s |\n", strings.Join(annotations[answer], ", "), answer)
	}
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	from := slices.Index(lines, "|---|---|---|\n") + 1
	to := from + slices.IndexFunc(lines[from:], func(line string) bool { return !strings.HasPrefix(line, "|") })
	if *update {
		whole := strings.Join(lines[:from], "") + out.String() + strings.Join(lines[to:], "")
		require.NoError(t, os.WriteFile(page, []byte(whole), 0o600))
		return
	}
	assert.Equal(t, out.String(), strings.Join(lines[from:to], ""), "go test ./internal/plugin/ingressroute -update writes it")
}
