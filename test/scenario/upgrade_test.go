//go:build cluster

package scenario

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// upgrades are the incidents of T6 in which another version of the operator takes over.
func upgrades() []incident {
	return []incident{
		{"T6/operator-upgraded", func(s *scene) { operatorUpgraded(s, "9.9.9") }},
		{"T6/operator-upgraded-and-back", func(s *scene) { operatorUpgraded(s, "9.9.9", "9.9.8") }},
	}
}

// operatorUpgraded restarts the operator with other versions of the chart: each AppService gets a record of it, and no pod restarts.
func operatorUpgraded(s *scene, versions ...string) {
	s.start()
	for i := range fleet {
		app := harness.Seed(s.namespace, fmt.Sprintf("app-%d", i))
		app.Labels = map[string]string{serverLabel: "nobody"}
		cluster.Create(s.T, app)
	}
	s.fleetRuns("")
	pods := s.podUIDs()
	for _, version := range versions {
		s.stop()
		s.fault()
		s.startWith(version)
		s.fleetRuns(version)
		s.still()
		s.stop()
		s.line.Start()
		s.startWith(version)
		s.still()
		if said := s.line.Said(); len(said) > 0 {
			s.Errorf("O5: a restart writes\n    %s", strings.Join(said, "\n    "))
		}
	}
	if now := s.podUIDs(); !maps.Equal(pods, now) {
		s.Errorf("there are other pods than before: %v, were %v", now, pods)
	}
	s.disband()
}

// startWith starts an operator that has the chart in another version.
func (s *scene) startWith(version string) {
	s.Helper()
	dir := files.Charts(s)
	file := filepath.Join(dir, "helm-charts/appservice/Chart.yaml")
	lines := strings.Split(string(files.Text(s, file)), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "version:") {
			lines[i] = "version: " + version
		}
	}
	files.Write(s, file, strings.Join(lines, "\n"))
	s.process = launch(s.T, s.as, s.namespace, s.view, func(options *operator.Options, _ *harness.Requests) { options.ChartDir = dir })
	s.process.Synced(s.T)
}
