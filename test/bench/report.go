package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/example/appservice-operator/test/try"
)

//go:embed benchmarks.md.tmpl
var page string

// report writes the results: a page, plots and JSON. Its output ends with the line BENCH.
func (b *bench) report(results *Results) {
	folder := b.outFolder()
	plots := filepath.Join(folder, "benchmarks")
	try.Do(os.MkdirAll(plots, 0o755))
	files := results.plots()
	data := try.Get(json.MarshalIndent(results, "", "  "))
	files["results.json"] = string(data) + "\n"
	for name, text := range files {
		try.Do(os.WriteFile(filepath.Join(plots, name), []byte(text), 0o644))
	}
	text := try.Get(results.page())
	path := filepath.Join(folder, "benchmarks.md")
	try.Do(os.WriteFile(path, []byte(text), 0o644))
	b.say("\nwrote %s, and plots and JSON beside it\n", path)
	fmt.Fprintln(b.out, results.figureTable())
	if results.Void != "" {
		fmt.Fprintln(b.out, "The run is void:", results.Void)
	}
	fmt.Fprintln(b.out, results.last())
	if results.Void != "" {
		try.Fail("the run is void: %s", results.Void)
	}
}

func (r *Results) page() (string, error) {
	var out strings.Builder
	err := template.Must(template.New("page").Parse(page)).Execute(&out, map[string]any{
		"Results": r, "Figures": r.figureTable(), "Speed": r.speedTable(), "Requests": r.requestTable(), "Cost": r.costTable(),
		"Verbs": r.verbTable(),
	})
	return out.String(), err
}

// figureTable compares what was measured with what is asked for.
func (r *Results) figureTable() string {
	t := table{{"figure", "must", "reach for", "measured", "verdict"}}
	for _, f := range r.Figures {
		must := "–"
		if f.Must != none {
			must = f.bound(f.Must)
		}
		t = append(t, []string{f.Name, must, f.bound(f.Reach), f.measured(), f.Verdict()})
	}
	return t.String()
}

var throughputs = []string{"install", "image", "feature off", "feature on", "delete"}

func (r *Results) speedTable() string {
	t := table{append([]string{"AppServices per second"}, append(throughputs, "alone p50", "alone p99", "change p50", "drift p50", "restart settled", "new chart")...)}
	for _, c := range r.Contenders {
		row := []string{c.name()}
		for _, name := range throughputs {
			row = append(row, show(c.phase(name), func(p *Phase) string {
				if p.Converged < p.Wanted {
					return fmt.Sprintf("%s (%d of %d)", short(p.PerSecond), p.Converged, p.Wanted)
				}
				return short(p.PerSecond)
			}))
		}
		row = append(row, millis(c.Alone, func(l *Latency) float64 { return l.P50 }), millis(c.Alone, func(l *Latency) float64 { return l.P99 }),
			millis(c.Change, func(l *Latency) float64 { return l.P50 }), millis(c.Drift, func(l *Latency) float64 { return l.P50 }),
			show(c.phase("restart"), func(p *Phase) string { return short(p.Seconds) + " s" }),
			show(c.phase("chart"), func(p *Phase) string { return short(p.PerSecond) }))
		t = append(t, row)
	}
	return t.String()
}

func (r *Results) requestTable() string {
	names := []string{"install", "image", "feature off", "feature on", "delete"}
	t := table{append([]string{"requests per AppService"}, append(names, "no-op", "idle 30 s, all", "restart, all", "of these writes")...)}
	for _, c := range r.Contenders {
		row := []string{c.name()}
		for _, name := range names {
			row = append(row, show(c.phase(name), func(p *Phase) string { return short(float64(p.Total) / float64(p.Wanted)) }))
		}
		noop := "–"
		if c.NoOp != nil {
			noop = short(c.NoOp.Requests)
		}
		total := func(p *Phase) string { return fmt.Sprint(p.Total) }
		row = append(row, noop, show(c.phase("idle"), total), show(c.phase("restart"), total),
			show(c.phase("restart"), func(p *Phase) string { return fmt.Sprint(p.Writes) }))
		t = append(t, row)
	}
	return t.String()
}

// verbTable shows what the requests of an install are.
func (r *Results) verbTable() string {
	verbs := []string{"get", "list", "create", "update", "patch", "dry run", "delete"}
	t := table{append([]string{"requests per install"}, verbs...)}
	for _, c := range r.Contenders {
		p := c.phase("install")
		if p == nil {
			continue
		}
		row := []string{c.name()}
		for _, verb := range verbs {
			row = append(row, short(float64(counts(p.Requests).verbs()[verb])/float64(p.Wanted)))
		}
		t = append(t, row)
	}
	return t.String()
}

func (r *Results) costTable() string {
	names := []string{"install", "image", "idle", "restart", "delete"}
	head := []string{"CPU seconds"}
	head = append(head, names...)
	t := table{append(head, "API server, each install", "each image change", "no-op, each", "allocated, each", "memory, settled", "anonymous", "memory, peak")}
	for _, c := range r.Contenders {
		if c.PeakMiB == 0 {
			continue // bare writes: no process of their own
		}
		row := []string{c.name()}
		for _, name := range names {
			row = append(row, show(c.phase(name), func(p *Phase) string { return short(p.CPU) }))
		}
		cpu, allocated := "–", "–"
		if c.NoOp != nil && c.NoOp.Reconciles > 0 {
			cpu, allocated = short(c.NoOp.CPUMillis)+" ms", short(c.NoOp.KiB)+" KiB"
		}
		for _, name := range []string{"install", "image"} {
			row = append(row, show(c.phase(name), func(p *Phase) string { return short(1000*p.ServerCPU/float64(p.Wanted)) + " ms" }))
		}
		t = append(t, append(row, cpu, allocated, short(c.SettledMiB)+" MiB", short(c.SettledAnonMiB)+" MiB", short(c.PeakMiB)+" MiB"))
	}
	return t.String()
}

func (r *Results) plots() map[string]string {
	perSecond := func(c *Result, name string) (float64, bool) {
		p := c.phase(name)
		return of(p, func(p *Phase) float64 { return p.PerSecond }), p != nil
	}
	requests := func(c *Result, name string) (float64, bool) {
		p := c.phase(name)
		return of(p, func(p *Phase) float64 { return float64(p.Total) / float64(p.Wanted) }), p != nil
	}
	memory := func(c *Result, name string) (float64, bool) {
		value := map[string]float64{"settled": c.SettledMiB, "peak": c.PeakMiB}[name]
		return value, value > 0
	}
	return map[string]string{
		"throughput.svg": bars("Converged", "AppServices per second", r.Contenders, throughputs, perSecond),
		"requests.svg":   bars("Requests", "per AppService", r.Contenders, throughputs, requests),
		"memory.svg":     bars("Resident memory", "MiB", r.Contenders, []string{"settled", "peak"}, memory),
		"install.svg":    curves("Install of all", r.Contenders, "install", r.N),
		"image.svg":      curves("Image change of all", r.Contenders, "image", r.N),
	}
}

func (r *Result) name() string {
	name := "(" + r.Letter + ") " + r.Title
	if r.Reused != "" {
		name += ", reused from " + r.Reused
	}
	return name
}

func show(phase *Phase, text func(*Phase) string) string {
	if phase == nil {
		return "–"
	}
	return text(phase)
}

func millis(latency *Latency, value func(*Latency) float64) string {
	if latency == nil || latency.Count == 0 {
		return "–"
	}
	return short(value(latency)) + " ms"
}

// table is rows of cells, the first of them the head.
type table [][]string

func (t table) String() string {
	var out strings.Builder
	for i, row := range t {
		out.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			out.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	return out.String()
}
