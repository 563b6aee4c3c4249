package main

import (
	"bytes"
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/example/appservice-operator/test/try"
)

// figure is what a step took.
type figure struct {
	title    string
	took     time.Duration
	requests int // of the manager to the API server
}

// measured does a step, and notes what it took if the manager has a part in it.
func (d *demo) measured(ctx context.Context, s step) {
	before := try.Get(d.requests(ctx))
	start := time.Now()
	s.do(ctx)
	f := figure{title: s.title, took: time.Since(start)}
	d.say("    done in %s", rounded(f.took))
	after := try.Get(d.requests(ctx))
	if f.requests = after - before; f.requests > 0 {
		d.figures = append(d.figures, f)
	}
}

// requests is how many requests the managers have sent so far.
func (d *demo) requests(ctx context.Context) (int, error) {
	if d.manager == nil || d.manager.told.Load() {
		return d.earlier, nil
	}
	present, err := d.manager.requests(ctx)
	return d.earlier + present, err
}

// requests is how many requests the manager has sent to the API server, by its own metrics.
func (m *manager) requests(ctx context.Context) (int, error) {
	text, err := read(ctx, m.metrics)
	if err != nil {
		return 0, err
	}
	return countRequests(text)
}

func countRequests(metrics []byte) (int, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(metrics))
	if err != nil {
		return 0, fmt.Errorf("cannot read the manager's metrics: %w", err)
	}
	const name = "rest_client_requests_total"
	family, found := families[name]
	if !found {
		return 0, fmt.Errorf("the manager has no metric %s", name)
	}
	total := 0.0
	for _, series := range family.GetMetric() {
		total += series.GetCounter().GetValue()
	}
	return int(total), nil
}

// sumUp shows what the steps so far took.
func (d *demo) sumUp(context.Context) {
	table := tabwriter.NewWriter(d.out, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(table, "STEP\tTIME\tREQUESTS OF THE OPERATOR")
	all := figure{title: "All of these"}
	for _, f := range d.figures {
		all.took += f.took
		all.requests += f.requests
	}
	for _, f := range append(d.figures, all) {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%d\n", f.title, rounded(f.took), f.requests)
	}
	try.Do(table.Flush())
	d.say("By its own metrics; what starts watches and asks for rights is in it. While nothing changes it sends none: docs/benchmarks.md.")
}
