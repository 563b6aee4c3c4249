package fault

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/tools/poll"
)

// verify restarts the operators over all that was played. They must write nothing, and change nothing: oracle O5, and O1 once
// more. Then all AppServices are deleted, and nothing may be left: oracle O6.
func (p *player) verify(t *testing.T) {
	if len(p.played) == 0 {
		return
	}
	for _, one := range p.played {
		one.stage.line.Start()
	}
	before := reconciles(t)
	for _, server := range []string{together, alone, through} {
		shared(t, server)
	}
	p.calm(t, before)
	before = reconciles(t)
	for _, one := range p.played { // a change that means nothing brings another reconcile
		app := objectOf(v1.Kind)
		app.SetNamespace(one.stage.namespace)
		app.SetName(appName)
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"faults.example.com/touched":"yes"}}}`))
		if err := cluster.Client.Patch(t.Context(), app, patch); client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
	}
	p.calm(t, before)
	for _, one := range p.played {
		if points := one.stage.line.Points(); len(points) > 0 {
			tally.fail(t, one.plan, false, "O5: a restart writes %s", points)
		}
		end, err := one.stage.state(t)
		if err != nil {
			t.Fatal(err)
		}
		delete(end, v1.Kind+" "+appName+".metadata.annotations.faults.example.com/touched")
		if differs := differences(one.end, end, one.mask); len(differs) > 0 {
			tally.fail(t, one.plan, false, "O5: after a restart\n    %s", listed(differs))
		}
	}
	for _, one := range p.played {
		app := objectOf(v1.Kind)
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

// calm waits until everything that was played has been reconciled since a count was taken, and nothing happens any more.
func (p *player) calm(t *testing.T, before float64) {
	t.Helper()
	harness.Eventually(t, "nothing happens any more", func() error {
		alive := 0.0
		for _, one := range p.played {
			if one.end[v1.Kind+" "+appName+".kind"] != "" {
				alive++
			}
			if !one.stage.quiet() {
				return fmt.Errorf("something still happens in %s", one.stage.namespace)
			}
		}
		if made := reconciles(t) - before; made < alive {
			return fmt.Errorf("there were %g reconciles, want one of each of %g AppServices", made, alive)
		}
		return nil
	})
}

// reconciles counts those of all operators in this process.
func reconciles(t *testing.T) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, family := range families {
		if family.GetName() == "controller_runtime_reconcile_total" {
			for _, metric := range family.GetMetric() {
				sum += metric.GetCounter().GetValue()
			}
		}
	}
	return sum
}
