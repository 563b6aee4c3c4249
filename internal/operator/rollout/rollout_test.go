package rollout

import (
	"testing"
	"time"

	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/operator/status/health"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func TestARolloutSurvivesARestartInARecord(t *testing.T) {
	begun := set.Begin(7, start, health.Replicas{Available: 3})
	if got, yes := set.Begun(&livestate.Record{Rollout: begun.String()}, 7); !yes || got != begun {
		t.Errorf("got %+v, %t, want %+v", got, yes, begun)
	}
	other := set
	other.Chart = Chart{Identity: render.Identity{Digest: "other"}}
	cases := map[string]struct {
		asked      Basis
		record     *livestate.Record
		generation int64
	}{
		"no record":                     {set, nil, 7},
		"no rollout":                    {set, recordOf(set, ""), 7},
		"another chart":                 {other, recordOf(set, begun.String()), 7},
		"other defaults":                {plain, recordOf(set, begun.String()), 7},
		"another spec":                  {set, recordOf(set, begun.String()), 8},
		"the label of earlier versions": {set, recordOf(set, set.Chart.id()+"."+"7"), 7},
		"anything":                      {set, recordOf(set, set.ID()+".7.now.x.y"), 7},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if got, yes := test.asked.Begun(test.record, test.generation); yes {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// Another operator continues what the one before began with the same chart; another chart does not.
func TestAnotherOperatorContinuesARollout(t *testing.T) {
	begun := set.Begin(7, start, health.Replicas{Available: 3})
	operator, chart := set, set
	operator.Chart.Operator, chart.Chart.Identity = "v2", render.Identity{Digest: "other"}
	record := &livestate.Record{Rollout: begun.String(), ChartDigest: set.Chart.Digest}
	for name, test := range map[string]struct {
		asked      Basis
		record     *livestate.Record
		generation int64
		want       bool
	}{
		"the same":         {set, record, 7, true},
		"another operator": {operator, record, 7, true},
		"another chart":    {chart, record, 7, false},
		"another spec":     {operator, record, 8, false},
		"no rollout":       {operator, &livestate.Record{ChartDigest: set.Chart.Digest}, 7, false},
		"no record":        {operator, nil, 7, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, yes := test.asked.Continues(test.record, test.generation)
			if yes != test.want || yes && got != begun {
				t.Errorf("got %+v, %t", got, yes)
			}
			taken := &livestate.Record{Rollout: test.asked.Takes(got).String()}
			if _, begun := test.asked.Begun(taken, test.generation); yes && !begun {
				t.Error("it is not the operator's own then")
			}
		})
	}
}

func TestWhenARolloutIsOverOrHasFailed(t *testing.T) {
	const deadline = 15 * time.Minute
	of := func(available, fresh, wanted int32) health.Replicas {
		return health.Replicas{Available: available, New: fresh, Desired: wanted, Noticed: true}
	}
	unnoticed := of(3, 3, 3)
	unnoticed.Noticed = false
	goesOn := set.Begin(7, start, of(3, 3, 3))
	goesOn.fresh = 1
	forged := set.Begin(7, start.Add(time.Hour), of(3, 3, 3))
	cases := map[string]struct {
		rollout  Rollout
		recorded bool
		there    health.Replicas
		after    time.Duration
		want     State
		again    bool // it begins again
	}{
		"its objects are being written":              {set.Begin(7, start, of(3, 3, 3)), false, of(3, 3, 3), 0, Moving, false},
		"its controller has not observed it":         {set.Begin(7, start, of(3, 3, 3)), true, unnoticed, 0, Moving, false},
		"old pods are available":                     {set.Begin(7, start, of(3, 3, 3)), true, of(3, 0, 3), 0, Moving, false},
		"as many are available as before":            {set.Begin(7, start, of(3, 3, 5)), true, of(4, 3, 5), 0, Over, false},
		"fewer are wanted than were available":       {set.Begin(7, start, of(3, 3, 3)), true, of(2, 2, 2), 0, Over, false},
		"as many are available after the deadline":   {set.Begin(7, start, of(3, 3, 3)), true, of(3, 3, 3), time.Hour, Over, false},
		"none is available at the deadline":          {set.Begin(7, start, of(3, 3, 3)), true, of(3, 0, 3), deadline, Failed, false},
		"its objects are not written then":           {set.Begin(7, start, of(3, 3, 3)), false, of(3, 3, 3), deadline, Failed, false},
		"its controller does not run":                {set.Begin(7, start, of(3, 3, 3)), true, unnoticed, deadline, Failed, false},
		"some are available at the deadline":         {set.Begin(7, start, of(3, 3, 3)), true, of(3, 1, 3), deadline, Moving, true},
		"no further one is at the next deadline":     {goesOn, true, of(3, 1, 3), deadline, Failed, false},
		"a further one is":                           {goesOn, true, of(3, 2, 3), deadline, Moving, true},
		"a label says that it begins in the future":  {forged, true, of(3, 0, 3), 0, Failed, false},
		"the clock of the process before was faster": {set.Begin(7, start.Add(time.Second), of(3, 3, 3)), true, of(3, 0, 3), 0, Moving, false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got, state := test.rollout.Judge(test.recorded, test.there, start.Add(test.after), deadline)
			if state != test.want || (got != test.rollout) != test.again {
				t.Errorf("got state %d and %s, want %d of %s", state, got, test.want, test.rollout)
			}
			if test.again && got.Since != start.Add(test.after) {
				t.Errorf("it begins again at %s", got.Since)
			}
		})
	}
}
