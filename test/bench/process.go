package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/procfs"

	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/processes"
)

// process is a running contender.
type process struct {
	*processes.Child
	metrics string // URL
	log     string
	started time.Time
}

// start runs a contender's program, with further arguments. Whoever starts it stops it.
func (b *bench) start(c *contender, kubeconfig string, further ...string) *process {
	free := try.Get(processes.FreeAddresses(1))
	program, args := try.Get2(c.command(free[0]))
	p := &process{metrics: "http://" + free[0] + "/metrics", log: b.program(c.letter + ".log")}
	log := try.Get(os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644))
	defer log.Close()
	command := exec.Command(program, append(args, further...)...)
	command.Env = append(append(os.Environ(), "KUBECONFIG="+kubeconfig, "WATCH_NAMESPACE="), c.env...)
	command.Stdout, command.Stderr = log, log
	p.started = time.Now()
	p.Child = try.Get(processes.Start(command))
	return p
}

// stop sends SIGTERM to the process, and kills it after a while.
func (p *process) stop() { _ = p.Stop(45 * time.Second) }

// alive returns an error if the process has ended by itself.
func (p *process) alive() error {
	select {
	case <-p.Ended():
		return fmt.Errorf("it ended by itself (%v), see %s", p.State(), p.log)
	default:
		return nil
	}
}

// cpu is the CPU time of the process so far.
func (p *process) cpu() (time.Duration, error) {
	kernel, err := procfs.NewProc(p.Pid())
	if err != nil {
		return 0, errors.Join(p.alive(), err)
	}
	stat, err := kernel.Stat()
	return time.Duration(stat.CPUTime() * float64(time.Second)), err
}

// memory is resident memory in MiB: now, the part that is not of files such as the program itself, and at most.
type memory struct{ now, anonymous, peak float64 }

func (p *process) memory() (memory, error) {
	kernel, err := procfs.NewProc(p.Pid())
	if err != nil {
		return memory{}, errors.Join(p.alive(), err)
	}
	status, err := kernel.NewStatus()
	const mib = 1 << 20
	return memory{float64(status.VmRSS) / mib, float64(status.RssAnon) / mib, float64(status.VmHWM) / mib}, err
}

// gauges are values of a controller's metrics.
type gauges struct {
	reconciles float64 // begun and ended
	waiting    float64 // resources queued or at work
	allocated  float64 // bytes, ever
}

// wantedGauges requests few metrics. Contenders with an older library send all.
var wantedGauges = url.Values{"name[]": {
	"controller_runtime_reconcile_total", "workqueue_depth", "controller_runtime_active_workers", "go_memstats_alloc_bytes_total",
	"dynamic_controller_reconcile_total", "dynamic_controller_queue_length", // kro's, for its instances
}}

// gauges reads the metrics. All contenders are built on controller-runtime and have the same; kro has counters
// of its instances.
func (p *process) gauges(ctx context.Context) (gauges, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.metrics+"?"+wantedGauges.Encode(), http.NoBody)
	if err != nil {
		return gauges{}, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return gauges{}, errors.Join(p.alive(), err)
	}
	defer response.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	sum := func(name string) (total float64) {
		for _, series := range families[name].GetMetric() {
			total += series.GetCounter().GetValue() + series.GetGauge().GetValue()
		}
		return total
	}
	return gauges{
		reconciles: sum("controller_runtime_reconcile_total") + sum("dynamic_controller_reconcile_total"),
		waiting:    sum("workqueue_depth") + sum("controller_runtime_active_workers") + sum("dynamic_controller_queue_length"),
		allocated:  sum("go_memstats_alloc_bytes_total"),
	}, err
}
