package harness

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/api"
	prometheusv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/tools/processes"
	"github.com/example/appservice-operator/tools/toolchain"
)

// Prometheus is a real one that scrapes one target every few seconds, which is also its scrape timeout.
type Prometheus struct {
	prometheusv1.API
}

// prometheusConfig has the addresses of the rules and of the target. Labels are honored as in config/prometheus.
const prometheusConfig = `global: {scrape_interval: 5s, scrape_timeout: 5s, evaluation_interval: 1s}
rule_files: [%q]
scrape_configs:
- {job_name: operator, honor_labels: true, static_configs: [{targets: [%q]}]}
`

// StartPrometheus scrapes a target, as in 127.0.0.1:8080, with the rules of a file. It ends with the test.
func StartPrometheus(t *testing.T, target, rules string) *Prometheus {
	t.Helper()
	programs, err := toolchain.Ensure(t.Context(), os.Stderr, "prometheus")
	require.NoError(t, err)
	dir, address := t.TempDir(), FreeAddress(t)
	config := filepath.Join(dir, "prometheus.yaml")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, prometheusConfig, rules, target), 0o644))
	log, err := os.Create(filepath.Join(dir, "log"))
	require.NoError(t, err)
	command := exec.Command(programs["prometheus"], "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+address, "--log.level=warn")
	command.Stdout, command.Stderr = log, log
	running, err := processes.Start(command)
	require.NoError(t, err)
	t.Cleanup(func() {
		running.Kill()
		_ = log.Close()
		if text, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("Prometheus says: %s", text)
		}
	})
	client, err := api.NewClient(api.Config{Address: "http://" + address})
	require.NoError(t, err)
	p := &Prometheus{prometheusv1.NewAPI(client)}
	Eventually(t, "Prometheus answers", func() error {
		_, err := p.Buildinfo(t.Context())
		return err
	})
	return p
}

// Value evaluates an expression that returns one number; an error if it returns none, or several.
func (p *Prometheus) Value(ctx context.Context, expression string) (float64, error) {
	result, _, err := p.Query(ctx, expression, time.Now())
	if err != nil {
		return 0, err
	}
	vector, ok := result.(model.Vector)
	if !ok || len(vector) != 1 {
		return 0, fmt.Errorf("%s gives %s, want one value", expression, result)
	}
	return float64(vector[0].Value), nil
}

// FreeAddress returns a loopback address that is free to listen on.
func FreeAddress(t *testing.T) string {
	t.Helper()
	addresses, err := processes.FreeAddresses(1)
	require.NoError(t, err)
	return addresses[0]
}
