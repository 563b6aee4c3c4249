package main

import (
	"slices"
	"time"
)

// Results are those of a whole run.
type Results struct {
	Date       string    `json:"date"`
	Commit     string    `json:"commit"` // of the code that was measured
	Machine    Machine   `json:"machine"`
	Command    string    `json:"command"`
	N          int       `json:"n"`
	Rounds     int       `json:"rounds"`
	Objects    int       `json:"objects"` // of each AppService
	Contenders []*Result `json:"contenders"`
	Figures    []Figure  `json:"figures"`
	Void       string    `json:"void,omitempty"` // why the run is void, if it is
}

// Result is that of a contender.
type Result struct {
	Letter string `json:"letter"`
	Title  string `json:"title"`
	Reused string `json:"reused,omitempty"` // date of the run that it was measured in, where that is not this one

	Phases []*Phase `json:"phases"`

	Alone  *Latency `json:"alone,omitempty"`  // from apply to Deployment, one at a time
	Drift  *Latency `json:"drift,omitempty"`  // from a change of a Deployment until it is restored
	Change *Latency `json:"change,omitempty"` // from a change of an image to the Deployment, one at a time
	NoOp   *NoOp    `json:"noOp,omitempty"`

	SettledMiB float64 `json:"settledMiB,omitempty"` // resident memory after the idle phase
	// SettledAnonMiB is the part of it that is not of files, such as the program itself.
	SettledAnonMiB float64 `json:"settledAnonMiB,omitempty"`
	PeakMiB        float64 `json:"peakMiB,omitempty"`
}

// Phase is one operation on all AppServices.
type Phase struct {
	Name      string         `json:"name"`
	Seconds   float64        `json:"seconds"` // until all were as wanted, or it was aborted
	Wanted    int            `json:"wanted"`
	Converged int            `json:"converged"`
	PerSecond float64        `json:"perSecond"`
	Requests  map[string]int `json:"requests"` // by verb and resource, until it was quiet
	Total     int            `json:"requestsTotal"`
	Writes    int            `json:"writes"`
	CPU       float64        `json:"cpuSeconds"`
	// ServerCPU is what the API server used meanwhile, for everybody.
	ServerCPU float64 `json:"serverCPUSeconds"`
	// Reconciles begun and ended, of the process that ended the phase.
	Reconciles int     `json:"reconciles"`
	Curve      []Point `json:"curve,omitempty"`
}

// Point is how many were as desired at a time.
type Point struct {
	Seconds float64 `json:"s"`
	Count   int     `json:"n"`
}

// NoOp is the cost of a reconcile without changes.
type NoOp struct {
	Reconciles int     `json:"reconciles"`
	Requests   float64 `json:"requestsPerReconcile"`
	CPUMillis  float64 `json:"cpuMillisPerReconcile"`
	KiB        float64 `json:"allocatedKiBPerReconcile"`
}

// Latency sums up durations.
type Latency struct {
	Count  int     `json:"count"`
	Missed int     `json:"missed,omitempty"` // those that never came
	P50    float64 `json:"p50Millis"`
	P99    float64 `json:"p99Millis"`
}

func latency(durations []time.Duration, missed int) *Latency {
	out := &Latency{Count: len(durations), Missed: missed}
	if len(durations) == 0 {
		return out
	}
	slices.Sort(durations)
	at := func(percent int) float64 { // the least that as many percent do not exceed
		rank := (len(durations)*percent + 99) / 100
		return float64(durations[rank-1].Microseconds()) / 1000
	}
	out.P50, out.P99 = at(50), at(99)
	return out
}

func (r *Results) of(letter string) *Result {
	for _, result := range r.Contenders {
		if result.Letter == letter {
			return result
		}
	}
	return nil
}

// phase returns a phase of a contender, nil if it was not measured.
func (r *Result) phase(name string) *Phase {
	if r == nil {
		return nil
	}
	for _, phase := range r.Phases {
		if phase.Name == name {
			return phase
		}
	}
	return nil
}
