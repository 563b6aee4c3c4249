//go:build cluster

// Package scenario plays what happens to AppServices and AppJobs: as it is, and with the operator broken at every request
// that changes something, and in other ways in which clusters break; and looks at what becomes of it.
//
// A scenario is a sequence of steps, each with what it leads to. It is played twice without faults: that is a test of its
// own, and the reference for plans. A plan is a scenario, one of its requests and a fault. Each runs in a namespace of its
// own, hundreds of them on one control plane. Its end must be the reference's in every field, with the same creations and
// deletions, a status that is true, and no panic. At the end the operator is restarted and must write nothing, and
// everything is deleted and nothing may be left. docs/reliability.md says what is promised, and how to play a plan again.
package scenario

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/example/appservice-operator/test/harness"
)

var (
	only  = flag.String("plan", "", "run the plans of these names only, separated by commas, or those whose names begin with one")
	every = flag.Int("every", 1, "run every k-th plan only")
	say   = flag.Bool("log", false, "print the log of the operators")
)

var (
	cluster *harness.Cluster
	seen    *world
	tally   results
	logs    = &logSink{}
)

func TestMain(m *testing.M) {
	flag.Parse()
	logger := zap.New(zap.WriteTo(logs))
	log.SetLogger(logger)
	klog.SetLogger(logger)
	harness.Main("appservice-faults", func(ctx context.Context, started *harness.Cluster) (code int, err error) {
		cluster = started
		if err := writeCharts(); err != nil {
			return 1, err
		}
		defer func() { _ = os.RemoveAll(chartDir) }()
		if seen, err = newWorld(ctx, cluster); err != nil {
			return 1, err
		}
		code = m.Run()
		if pairTally.sequences > 0 {
			fmt.Println(pairTally.line())
		}
		switch {
		case tally.plans > 0:
			fmt.Println(tally.line())
			fmt.Println(tally.jobLine())
		case *only != "" && pairTally.sequences == 0:
			return 1, fmt.Errorf("no plan has the name %q, or one that begins with it", *only)
		}
		return code, nil
	})
}
