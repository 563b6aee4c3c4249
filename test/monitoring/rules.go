// Package monitoring reads the alerts and dashboards that config/ ships, for the tests that hold them against the
// existing metrics: its own, and the integration test that scrapes a running manager.
package monitoring

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/tools/toolchain"
)

// Alert is one rule.
type Alert struct {
	Name        string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// Groups are what a rules file of Prometheus holds.
type Groups struct {
	Groups []Group `json:"groups"`
}

// Group is rules that are evaluated together.
type Group struct {
	Name  string  `json:"name"`
	Rules []Alert `json:"rules"`
}

// Rules reads the groups of config/prometheus/rules.yaml.
func Rules() (*Groups, error) {
	text, err := read("config/prometheus/rules.yaml")
	if err != nil {
		return nil, err
	}
	var rule struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Metadata   map[string]any `json:"metadata"`
		Spec       Groups         `json:"spec"`
	}
	if err := yaml.UnmarshalStrict(text, &rule); err != nil {
		return nil, fmt.Errorf("cannot parse the rules: %w", err)
	}
	return &rule.Spec, nil
}

// Alerts lists the rules of all groups.
func (g *Groups) Alerts() []Alert {
	var list []Alert
	for _, group := range g.Groups {
		list = append(list, group.Rules...)
	}
	return list
}

// Write makes a rules file of Prometheus.
func (g *Groups) Write(file string) error {
	text, err := json.Marshal(g) // which is YAML, too
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// read reads a file of the repository.
func read(path string) ([]byte, error) {
	root, err := toolchain.Root()
	if err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(root, path))
}
