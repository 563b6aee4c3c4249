package jobs

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/example/appservice-operator/api/v1"
)

func run(of string, uid types.UID, result v1.RunResult) v1.RunStatus {
	return v1.RunStatus{Job: "m-" + of, Digest: of, UID: uid, Result: result}
}

func wants(of ...string) []Desired {
	var list []Desired
	for _, digest := range of {
		list = append(list, Desired{Run: run(digest, "", "")})
	}
	return list
}

func TestNext(t *testing.T) {
	created := func(of string, uid types.UID) Job { return Job{Name: "m-" + of, UID: uid} }
	started := func(of string, uid types.UID) Job { return Job{Name: "m-" + of, UID: uid, Started: true} }
	ended := func(of string, uid types.UID, result v1.RunResult) Job {
		return Job{Name: "m-" + of, UID: uid, Started: true, Result: result}
	}
	skips := func(of string) []Desired { return []Desired{{Run: run(of, "", ""), Skipped: true}} }
	deleting := func(job Job) Job { job.Deleting = true; return job }
	note := func(runs ...v1.RunStatus) Step { return Step{Action: Note, Runs: runs} }
	cases := map[string]struct {
		state State
		want  Step
	}{
		"nothing is rendered or noted": {State{Known: true}, Step{}},
		"the first run is created": {
			State{Known: true, Desired: wants("a")},
			Step{Action: Create, Name: "m-a"},
		},
		"what is created is noted": {
			State{Known: true, Desired: wants("a"), Jobs: []Job{created("a", "1")}},
			note(run("a", "1", "")),
		},
		"what is noted is started": {
			State{Known: true, Desired: wants("a"), Runs: []v1.RunStatus{run("a", "1", "")}, Jobs: []Job{created("a", "1")}},
			Step{Action: Start, Job: created("a", "1")},
		},
		"a suspended one is not started": {
			State{Known: true, Desired: []Desired{{Run: run("a", "", ""), Suspended: true}}, Runs: []v1.RunStatus{run("a", "1", "")}, Jobs: []Job{created("a", "1")}},
			Step{},
		},
		"what runs is left alone": {
			State{Known: true, Desired: wants("a"), Runs: []v1.RunStatus{run("a", "1", "")}, Jobs: []Job{started("a", "1")}},
			Step{},
		},
		"how it ends is noted": {
			State{Known: true, Desired: wants("a"), Runs: []v1.RunStatus{run("a", "1", "")}, Jobs: []Job{ended("a", "1", v1.RunFailed)}},
			note(run("a", "1", v1.RunFailed)),
		},
		"also while nothing can be rendered": {
			State{Runs: []v1.RunStatus{run("a", "1", "")}, Jobs: []Job{ended("a", "1", v1.RunComplete)}},
			note(run("a", "1", v1.RunComplete)),
		},
		"what is complete is not made again": {
			State{Known: true, Desired: wants("a"), Runs: []v1.RunStatus{run("a", "1", v1.RunComplete)}},
			Step{},
		},
		"what failed is not made again": {
			State{Known: true, Desired: wants("a"), Runs: []v1.RunStatus{run("a", "1", v1.RunFailed)}},
			Step{},
		},
		"what is gone without a result is unknown": {
			State{Known: true, Desired: wants("a"), Runs: []v1.RunStatus{run("a", "1", "")}},
			note(run("a", "1", v1.RunUnknown)),
		},
		"and not made again": {
			State{Known: true, Desired: wants("a"), Runs: []v1.RunStatus{run("a", "1", v1.RunUnknown)}},
			Step{},
		},
		"another run is created beside the earlier one": {
			State{Known: true, Desired: wants("b"), Runs: []v1.RunStatus{run("a", "1", "")}, Jobs: []Job{started("a", "1")}},
			Step{Action: Create, Name: "m-b"},
		},
		"it is noted before the earlier one is deleted": {
			State{Known: true, Desired: wants("b"), Runs: []v1.RunStatus{run("a", "1", "")}, Jobs: []Job{started("a", "1"), created("b", "2")}},
			note(run("b", "2", "")),
		},
		"then the earlier one is deleted": {
			State{Known: true, Desired: wants("b"), Runs: []v1.RunStatus{run("b", "2", "")}, Jobs: []Job{started("a", "1"), created("b", "2")}},
			Step{Action: Delete, Job: started("a", "1")},
		},
		"an earlier one that never started, too": {
			State{Known: true, Desired: wants("b"), Runs: []v1.RunStatus{run("b", "2", "")}, Jobs: []Job{created("a", "1"), created("b", "2")}},
			Step{Action: Delete, Job: created("a", "1")},
		},
		"it does not start before that is gone": {
			State{Known: true, Desired: wants("b"), Runs: []v1.RunStatus{run("b", "2", "")}, Jobs: []Job{deleting(started("a", "1")), created("b", "2")}},
			Step{Action: Wait},
		},
		"back again: the name is taken by the first run": {
			State{Known: true, Desired: wants("a"), Runs: []v1.RunStatus{run("b", "2", "")}, Jobs: []Job{started("a", "1"), created("b", "2")}},
			note(run("a", "", "")),
		},
		"which is deleted": {
			State{Known: true, Desired: wants("a"), Runs: []v1.RunStatus{run("a", "", "")}, Jobs: []Job{started("a", "1")}},
			Step{Action: Delete, Job: started("a", "1")},
		},
		"and waited for": {
			State{Known: true, Desired: wants("a"), Runs: []v1.RunStatus{run("a", "", "")}, Jobs: []Job{deleting(started("a", "1"))}},
			Step{Action: Wait},
		},
		"before it is created again": {
			State{Known: true, Desired: wants("a"), Runs: []v1.RunStatus{run("a", "", "")}},
			Step{Action: Create, Name: "m-a"},
		},
		"and noted": {
			State{Known: true, Desired: wants("a"), Runs: []v1.RunStatus{run("a", "", "")}, Jobs: []Job{created("a", "3")}},
			note(run("a", "3", "")),
		},
		"one that a former leader created afterwards is deleted": {
			State{Known: true, Desired: wants("a"), Runs: []v1.RunStatus{run("a", "1", v1.RunComplete)}, Jobs: []Job{created("a", "9")}},
			Step{Action: Delete, Job: created("a", "9")},
		},
		"the Job of an earlier operator is noted under its name": {
			State{Known: true, Desired: []Desired{{Run: v1.RunStatus{Job: "m-old", Digest: "a", UID: "1"}}}, Jobs: []Job{ended("old", "1", v1.RunComplete)}},
			note(v1.RunStatus{Job: "m-old", Digest: "a", UID: "1"}),
		},
		"one that is gone, too": {
			State{Known: true, Desired: []Desired{{Run: v1.RunStatus{Job: "m-old", Digest: "a", Result: v1.RunUnknown}}}},
			note(v1.RunStatus{Job: "m-old", Digest: "a", Result: v1.RunUnknown}),
		},
		"a chart that names one more field: noted again": {
			State{Known: true, Desired: []Desired{{Run: v1.RunStatus{Job: "m-a", Digest: "a2", UID: "1", Result: v1.RunComplete}}}, Runs: []v1.RunStatus{run("a", "1", v1.RunComplete)}},
			note(v1.RunStatus{Job: "m-a", Digest: "a2", UID: "1", Result: v1.RunComplete}),
		},
		"what a deleted resource left is not run again": {
			State{Known: true, Unrecorded: true, Desired: wants("a"), Jobs: []Job{ended("a", "1", v1.RunComplete)}},
			note(run("a", "1", "")),
		},
		"what is skipped is noted, and not created": {
			State{Known: true, Desired: skips("a")}, note(run("a", "", v1.RunSkipped)),
		},
		"then nothing is left to do": {
			State{Known: true, Desired: skips("a"), Runs: []v1.RunStatus{run("a", "", v1.RunSkipped)}}, Step{},
		},
		"also without the annotation": {
			State{Known: true, Desired: wants("a"), Runs: []v1.RunStatus{run("a", "", v1.RunSkipped)}}, Step{},
		},
		"what failed may be skipped": {
			State{Known: true, Desired: skips("a"), Runs: []v1.RunStatus{run("a", "1", v1.RunFailed)}, Jobs: []Job{ended("a", "1", v1.RunFailed)}},
			note(run("a", "", v1.RunSkipped)),
		},
		"what is gone without a result may, too": {
			State{Known: true, Desired: skips("a"), Runs: []v1.RunStatus{run("a", "1", v1.RunUnknown)}}, note(run("a", "", v1.RunSkipped)),
		},
		"the Job that failed is deleted then": {
			State{Known: true, Desired: skips("a"), Runs: []v1.RunStatus{run("a", "", v1.RunSkipped)}, Jobs: []Job{ended("a", "1", v1.RunFailed)}},
			Step{Action: Delete, Job: ended("a", "1", v1.RunFailed)},
		},
		"what runs is not skipped": {
			State{Known: true, Desired: skips("a"), Runs: []v1.RunStatus{run("a", "1", "")}, Jobs: []Job{started("a", "1")}}, Step{},
		},
		"what has succeeded stays complete": {
			State{Known: true, Desired: skips("a"), Runs: []v1.RunStatus{run("a", "1", v1.RunComplete)}}, Step{},
		},
		"what is skipped ends the run before it": {
			State{Known: true, Desired: skips("b"), Runs: []v1.RunStatus{run("a", "1", "")}, Jobs: []Job{started("a", "1")}},
			note(run("b", "", v1.RunSkipped)),
		},
		"what is not wanted yet stays as it is": {
			State{Known: true, Desired: wants("a"), Retained: []v1.RunStatus{run("b", "2", "")},
				Runs: []v1.RunStatus{run("a", "1", v1.RunComplete), run("b", "2", "")}, Jobs: []Job{ended("a", "1", v1.RunComplete), {Name: "m-b", UID: "2", Started: true}}},
			Step{},
		},
		"what is no longer rendered is forgotten": {
			State{Known: true, Runs: []v1.RunStatus{run("a", "1", v1.RunComplete)}, Jobs: []Job{ended("a", "1", v1.RunComplete)}},
			note(),
		},
		"and deleted": {
			State{Known: true, Jobs: []Job{ended("a", "1", v1.RunComplete)}},
			Step{Action: Delete, Job: ended("a", "1", v1.RunComplete)},
		},
		"and not waited for": {
			State{Known: true, Jobs: []Job{deleting(ended("a", "1", v1.RunComplete))}},
			Step{},
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Next(test.state), cmp.Transformer("nil", func(list []v1.RunStatus) string { return fmt.Sprint(list) })); diff != "" {
				t.Errorf("want (-), got (+):\n%s", diff)
			}
		})
	}
}

// world is a cluster with one resource: Jobs, what its status notes, and the version of the resource.
type world struct {
	version int
	wanted  []Desired
	runs    []v1.RunStatus
	jobs    []Job
	uids    int
	starts  map[string]int // by digest and request
	log     []string
}

// leader is a process with a view of the world that may be old.
type leader struct {
	world   *world
	version int
	state   State
}

func (w *world) leader() *leader {
	return &leader{w, w.version, State{Known: true, Desired: w.wanted, Runs: slices.Clone(w.runs), Jobs: slices.Clone(w.jobs)}}
}

func (w *world) spec(of string) {
	w.version++
	w.wanted = wants(of)
}

func (w *world) at(uid types.UID) int {
	return slices.IndexFunc(w.jobs, func(job Job) bool { return job.UID == uid })
}

// step takes one step, and reports whether anything could be done. Present is what it checks before it deletes or starts.
func (l *leader) step(t *testing.T) bool {
	t.Helper()
	w, next := l.world, Next(l.state)
	present := l.version == w.version
	switch next.Action {
	case Done, Wait:
		return false
	case Create:
		if slices.ContainsFunc(w.jobs, func(job Job) bool { return job.Name == next.Name }) {
			return false
		}
		w.uids++
		w.jobs = append(w.jobs, Job{Name: next.Name, UID: types.UID(fmt.Sprint(w.uids))})
		l.state.Jobs = append(l.state.Jobs, w.jobs[len(w.jobs)-1])
	case Note:
		if !present {
			return false
		}
		w.version++
		w.runs, l.state.Runs, l.version = next.Runs, next.Runs, w.version
	case Delete:
		at := w.at(next.Job.UID)
		if !present || at < 0 {
			return false
		}
		w.log = append(w.log, "delete "+next.Job.Name)
		w.jobs = slices.Delete(w.jobs, at, at+1)
		l.state.Jobs = slices.DeleteFunc(l.state.Jobs, func(job Job) bool { return job.UID == next.Job.UID })
	case Start:
		at := w.at(next.Job.UID)
		if !present || at < 0 || w.jobs[at].Started {
			return false
		}
		for _, job := range w.jobs {
			if job.UID != next.Job.UID {
				return false
			}
		}
		w.jobs[at].Started = true
		w.log = append(w.log, "start "+next.Job.Name)
		w.starts[string(next.Job.UID)]++
		l.state.Jobs = slices.Clone(w.jobs)
	}
	return true
}

func (l *leader) settle(t *testing.T) {
	t.Helper()
	for range 50 {
		if !l.step(t) {
			return
		}
	}
	t.Fatalf("it never settles: %v", l.world.log)
}

// A process that is stopped before any of its steps, and continues when another has brought the resource elsewhere, does no harm.
func TestAFormerLeaderNeitherStartsNorDeletes(t *testing.T) {
	for _, back := range []string{"b", "a", "c"} {
		for frozen := range 12 {
			t.Run(fmt.Sprintf("after %d steps, and then %s", frozen, back), func(t *testing.T) {
				w := &world{starts: map[string]int{}}
				w.spec("a")
				w.leader().settle(t)
				w.spec("b")
				former := w.leader()
				for range frozen {
					former.step(t)
				}
				w.spec(back)
				w.leader().settle(t)
				before := slices.Clone(w.log)
				former.settle(t)
				if diff := cmp.Diff(before, w.log); diff != "" {
					t.Errorf("the former leader did something:\n%s", diff)
				}
				w.leader().settle(t)
				if at := w.at(w.runs[0].UID); len(w.jobs) != 1 || at < 0 || !w.jobs[at].Started {
					t.Errorf("in the end there is %v, and %v is noted", w.jobs, w.runs)
				}
				for uid, starts := range w.starts {
					if starts > 1 {
						t.Errorf("Job %s started %d times", uid, starts)
					}
				}
			})
		}
	}
}
