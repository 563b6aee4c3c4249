//go:build cluster

package scenario

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/tools/controlplane"
)

// memory is an incident about the memory of the operator; nil if it cannot be measured.
var memory func(s *scene, size int)

var large = flag.Int("fleet", 100, "how many AppServices the large fleets of T9 have")

// TestOneByOne plays what affects the whole cluster, or the whole machine: nothing else runs beside it. A sample includes none of it.
func TestOneByOne(t *testing.T) {
	if current, err := controlplane.CurrentWanted(); current || err != nil || *every > 1 {
		t.Skip("a sample, or a cluster of somebody else, whose APIs and programs are not for us to end")
	}
	var list []incident
	for _, api := range apis() {
		list = append(list, // the one that removes the API goes first: with it go all objects of the kind, also those of plans that have ended
			incident{"T5/api-removed/" + api.Kind, func(s *scene) { apiRemoved(s, api) }},
			incident{"T3/api-hidden/" + api.Kind, func(s *scene) { apiSeemsGone(s, api) }})
	}
	for _, o := range outages {
		list = append(list, incident{o.name + "/leader", func(s *scene) { leaderGoesThrough(s, o) }})
	}
	name := fmt.Sprintf("T9/fleet-of-%d/", *large)
	if memory != nil {
		list = append(list, incident{name + "foreign-secrets", func(s *scene) { memory(s, *large) }})
	}
	name += "leader-"
	list = append(list,
		incident{name + "killed", func(s *scene) { leaderEnds(s, *large, killed) }},
		incident{name + "terminated", func(s *scene) { leaderEnds(s, *large, terminated) }},
		incident{name + "frozen", func(s *scene) { leaderEnds(s, *large, frozenStill) }},
	)
	p := &player{alive: make(chan struct{}, ownOperators)}
	forFresh := shared(t, together)
	for n, one := range list {
		if chosen(one.name, n) {
			t.Run(one.name, func(t *testing.T) {
				cluster.CollectsGarbage(t)
				p.playIncident(t, one)
			})
		}
	}
	forFresh.Stop(t)
	p.verify(t)
}

// leaderGoesThrough runs two processes through an outage, while one of them leads and installs a fleet. They are not restarted: a leader that could
// not renew its lease ends, and the other one continues.
func leaderGoesThrough(s *scene, o outage) {
	processes := []*harness.Process{s.program(cluster.Kubeconfig)}
	s.leads("")
	processes = append(processes, s.program(cluster.Kubeconfig))
	s.install(fleet)
	s.someAreInstalled(fleet)
	began := time.Now()
	if err := cluster.Without(s.Context(), o.program, func() { o.last(s.Context()) }); err != nil {
		s.Fatal(err)
	}
	lasted := time.Since(began)
	s.fault()
	s.fleetRuns("", s.replaceForgotten)
	s.still()
	s.installedOnce()
	ended := 0
	for _, process := range processes {
		select {
		case <-process.Ended():
			ended++
		default:
		}
	}
	s.Logf("all were ready %.1f s after the outage, which lasted %.1f s; %d of %d processes ended", s.recovery.Seconds(), lasted.Seconds(), ended, len(processes))
	if short := lasted < leaseRenewal-leaseRetry; ended > 1 || short && ended > 0 {
		s.Errorf("%d of %d processes ended in an outage of %s", ended, len(processes), lasted)
	}
	for _, process := range processes {
		process.Kill()
	}
	s.disband()
}

const (
	// leaseRenewal is how long a leader tries to renew its lease before it ends, leaseRetry how often.
	leaseRenewal = 10 * time.Second
	leaseRetry   = 2 * time.Second
)
