//go:build cluster

package scenario

import (
	"cmp"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// serverLabel says which operator serves an AppService: the one that plans share, or one of its own that may die.
const serverLabel = "faults.example.com/server"

// wire is between all operators and the API server.
var wire harness.Wire

// process is an operator that is started again when it has died.
type process struct {
	*harness.Manager
	incarnation *harness.Incarnation
	start       func() (*harness.Manager, *harness.Incarnation)
	deaths      int
}

// launch starts an operator for one namespace, which sees the cluster through a view, and has the rights of the given account.
func launch(t *testing.T, as *harness.Cluster, namespace string, view *harness.View, change ...func(*operator.Options, *harness.Requests)) *process {
	t.Helper()
	p := &process{start: func() (*harness.Manager, *harness.Incarnation) {
		incarnation := wire.Incarnation()
		connected := func(options *operator.Options, requests *harness.Requests) {
			options.ChartDir = cmp.Or(options.ChartDir, chartDir)
			requests.Below = func(next http.RoundTripper) http.RoundTripper { return incarnation.Wrap(view.Wrap(next)) }
		}
		return as.Launch(t, namespace, append(change, connected)...), incarnation
	}}
	p.restart()
	return p
}

// restart starts the operator again, which has ended.
func (p *process) restart() { p.Manager, p.incarnation = p.start() }

// revive starts the operator again if it has died, and reports whether it has.
func (p *process) revive() bool {
	select {
	case <-p.incarnation.Died():
	default:
		return false
	}
	p.Kill()
	p.deaths++
	p.restart()
	return true
}

// shared starts an operator that serves all AppServices and AppJobs with a label, in whatever namespace they are.
func shared(t *testing.T, server string, change ...func(*operator.Options)) *harness.Manager {
	t.Helper()
	file := filepath.Join(t.TempDir(), "watches.yaml")
	text := ""
	for _, kind := range []string{v1.Kind, jobKind} {
		text += fmt.Sprintf("- {group: app.example.com, version: v1, kind: %s, chart: helm-charts/%s, selector: {matchLabels: {%s: %q}}}\n",
			kind, strings.ToLower(kind), serverLabel, server)
	}
	files.Write(t, file, text)
	return cluster.Manager(t, "", func(options *operator.Options, requests *harness.Requests) {
		options.WatchNamespaces, options.WatchesFile, options.ChartDir = nil, file, chartDir
		requests.Below = wire.Incarnation().Wrap
		for _, apply := range change {
			apply(options)
		}
	})
}
