//go:build cluster

package scenario

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// freshState is the state of an AppService that was created with a spec.
type freshState struct {
	once  sync.Once
	state state
	mask  map[string]bool
}

// fresh makes two AppServices, or AppJobs, with a spec, beside objects of others, once for all plans, and compares them.
func (p *player) fresh(t *testing.T, kind, spec string, others map[string]string) *freshState {
	t.Helper()
	p.mu.Lock()
	if p.freshStates == nil {
		p.freshStates = map[string]*freshState{}
	}
	known := p.freshStates[kind+" "+spec]
	if known == nil {
		known = &freshState{}
		p.freshStates[kind+" "+spec] = known
	}
	p.mu.Unlock()
	known.once.Do(func() {
		stages := []*stage{newStage(t, "fresh", together), newStage(t, "fresh", together)}
		var states []state
		for _, stage := range stages {
			stage.kind = kind
			stage.do(t, step{create: others, spec: spec})
		}
		for _, stage := range stages {
			states = append(states, timeless(stage.settled(t, stepTo(spec))))
		}
		known.state, known.mask = states[0], masked(states[0], states[1])
	})
	if known.state == nil {
		t.Fatal("there is nothing to compare with")
	}
	return known
}

// history are the fields that depend on how a state was reached.
var history = regexp.MustCompile(`\.(generation|observedGeneration)$|deployment\.kubernetes\.io/revision|\.collisionCount$` +
	`|\.release\.(revision|wasReady)$|\.spec\.volumeName$|\.conditions\[(Deployed|Progressing)\]\.(reason|message)$` +
	`|^Secret RELEASE\.(metadata\.(name|labels\.(version|app\.example\.com/last-ready))|data\.(version|info\.description))$`)

var recordName = regexp.MustCompile(`^Secret sh\.helm\.release\.v1\.web\.v(\d+)\.`)

// newestRecord returns the revision of the newest release record in a state, 0 if there is none.
func newestRecord(of state) int {
	newest := 0
	for path := range of {
		newest = max(newest, recordOf(path))
	}
	return newest
}

// recordOf returns the revision of the release record that a path is in, 0 if in none.
func recordOf(path string) int {
	found := recordName.FindStringSubmatch(path)
	if found == nil {
		return 0
	}
	revision, _ := strconv.Atoi(found[1]) // digits
	return revision
}

// timeless is a state without its history. ReplicaSets of earlier versions and records of earlier releases are part of that.
func timeless(of state) state {
	out, newest := state{}, newestRecord(of)
	for path, value := range of {
		name, _, _ := strings.Cut(path, ".")
		if strings.HasPrefix(name, "ReplicaSet ") && of[name+".spec.replicas"] == "0" {
			continue
		}
		if record := recordOf(path); record != 0 && record != newest && of[fmt.Sprintf("Secret sh.helm.release.v1.web.v%d.metadata.labels.status", record)] != "deployed" {
			continue
		}
		path = recordName.ReplaceAllString(path, "Secret RELEASE.")
		if !history.MatchString(path) {
			out[path] = value
		}
	}
	return out
}
