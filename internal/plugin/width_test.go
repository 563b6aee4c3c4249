package plugin

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/internal/plugin/tree"
)

// columns is the width of the terminal in these tests.
const columns = 80

func TestTheTextOfATableGoesBelowItsRow(t *testing.T) {
	heading := []string{"NAME", "PHASE", "REPLICAS", "HELD BACK", "AGE", "MESSAGE"}
	rows := [][]string{
		{"web", "Degraded", "1/2", noValue, "5m", `ContainerCrashed: container "app" crashes with exit code 1: could not connect to server; the previous version still serves`},
		{"api", "Running", "2/2", noValue, "5m", noValue},
	}
	var out bytes.Buffer
	require.NoError(t, printTable(&out, columns, 3, heading, rows))
	assert.Equal(t, strings.TrimPrefix(`
NAME   PHASE      REPLICAS   HELD BACK   AGE
web    Degraded   1/2        -           5m
    ContainerCrashed: container "app" crashes with exit code 1: could not
    connect to server; the previous version still serves
api    Running    2/2        -           5m
`, "\n"), out.String())

	for _, width := range []int{0, widest} {
		out.Reset()
		require.NoError(t, printTable(&out, width, 3, heading, rows))
		assert.Equal(t, 3, strings.Count(out.String(), "\n"), "lines, with a width of %d", width)
		assert.Contains(t, out.String(), "AGE   MESSAGE\n")
	}
}

func TestATreeKeepsItsLinesWhenItsTextIsWrapped(t *testing.T) {
	hint := &tree.Node{Type: tree.TypeHint, Name: "hint", Message: "see the log of the container that crashed: kubectl logs --namespace=shop web-5b8b4c7d9-abcde --container=app --previous"}
	root := &tree.Node{Type: tree.TypeResource, Name: "AppService web", State: tree.StateFailed, Children: []*tree.Node{
		{Type: tree.TypeCondition, Name: "Ready=False", State: tree.StateFailed,
			Message:  `ContainerCrashed: container "app" crashes with exit code 1: django.db.utils.OperationalError: could not connect`,
			Children: []*tree.Node{{Type: tree.TypeObject, Name: "Deployment web", Children: []*tree.Node{hint}}}},
		{Type: tree.TypeCause, Name: "NoMetrics", State: tree.StateWarning, Message: "the autoscaler has no metrics of the pods, so that it keeps the number of replicas"},
	}}
	var out bytes.Buffer
	paint := func(state tree.State, text string) string {
		if state == "" {
			return text
		}
		return "<" + text + ">"
	}
	require.NoError(t, root.Print(&out, paint, time.Time{}, columns))
	assert.Equal(t, strings.TrimPrefix(`
<AppService web>
├─ <Ready=False>  ContainerCrashed: container "app" crashes with exit code 1:
│  │  django.db.utils.OperationalError: could not connect
│  └─ Deployment web
│     └─ hint: see the log of the container that crashed:
│           kubectl logs --namespace=shop web-5b8b4c7d9-abcde --container=app --previous
└─ <NoMetrics>: the autoscaler has no metrics of the pods, so that it keeps the
      number of replicas
`, "\n"), out.String())
}

func TestErrorsAreWrapped(t *testing.T) {
	long := "error: cannot read appservice/web: " + strings.Repeat("the server is away ", 8) + "\n  line of its own"
	got := wrapped(long, columns, "  ")
	for line := range strings.Lines(got) {
		assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), columns)
	}
	assert.Equal(t, strings.Fields(long), strings.Fields(got))
	assert.Contains(t, got, "\n  line of its own")
	assert.Equal(t, long, wrapped(long, 0, "  "))
	var buffer bytes.Buffer
	assert.Zero(t, width(visibly(&buffer)), "nothing is wrapped in a pipe or a file")
}
