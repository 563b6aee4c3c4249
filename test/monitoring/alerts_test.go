//go:build cluster

package monitoring

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/tools/toolchain"
)

const runbooks = "https://github.com/example/appservice-operator/blob/main/docs/runbooks.md#"

func alerts(t *testing.T) []Alert {
	t.Helper()
	rules, err := Rules()
	require.NoError(t, err)
	list := rules.Alerts()
	require.NotEmpty(t, list, "there are no alerts")
	return list
}

func TestEachAlertSaysWhatItMeansAndHasARunbook(t *testing.T) {
	text, err := read("docs/runbooks.md")
	require.NoError(t, err)
	sections := map[string]string{}
	for _, section := range strings.Split(string(text), "\n## ")[1:] {
		title, rest, _ := strings.Cut(section, "\n")
		sections[title] = rest
	}
	for _, alert := range alerts(t) {
		if severity := alert.Labels["severity"]; severity != "warning" && severity != "critical" {
			t.Errorf("%s has the severity %q", alert.Name, severity)
		}
		if alert.Annotations["summary"] == "" || alert.Annotations["description"] == "" || alert.For == "" {
			t.Errorf("%s lacks a summary, a description or a time to wait", alert.Name)
		}
		if want := runbooks + strings.ToLower(alert.Name); alert.Annotations["runbook_url"] != want {
			t.Errorf("%s has the runbook %s, want %s", alert.Name, alert.Annotations["runbook_url"], want)
		}
		section, found := sections[alert.Name]
		for _, part := range []string{"**Means**", "**Look**", "**Do**"} {
			if !found || !strings.Contains(section, part) {
				t.Errorf("docs/runbooks.md has no section %s with %s", alert.Name, part)
			}
		}
		delete(sections, alert.Name)
	}
	for title := range sections {
		t.Errorf("docs/runbooks.md has a section %s, which is not an alert", title)
	}
}

// TestAlerts lets promtool play the cases: each alert fires where it should, and not where it should not.
func TestAlerts(t *testing.T) {
	programs, err := toolchain.Ensure(t.Context(), os.Stderr, "promtool")
	require.NoError(t, err)
	dir := t.TempDir()
	rules, err := Rules()
	require.NoError(t, err)
	require.NoError(t, rules.Write(filepath.Join(dir, "all.yaml")))
	for _, alert := range rules.Alerts() { // the others say the same each time
		delete(alert.Annotations, "description")
		delete(alert.Annotations, "runbook_url")
	}
	require.NoError(t, rules.Write(filepath.Join(dir, "rules.yaml")))
	promtool := func(args ...string) {
		t.Helper()
		command := exec.CommandContext(t.Context(), programs["promtool"], args...)
		command.Dir = dir
		if out, err := command.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	promtool("check", "rules", "all.yaml")
	for _, file := range cases(t) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		name := "case-" + filepath.Base(file)
		files.Write(t, filepath.Join(dir, name), string(text))
		promtool("test", "rules", name)
	}
}

func cases(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("alerts/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("got the files %v (error %v)", files, err)
	}
	return files
}

func TestEachAlertIsSeenToFireAndToBeSilent(t *testing.T) {
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, file := range cases(t) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var content struct {
			Tests []struct {
				Rules []struct {
					Alert  string `json:"alertname"`
					Alerts []any  `json:"exp_alerts"`
				} `json:"alert_rule_test"`
			} `json:"tests"`
		}
		if err := yaml.Unmarshal(text, &content); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, test := range content.Tests {
			for _, rule := range test.Rules {
				fires[rule.Alert] = fires[rule.Alert] || len(rule.Alerts) > 0
				silent[rule.Alert] = silent[rule.Alert] || len(rule.Alerts) == 0
			}
		}
	}
	for _, alert := range alerts(t) {
		if !fires[alert.Name] || !silent[alert.Name] {
			t.Errorf("%s: it is seen to fire: %t, to be silent: %t", alert.Name, fires[alert.Name], silent[alert.Name])
		}
	}
}

func TestNamesOfAlerts(t *testing.T) {
	seen := map[string]bool{}
	for _, alert := range alerts(t) {
		if !regexp.MustCompile(`^AppService[A-Z][A-Za-z]+$`).MatchString(alert.Name) || seen[alert.Name] {
			t.Errorf("%q does not begin with AppService, or is there twice", alert.Name)
		}
		seen[alert.Name] = true
	}
}

// Objects that need the API of another project are optional, and not part of the default installation.
func TestWhatIsDeployedByDefaultNeedsNoForeignAPI(t *testing.T) {
	resources := func(folder string) []string {
		t.Helper()
		text, err := read("config/" + folder + "/kustomization.yaml")
		require.NoError(t, err)
		var content struct {
			Resources []string `json:"resources"`
		}
		require.NoError(t, yaml.Unmarshal(text, &content))
		return content.Resources
	}
	if list := resources("default"); slices.Contains(list, "../prometheus") || slices.Contains(list, "../grafana") {
		t.Errorf("config/default has %v", list)
	}
	if list := resources("prometheus"); !slices.Equal(list, []string{"monitor.yaml", "rules.yaml"}) {
		t.Errorf("config/prometheus has %v", list)
	}
}
