// Command selectors reads PromQL expressions, a JSON list of strings, and prints for each which metrics it reads,
// with the labels that it names, as a JSON list of lists. It belongs to the tests of dashboards and alerts, and lives
// here so that nothing else needs Prometheus' parser.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
)

// Selector is a metric that an expression reads.
type Selector struct {
	Metric string   `json:"metric"`
	Labels []string `json:"labels"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "selectors:", err)
		os.Exit(1)
	}
}

func run() error {
	var expressions []string
	if err := json.NewDecoder(os.Stdin).Decode(&expressions); err != nil {
		return fmt.Errorf("cannot read expressions: %w", err)
	}
	out := make([][]Selector, len(expressions))
	for i, text := range expressions {
		expression, err := parser.NewParser(parser.Options{}).ParseExpr(text)
		if err != nil {
			return fmt.Errorf("cannot parse %q: %w", text, err)
		}
		out[i] = selectors(expression)
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

func selectors(expression parser.Expr) []Selector {
	list := []Selector{}
	parser.Inspect(expression, func(node parser.Node, _ []parser.Node) error {
		vector, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		selector := Selector{Metric: vector.Name, Labels: []string{}}
		for _, matcher := range vector.LabelMatchers {
			if matcher.Name != model.MetricNameLabel {
				selector.Labels = append(selector.Labels, matcher.Name)
			}
		}
		list = append(list, selector)
		return nil
	})
	return list
}
