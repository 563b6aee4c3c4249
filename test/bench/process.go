package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/processes"
)

// tick is the unit of /proc/PID/stat.
const tick = 10 * time.Millisecond

// process is a running contender.
type process struct {
	*processes.Child
	metrics string // URL
	log     string
	started time.Time
}

// start runs a contender's program. Whoever starts it stops it.
func (b *bench) start(c *contender, kubeconfig string) *process {
	free := try.Get(processes.FreeAddresses(1))
	program, args := try.Get2(c.command(free[0]))
	p := &process{metrics: "http://" + free[0] + "/metrics", log: b.program(c.letter + ".log")}
	log := try.Get(os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644))
	defer log.Close()
	command := exec.Command(program, args...)
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
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Pid()))
	if err != nil {
		return 0, errors.Join(p.alive(), err)
	}
	_, rest, _ := strings.Cut(string(text), ") ") // past the name
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, errors.New("cannot read /proc/PID/stat")
	}
	user, err1 := strconv.Atoi(fields[11])
	kernel, err2 := strconv.Atoi(fields[12])
	return time.Duration(user+kernel) * tick, errors.Join(err1, err2)
}

// memory returns the resident memory now and at most, in MiB.
func (p *process) memory() (now, peak float64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid()))
	if err != nil {
		return 0, 0, errors.Join(p.alive(), err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		kib, _ := strconv.ParseFloat(fields[1], 64)
		switch fields[0] {
		case "VmRSS:":
			now = kib / 1024
		case "VmHWM:":
			peak = kib / 1024
		}
	}
	return now, peak, nil
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
}}

// gauges reads the metrics. All contenders are built on controller-runtime and have the same.
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
	var out gauges
	scanner := bufio.NewScanner(response.Body)
	for scanner.Scan() {
		line := scanner.Text()
		end := strings.LastIndexByte(line, ' ')
		if end < 0 || line[0] == '#' {
			continue
		}
		value, err := strconv.ParseFloat(line[end+1:], 64)
		if err != nil {
			continue
		}
		switch name := line[:strings.IndexAny(line, "{ ")]; name {
		case "controller_runtime_reconcile_total":
			out.reconciles += value
		case "workqueue_depth", "controller_runtime_active_workers":
			out.waiting += value
		case "go_memstats_alloc_bytes_total":
			out.allocated = value
		}
	}
	return out, scanner.Err()
}
