package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/procfs"

	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/processes"
)

const (
	restsFor   = 30 * time.Second // before a round
	mostOthers = 0.05             // of a core that other processes may use meanwhile
	mostTries  = 20               // ten minutes
)

// rest returns when other processes of the machine rest, or after ten minutes; then the run is not published.
func (b *bench) rest(ctx context.Context) {
	var share float64
	for range mostTries {
		before := b.others(ctx)
		pause(ctx, restsFor)
		share = used(before, b.others(ctx)) / restsFor.Seconds()
		if share <= mostOthers {
			return
		}
		b.say("other processes used %.2f of a core in %s, at most %.2f may be: waiting", share, restsFor, mostOthers)
	}
	if b.docs {
		try.Fail("the machine does not rest: other processes use %.2f of a core, so nothing is published", share)
	}
}

// others are the CPU times, in seconds, of all processes but those of the cluster and this one.
func (b *bench) others(ctx context.Context) map[int]float64 {
	times := map[int]float64{}
	for _, process := range try.Get(procfs.AllProcs()) {
		if stat, err := process.Stat(); err == nil { // else it has ended
			times[process.PID] = stat.CPUTime()
		}
	}
	delete(times, os.Getpid())
	for _, pids := range try.Get(processes.Of(ctx, filepath.Dir(b.cluster.Kubeconfig))) {
		for _, pid := range pids {
			delete(times, pid)
		}
	}
	return times
}

// used is the CPU time between two looks. A process that has begun since counts as a whole, one that has ended not at all.
func used(before, after map[int]float64) (seconds float64) {
	for pid := range after {
		seconds += max(0, after[pid]-before[pid])
	}
	return seconds
}
