package jobs

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/example/appservice-operator/api/v1"
)

// State determines the next step.
type State struct {
	// Desired are the rendered Jobs; Known is false if nothing can be rendered, or the rendered objects may not be
	// written.
	Desired []Desired
	Known   bool
	// Retained are noted runs of Jobs that are not desired yet: they, and their Jobs, stay as they are.
	Retained []v1.RunStatus
	// Runs are the noted runs in the status of the resource, in the version that Note has as its precondition.
	Runs []v1.RunStatus
	// Unrecorded reports that no release is recorded: a started Job that has the name of a desired one was left by an
	// earlier resource.
	Unrecorded bool
	// Jobs are the live Jobs of the resource, however stale. One that is noted and has no result is among them unless it
	// is gone.
	Jobs []Job
}

// Desired is a rendered Job.
type Desired struct {
	// Run is noted once it exists, without UID and result; those are set if an earlier release ran the same.
	Run v1.RunStatus
	// Suspended Jobs are not started.
	Suspended bool
	// Skipped Jobs are noted as such, unless they run or have succeeded.
	Skipped bool
}

// Job is a live Job.
type Job struct {
	Name string
	UID  types.UID
	// Started reports that its pods may run, or may have run.
	Started  bool
	Deleting bool
	// Result is empty until it has ended.
	Result v1.RunResult
}

// Action is the action of a step.
type Action int

// The steps, in the order in which a run takes them.
const (
	// Done: there is nothing to do.
	Done Action = iota
	// Create the desired Job, suspended.
	Create
	// Note the runs in the status, if the resource has not changed.
	Note
	// Delete a Job of an earlier run, and its pods.
	Delete
	// Wait until the Jobs of earlier runs are gone.
	Wait
	// Start the Job, if nothing of an earlier run is left.
	Start
)

// Step is the next thing to do.
type Step struct {
	Action Action
	// Name of the Job to create.
	Name string
	// Runs to note.
	Runs []v1.RunStatus
	// Job to delete or start.
	Job Job
}

// Next returns the next step. Deleting and starting come only after everything is noted, and what is noted with a UID
// is never created: so a process whose Note is refused, because it is no longer the leader or its caches are behind,
// neither deletes nor starts anything.
func Next(s State) Step {
	runs := s.results()
	if !slices.Equal(runs, s.Runs) {
		return Step{Action: Note, Runs: runs}
	}
	if !s.Known {
		return Step{}
	}
	noted := []v1.RunStatus{}
	for _, desired := range s.Desired {
		run := s.noted(desired.Run)
		if desired.Skipped && run.Result != v1.RunComplete && (run.UID == "" || run.Result != "") {
			run.UID, run.Result = "", v1.RunSkipped
		}
		job, exists := s.named(run.Job)
		switch {
		case run.UID != "" || run.Result != "":
		case !exists:
			return Step{Action: Create, Name: run.Job}
		case !job.Deleting && (!job.Started || s.Unrecorded && len(s.Runs) == 0):
			run.UID = job.UID
		}
		noted = append(noted, run)
	}
	noted = append(noted, s.Retained...)
	if !slices.Equal(noted, s.Runs) {
		return Step{Action: Note, Runs: noted}
	}
	waits := false
	for _, job := range s.Jobs {
		if slices.ContainsFunc(noted, func(run v1.RunStatus) bool { return run.UID == job.UID }) {
			continue
		}
		if !job.Deleting {
			return Step{Action: Delete, Job: job}
		}
		waits = true
	}
	if waits && len(s.Desired) > 0 {
		return Step{Action: Wait}
	}
	for i, desired := range s.Desired {
		job, exists := s.withUID(noted[i].UID)
		if exists && !job.Started && !job.Deleting && !desired.Suspended {
			return Step{Action: Start, Job: job}
		}
	}
	return Step{}
}

// results returns the noted runs with the results that their Jobs have by now. A Job that is gone takes its result with
// it.
func (s State) results() []v1.RunStatus {
	runs := slices.Clone(s.Runs)
	for i, run := range runs {
		if run.UID == "" || run.Result != "" {
			continue
		}
		job, exists := s.withUID(run.UID)
		runs[i].Result = job.Result
		if !exists {
			runs[i].Result = v1.RunUnknown
		}
	}
	return runs
}

// noted returns the noted run with the same digest, or else the run itself.
func (s State) noted(run v1.RunStatus) v1.RunStatus {
	for _, known := range s.Runs {
		if known.Digest == run.Digest {
			return known
		}
	}
	return run
}

// named returns the Job with a name.
func (s State) named(name string) (Job, bool) {
	return find(s.Jobs, func(job Job) bool { return job.Name == name })
}

func (s State) withUID(uid types.UID) (Job, bool) {
	return find(s.Jobs, func(job Job) bool { return job.UID == uid })
}

func find(list []Job, is func(Job) bool) (Job, bool) {
	if at := slices.IndexFunc(list, is); at >= 0 {
		return list[at], true
	}
	return Job{}, false
}
