//go:build cluster

package scenario

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/tools/poll"
)

// verify restarts the operators over everything that was played. They must write nothing, and change nothing: oracle O5, and O1 once more. Then all
// AppServices are deleted, and nothing may be left: oracle O6.
func (p *player) verify(t *testing.T) {
	p.rest(t)
	if len(p.played) == 0 {
		return
	}
	for _, one := range p.played {
		one.stage.line.Start()
	}
	before := reconciles(t)
	all(t)
	p.calm(t, before)
	before = reconciles(t)
	for _, one := range p.played { // a change without effect causes another reconcile
		app := objectOf(one.stage.kind)
		app.SetNamespace(one.stage.namespace)
		app.SetName(appName)
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"faults.example.com/touched":"yes"}}}`))
		if err := cluster.Client.Patch(t.Context(), app, patch); client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
	}
	p.calm(t, before)
	p.unchanged(t)
	p.disband(t)
}

// all starts an operator for each part of the plans that were played.
func all(t *testing.T) (running []*harness.Manager) {
	t.Helper()
	for _, server := range []string{together, alone, through} {
		running = append(running, shared(t, server))
	}
	return running
}

// unchanged fails the plans for which something was written, or whose state changed.
func (p *player) unchanged(t *testing.T) {
	t.Helper()
	for _, one := range p.played {
		said := slices.DeleteFunc(one.stage.line.Said(), func(line string) bool { // what admission changed is asked about, once for each object
			return strings.HasPrefix(one.plan, "admission/mutated/") && strings.Contains(line, "(dry run) #1: ")
		})
		if len(said) > 0 {
			tally.fail(t, one.plan, false, "O5: a restart writes\n    %s", strings.Join(said, "\n    "))
		}
		end, err := one.stage.state(t)
		require.NoError(t, err)
		delete(end, one.stage.kind+" "+appName+".metadata.annotations.faults.example.com/touched")
		if differs := differences(one.end, end, one.mask); len(differs) > 0 {
			tally.fail(t, one.plan, false, "O5: after a restart\n    %s", listed(differs))
		}
		for _, wrong := range one.stage.wrong(t) {
			tally.fail(t, one.plan, false, "up to and after a restart: %s", wrong)
		}
	}
}

// disband deletes all AppServices, and fails the plans that leave something.
func (p *player) disband(t *testing.T) {
	t.Helper()
	for _, one := range p.played {
		app := objectOf(one.stage.kind)
		app.SetNamespace(one.stage.namespace)
		app.SetName(appName)
		if err := cluster.Client.Delete(t.Context(), app); client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
	}
	for _, one := range p.played {
		err := poll.UntilWithin(t.Context(), patience, func(context.Context) error {
			objects, err := seen.objects(t.Context(), one.stage.namespace)
			if err != nil {
				return err
			}
			return left(objects)
		})
		if err != nil {
			tally.fail(t, one.plan, true, "O6: %v", err)
		}
	}
}

// calm waits until everything that was played has been reconciled since a count was taken, and then until each of it has been quiet once: not all at
// the same time, since pods that fail are looked at again and again.
func (p *player) calm(t *testing.T, before float64) {
	t.Helper()
	alive := 0.0
	for _, one := range p.played {
		if one.end[one.stage.kind+" "+appName+".kind"] != "" {
			alive++
		}
	}
	waiting, reconciled := slices.Clone(p.played), false
	err := poll.UntilWithin(t.Context(), patience, func(context.Context) error { // as long as one plan takes: there may be hundreds
		if !reconciled {
			if made := reconciles(t) - before; made < alive {
				return fmt.Errorf("there were %g reconciles, want one of each of %g AppServices", made, alive)
			}
			if busy := measured(t, "workqueue_depth") + measured(t, "controller_runtime_active_workers"); busy > 0 {
				return fmt.Errorf("%g reconciles are to come", busy)
			}
			reconciled = true
		}
		waiting = slices.DeleteFunc(waiting, func(one *played) bool { return one.stage.quiet() })
		if len(waiting) > 0 {
			return fmt.Errorf("something still happens in %s and %d more", waiting[0].stage.namespace, len(waiting)-1)
		}
		return nil
	})
	require.NoError(t, err, "nothing happens any more: %v", err)
}

// reconciles counts those of all operators in this process.
func reconciles(t *testing.T) float64 { return measured(t, "controller_runtime_reconcile_total") }

// measured sums up a metric of all operators in this process.
func measured(t *testing.T, name string) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	require.NoError(t, err)
	sum := 0.0
	for _, family := range families {
		if family.GetName() == name {
			for _, metric := range family.GetMetric() {
				sum += metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
			}
		}
	}
	return sum
}
