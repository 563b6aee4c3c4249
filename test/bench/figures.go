package main

import (
	"fmt"
	"math"
	"strconv"
)

// Figure is a figure with bounds: the must, the goal, and what was measured.
type Figure struct {
	Name     string  `json:"name"`
	Unit     string  `json:"unit"`
	AtLeast  bool    `json:"atLeast"` // else at most
	Must     float64 `json:"must"`
	Reach    float64 `json:"reach"`
	Measured float64 `json:"measured"`
	Known    bool    `json:"known"` // whether it was measured

	// The least and the largest value of all rounds, if there were several.
	Least   float64 `json:"least,omitempty"`
	Largest float64 `json:"largest,omitempty"`
}

// imageChange is the figure that decides which round is shown.
const imageChange = "image change of all, against (b)"

// none is the bound of a figure without a must.
const none = -1

// Verdict in a word.
func (f Figure) Verdict() string {
	within := func(bound float64) bool {
		return f.Measured == bound || (f.Measured > bound) == f.AtLeast
	}
	switch {
	case !f.Known:
		return "not measured"
	case within(f.Reach):
		return "reached"
	case f.Must == none:
		return "not reached"
	case within(f.Must):
		return "met"
	default:
		return "missed"
	}
}

func (f Figure) bound(value float64) string {
	sign := "≤"
	if f.AtLeast {
		sign = "≥"
	}
	return fmt.Sprintf("%s %s%s", sign, short(value), f.Unit)
}

func (f Figure) measured() string {
	if !f.Known {
		return "–"
	}
	if f.Least < f.Largest {
		return fmt.Sprintf("%s%s (%s–%s)", short(f.Measured), f.Unit, short(f.Least), short(f.Largest))
	}
	return short(f.Measured) + f.Unit
}

// mostOverhead is how much longer than bare writes the plain controller may take, or it is not a yardstick.
const mostOverhead = 1.7

// judge computes the figures, and whether the run is void.
func (r *Results) judge() {
	bare, native, stock, ours, kro := r.of("a"), r.of("b"), r.of("c"), r.of("e"), r.of("f")
	if a, b := bare.phase("install"), native.phase("install"); a != nil && b != nil && b.Seconds > mostOverhead*a.Seconds {
		r.Void = fmt.Sprintf("the plain controller took %.2f × as long as bare writes, at most %.1f × is allowed", b.Seconds/a.Seconds, mostOverhead)
	}
	perResource := func(phase *Phase) float64 {
		if phase == nil || phase.Wanted == 0 {
			return math.NaN()
		}
		return float64(phase.Total) / float64(phase.Wanted)
	}
	noop, nativeNoop := r.noop("e"), r.noop("b")
	aloneP99, rss, kroRSS, drift := math.NaN(), math.NaN(), math.NaN(), math.NaN()
	if ours != nil && ours.Alone != nil {
		aloneP99 = ours.Alone.P99
	}
	if ours != nil && native != nil && native.SettledMiB > 0 {
		rss = ours.SettledMiB / native.SettledMiB
	}
	if ours != nil && kro != nil && kro.SettledMiB > 0 {
		kroRSS = ours.SettledMiB / kro.SettledMiB
	}
	if ours != nil && kro != nil && ours.Drift != nil && kro.Drift != nil {
		drift = ours.Drift.P50 / kro.Drift.P50
	}
	objects := float64(r.Objects)
	settle := math.Ceil(float64(r.N) / 1000) // each thousand begun
	perSecond := func(p *Phase) float64 { return p.PerSecond }
	cpu := func(p *Phase) float64 { return p.CPU }
	seconds := func(p *Phase) float64 { return p.Seconds }
	r.Figures = []Figure{
		{Name: "requests of a reconcile with nothing to do", Must: 0, Reach: 0, Measured: noop.Requests},
		{Name: "requests in 30 s idle, besides watches and leases", Must: 0, Reach: 0, Measured: of(ours.phase("idle"), func(p *Phase) float64 { return float64(p.Total) })},
		{Name: "install, against (b)", Unit: " ×", AtLeast: true, Must: 0.5, Reach: 0.8, Measured: ratio(ours, native, "install", perSecond)},
		{Name: "install, against (c)", Unit: " ×", AtLeast: true, Must: 2.6, Reach: 4, Measured: ratio(ours, stock, "install", perSecond)},
		{Name: imageChange, Unit: " ×", AtLeast: true, Must: 0.33, Reach: 0.42, Measured: ratio(ours, native, "image", perSecond)},
		{Name: "image change of all, against (c)", Unit: " ×", AtLeast: true, Must: 8, Reach: 15, Measured: ratio(ours, stock, "image", perSecond)},
		{Name: "CPU of a reconcile with nothing to do, against (b)", Unit: " ×", Must: 3, Reach: 2.1, Measured: noop.CPUMillis / nativeNoop.CPUMillis},
		{Name: "CPU of an image change of all, against (b)", Unit: " ×", Must: 6.5, Reach: 4.2, Measured: ratio(ours, native, "image", cpu)},
		{Name: "settled memory, against (b)", Unit: " ×", Must: 1.9, Reach: 1.8, Measured: rss},
		{Name: "settled after a restart, against (b)", Unit: " ×", Must: 4.5, Reach: 2.5, Measured: ratio(ours, native, "restart", seconds)},
		{Name: "install, against (f)", Unit: " ×", AtLeast: true, Must: 0.95, Reach: 1, Measured: ratio(ours, kro, "install", perSecond)},
		{Name: "CPU of an install, against (f)", Unit: " ×", Must: 1.05, Reach: 1, Measured: ratio(ours, kro, "install", cpu)},
		{Name: "image change of all, against (f)", Unit: " ×", AtLeast: true, Must: 1, Reach: 1.5, Measured: ratio(ours, kro, "image", perSecond)},
		{Name: "CPU of an image change of all, against (f)", Unit: " ×", Must: 1, Reach: 0.75, Measured: ratio(ours, kro, "image", cpu)},
		{Name: "settled memory, against (f)", Unit: " ×", Must: 1.35, Reach: 1.25, Measured: kroRSS},
		{Name: "settled after a restart, against (f)", Unit: " ×", Must: 1, Reach: 0.25, Measured: ratio(ours, kro, "restart", seconds)},
		{Name: "a drift is repaired, p50, against (f)", Unit: " ×", Must: 1, Reach: 0.75, Measured: drift},
		{Name: "requests per install, all told", Must: 2*objects + 6, Reach: objects + 4, Measured: perResource(ours.phase("install"))},
		{Name: "requests of an image change", Must: 7, Reach: 6, Measured: perResource(ours.phase("image"))},
		{Name: "writes after a restart", Must: 0, Reach: 0, Measured: of(ours.phase("restart"), func(p *Phase) float64 { return float64(p.Writes) })},
		{Name: "CPU of a reconcile with nothing to do", Unit: " ms", Must: none, Reach: 1, Measured: noop.CPUMillis},
		{Name: "memory allocated by it", Unit: " KiB", Must: none, Reach: 64, Measured: noop.KiB},
		{Name: "CPU in 30 s idle", Unit: " s", Must: none, Reach: 0.05, Measured: of(ours.phase("idle"), cpu)},
		{Name: "settled after a restart", Unit: " s", Must: none, Reach: settle, Measured: of(ours.phase("restart"), seconds)},
		{Name: "one AppService alone, from apply to Deployment, p99", Unit: " ms", Must: none, Reach: 50, Measured: aloneP99},
	}
	for i := range r.Figures {
		f := &r.Figures[i]
		f.Known = !math.IsNaN(f.Measured) && !math.IsInf(f.Measured, 0) // the machine's clock may count no CPU at all
		if !f.Known {
			f.Measured = 0 // JSON has no word for it
		}
	}
}

func of(phase *Phase, value func(*Phase) float64) float64 {
	if phase == nil {
		return math.NaN()
	}
	return value(phase)
}

// noop is the cost of a reconcile without changes for a contender, where each figure may be unknown.
func (r *Results) noop(letter string) NoOp {
	result := r.of(letter)
	if result == nil || result.NoOp == nil || result.NoOp.Reconciles == 0 {
		return NoOp{Requests: math.NaN(), CPUMillis: math.NaN(), KiB: math.NaN()}
	}
	return *result.NoOp
}

// ratio of a value of two contenders in a phase.
func ratio(one, other *Result, name string, value func(*Phase) float64) float64 {
	return of(one.phase(name), value) / of(other.phase(name), value)
}

// last is the line that a run ends with.
func (r *Results) last() string {
	measured := func(name string) string {
		for _, f := range r.Figures {
			if f.Name == name && f.Known {
				return short(f.Measured)
			}
		}
		return "unknown"
	}
	return fmt.Sprintf("BENCH install_vs_native=%s upgrade_vs_native=%s install_vs_stock=%s upgrade_vs_stock=%s idle_requests=%s "+
		"noop_ms=%s noop_vs_native=%s upgrade_cpu_vs_native=%s restart_vs_native=%s rss_vs_native=%s install_requests=%s objects=%d",
		measured("install, against (b)"), measured(imageChange), measured("install, against (c)"),
		measured("image change of all, against (c)"), measured("requests in 30 s idle, besides watches and leases"),
		measured("CPU of a reconcile with nothing to do"), measured("CPU of a reconcile with nothing to do, against (b)"),
		measured("CPU of an image change of all, against (b)"), measured("settled after a restart, against (b)"), measured("settled memory, against (b)"),
		measured("requests per install, all told"), r.Objects)
}

// short prints a number with two digits that matter, or three.
func short(value float64) string {
	switch {
	case value == math.Trunc(value):
		return strconv.FormatFloat(value, 'f', 0, 64)
	case math.Abs(value) >= 100:
		return strconv.FormatFloat(value, 'f', 0, 64)
	case math.Abs(value) >= 10:
		return strconv.FormatFloat(value, 'f', 1, 64)
	default:
		return strconv.FormatFloat(value, 'f', 2, 64)
	}
}
