//go:build cluster

package monitoring

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "sigs.k8s.io/controller-runtime/pkg/controller" // registers its metrics
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator/metrics"
	"github.com/example/appservice-operator/test/files"
)

// selector is a metric that an expression asks for.
type selector struct {
	Metric string
	Labels []string
}

// selectors parses expressions, as Prometheus does.
func selectors(t *testing.T, expressions []string) [][]selector {
	t.Helper()
	in, err := json.Marshal(expressions)
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), "go", "run", "-C", filepath.Join(files.Root(t), "tools/pins/prometheus"), "./selectors")
	var stderr bytes.Buffer
	command.Stdin, command.Stderr = bytes.NewReader(in), &stderr
	out, err := command.Output()
	require.NoError(t, err, "cannot parse expressions: %v\n%s", err, &stderr)
	var list [][]selector
	require.NoError(t, json.Unmarshal(out, &list))
	return list
}

// description is what prometheus.Desc prints of itself: it has no other way to read it.
var description = regexp.MustCompile(`^Desc\{fqName: "(\w+)", .* variableLabels: \{([^}]*)\}\}$`)

// served are the labels of all metrics that a manager registers, by name.
func served(t *testing.T) map[string][]string {
	t.Helper()
	if _, err := metrics.Register(ctrlmetrics.Registry); err != nil {
		t.Fatal(err)
	}
	descriptions := make(chan *prometheus.Desc, 1000)
	ctrlmetrics.Registry.(prometheus.Collector).Describe(descriptions)
	close(descriptions)
	out := map[string][]string{}
	for each := range descriptions {
		match := description.FindStringSubmatch(each.String())
		require.NotNil(t, match, "cannot read %s", each)
		out[match[1]] = strings.Split(match[2], ",")
	}
	return out
}

// lookUp finds a metric by the name that an expression has for it, which may be that of a part of a histogram.
func lookUp(all map[string][]string, name string) (labels []string, found bool) {
	if labels, found = all[name]; found {
		return labels, true
	}
	for _, part := range []string{"_bucket", "_count", "_sum"} {
		if whole, is := strings.CutSuffix(name, part); is {
			if labels, found = all[whole]; found {
				return append([]string{"le"}, labels...), true
			}
		}
	}
	return nil, false
}

// attached are labels that Prometheus adds to each series.
var attached = []string{"job", "instance"}

func TestQueriesAndAlertsNameMetricsThatThereAre(t *testing.T) {
	queries, err := Queries()
	require.NoError(t, err)
	for _, alert := range alerts(t) {
		queries = append(queries, Query{"rules.yaml", alert.Name, alert.Expr})
	}
	expressions := make([]string, len(queries))
	for i, query := range queries {
		expressions[i] = query.Expr
	}
	all, used := served(t), map[string]bool{}
	for i, list := range selectors(t, expressions) {
		assert.NotEmpty(t, list, "%s asks for no metric", queries[i])
		for _, selector := range list {
			labels, found := lookUp(all, selector.Metric)
			if !found {
				t.Errorf("%s asks for %q, which the manager does not serve", queries[i], selector.Metric)
				continue
			}
			used[selector.Metric] = true
			for _, label := range selector.Labels {
				if !slices.Contains(labels, label) && !slices.Contains(attached, label) {
					t.Errorf("%s asks for %s by the label %q, which it does not have", queries[i], selector.Metric, label)
				}
			}
		}
	}
	for name := range all {
		if strings.HasPrefix(name, "appservice_") && !used[name] && !used[name+"_bucket"] && !used[name+"_count"] {
			t.Errorf("nobody looks at %s", name)
		}
	}
}

func TestDashboards(t *testing.T) {
	files, err := Dashboards()
	require.NoError(t, err)
	list, err := read("config/grafana/kustomization.yaml")
	require.NoError(t, err)
	uids := map[string]bool{}
	for _, file := range files {
		board, err := load(file)
		require.NoError(t, err)
		if board.UID == "" || uids[board.UID] {
			t.Errorf("%s has no uid of its own: %q", file, board.UID)
		}
		uids[board.UID] = true
		assert.Contains(t, string(list), "- "+filepath.Base(file)+"\n", "config/grafana/kustomization.yaml does not list %s", filepath.Base(file))
		ids := map[int]bool{}
		for _, panel := range board.Panels {
			if ids[panel.ID] || panel.Title == "" || panel.Type != "row" && (panel.Description == "" || len(panel.Targets) == 0) {
				t.Errorf("%s: panel %d %q has no id, title, description or query of its own", file, panel.ID, panel.Title)
			}
			ids[panel.ID] = true
		}
	}
}

// A reason among the resources that are not ready leads to its section: GitHub finds a heading in any case.
func TestAReasonLinksToItsSection(t *testing.T) {
	board, err := read("config/grafana/fleet.json")
	require.NoError(t, err)
	found := regexp.MustCompile(`"url": "https://[^"]*/blob/main/([^"#]+)#\$\{__data\.fields\.reason\}"`).FindSubmatch(board)
	require.NotNil(t, found, "no link has the reason")
	page, err := read(string(found[1]))
	require.NoError(t, err)
	assert.Contains(t, string(page), "\n### "+v1.ReasonImageNotFound+"\n")
}
