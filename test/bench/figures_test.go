package main

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestVerdict(t *testing.T) {
	cases := map[string]struct {
		figure Figure
		want   string
	}{
		"at least, reached":   {Figure{AtLeast: true, Must: 0.5, Reach: 0.8, Measured: 0.9, Known: true}, "reached"},
		"at least, met":       {Figure{AtLeast: true, Must: 0.5, Reach: 0.8, Measured: 0.5, Known: true}, "met"},
		"at least, missed":    {Figure{AtLeast: true, Must: 0.5, Reach: 0.8, Measured: 0.4, Known: true}, "missed"},
		"at most, reached":    {Figure{Must: 2, Reach: 1, Measured: 1, Known: true}, "reached"},
		"at most, met":        {Figure{Must: 2, Reach: 1, Measured: 1.5, Known: true}, "met"},
		"at most, missed":     {Figure{Must: 2, Reach: 1, Measured: 3, Known: true}, "missed"},
		"nothing must be":     {Figure{Must: none, Reach: 64, Measured: 100, Known: true}, "not reached"},
		"it was not measured": {Figure{Must: 2, Reach: 1}, "not measured"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			assert.EqualValues(t, tc.want, tc.figure.Verdict())
		})
	}
}

func TestRunIsVoidWithoutAYardstick(t *testing.T) {
	for seconds, void := range map[float64]bool{1.6: false, 1.8: true} {
		r := &Results{Contenders: []*Result{
			{Letter: "a", Phases: []*Phase{{Name: "install", Seconds: 1}}},
			{Letter: "b", Phases: []*Phase{{Name: "install", Seconds: seconds}}},
		}}
		r.judge()
		assert.Equal(t, void, r.Void != "", "%v × bare writes: got %q, want void: %t", seconds, r.Void, void)
	}
}

func TestLastLine(t *testing.T) {
	phase := func(name string, perSecond float64, total int, cpu float64) *Phase {
		return &Phase{Name: name, Seconds: 10 / perSecond, PerSecond: perSecond, Wanted: 10, Converged: 10, Total: total, CPU: cpu}
	}
	r := &Results{N: 10, Objects: 3, Contenders: []*Result{
		{
			Letter: "b", SettledMiB: 50, NoOp: &NoOp{Reconciles: 10, CPUMillis: 0.25},
			Phases: []*Phase{phase("install", 100, 40, 1), phase("image", 200, 20, 0.5), phase("restart", 50, 0, 0)},
		},
		{
			Letter: "e", SettledMiB: 92, NoOp: &NoOp{Reconciles: 10, CPUMillis: 0.5},
			Phases: []*Phase{phase("install", 80, 70, 3), phase("idle", 1, 0, 0), phase("image", 100, 80, 2), phase("restart", 20, 0, 0)},
		},
	}}
	r.judge()
	want := "BENCH install_vs_native=0.80 upgrade_vs_native=0.50 install_vs_stock=unknown upgrade_vs_stock=unknown " +
		"idle_requests=0 noop_ms=0.50 noop_vs_native=2 upgrade_cpu_vs_native=4 restart_vs_native=2.50 rss_vs_native=1.84 install_requests=7 objects=3"
	assert.EqualValues(t, want, r.last())
	page, err := r.page()
	for _, line := range []string{
		"| settled memory, against (b) | ≤ 1.90 × | ≤ 1.80 × | 1.84 × | met |",
		"| requests of an image change | ≤ 7 | ≤ 6 | 8 | missed |",
		"| settled after a restart | – | ≤ 1 s | 0.50 s | reached |",
	} {
		if err != nil || !strings.Contains(page, line) {
			t.Errorf("got error %v and no %q in page\n%s", err, line, page)
		}
	}
}

func TestAFigureIsUnknownWhereTheOtherCostNothing(t *testing.T) {
	r := &Results{N: 1, Objects: 3, Contenders: []*Result{
		{Letter: "b", NoOp: &NoOp{Reconciles: 1}, Phases: []*Phase{{Name: "image"}}},
		{Letter: "e", NoOp: &NoOp{Reconciles: 1, CPUMillis: 1}, Phases: []*Phase{{Name: "image", CPU: 1}}},
	}}
	r.judge()
	assert.Contains(t, r.last(), "noop_vs_native=unknown upgrade_cpu_vs_native=unknown")
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

func TestLatency(t *testing.T) {
	var durations []time.Duration
	for i := range 100 {
		durations = append(durations, time.Duration(100-i)*time.Millisecond)
	}
	if got := latency(durations, 1); got.P50 != 50 || got.P99 != 99 || got.Missed != 1 {
		t.Errorf("got %+v", got)
	}
	if got := latency(nil, 3); math.IsNaN(got.P50) || got.Count != 0 || got.Missed != 3 {
		t.Errorf("got %+v", got)
	}
}
