package diagnose

import (
	"cmp"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/example/appservice-operator/internal/operator/status/reason"
)

// Findings are the objects found for a workload. All except the workload may be left out; missing ones are not judged.
type Findings struct {
	Workload *Workload
	// ReplicaSets, of a Deployment, and Pods that the workload selects.
	ReplicaSets []appsv1.ReplicaSet
	Pods        []corev1.Pod
	// Events of pods, claims and the workload; see Suspects.
	Events []corev1.Event
	// Claims that pods wait for; see Waits.
	Claims []corev1.PersistentVolumeClaim
	// Known are the causes that the previous look found: pods of a Job may be deleted when it fails.
	Known []Cause
	// Now is the time of the findings.
	Now time.Time
}

// Effect is the severity of a cause.
type Effect int

const (
	// Advice is useful to know, and affects no pod.
	Advice Effect = iota
	// Passing causes may end by themselves.
	Passing
	// Lasting causes end only with help.
	Lasting
)

// Cause is why something is not as desired.
type Cause struct {
	// Reason is one of the constants of the API.
	Reason string
	// Source is its subject, for example `container "app"`.
	Source string
	// Message is one line in our words.
	Message string
	// Detail is the original message of the container, the kubelet or the registry; often empty.
	Detail string
	// Hint says what to do.
	Hint   string
	Effect Effect
	// Until is when a Passing cause becomes Lasting; zero if time alone does not decide.
	Until time.Time
	// Earlier describes the previous version, as found in the same look; nil if there was no look.
	Earlier *Earlier

	pods     int   // with the cause
	restarts int32 // of the container that restarted most
}

// Text returns message and detail on one line.
func (c Cause) Text() string {
	if c.Detail == "" {
		return c.Message
	}
	return c.Message + ": " + c.Detail
}

// Causes returns why a workload is not as desired, the worst cause first.
func Causes(f Findings) []Cause {
	var list []Cause
	if w := f.Workload; w != nil {
		if w.failure != nil {
			list = w.failure(&f)
		}
		if len(list) == 0 {
			list = append(creation(f), pods(f)...)
		}
	}
	earlier := f.earlier()
	for i := range list {
		cause := &list[i]
		cause.Earlier = earlier
		if cause.Effect == Passing && !cause.Until.IsZero() && !f.Now.Before(cause.Until) {
			cause.Effect = Lasting
		}
		cause.Hint = cmp.Or(cause.Hint, reason.Of(cause.Reason).Hint)
	}
	order(list)
	return list
}

// cast returns the pods of the workload by version; nil if that is not known.
func (f *Findings) cast() *cast {
	if f.Workload == nil {
		return nil
	}
	return f.Workload.cast(f)
}

// current returns the pods that count: those of the present version, and those of earlier ones that it waits for.
func (f *Findings) current() []*corev1.Pod {
	cast := f.cast()
	if cast == nil {
		return nil
	}
	return slices.Concat(cast.present, cast.blocking)
}

// maxSuspects limits the requests that one look takes.
const maxSuspects = 3

// Suspects returns the objects whose events may say more than they do themselves: what creates the pods if there are
// too few, one pod for each kind of trouble, and the one that is being deleted for longest.
func (f *Findings) Suspects() []types.UID {
	var list []types.UID
	if f.Workload != nil && f.Workload.creator != nil {
		if creator := f.Workload.creator(f); creator != "" {
			list = append(list, creator)
		}
	}
	seen := map[string]bool{}
	for _, pod := range f.current() {
		trouble := appearance(pod)
		if trouble == "" || seen[trouble] || len(seen) == maxSuspects {
			continue
		}
		seen[trouble] = true
		list = append(list, pod.UID)
	}
	if cast := f.cast(); cast != nil && len(cast.leaving) > 0 && len(cast.leaving[0].Finalizers) == 0 {
		list = append(list, cast.leaving[0].UID)
	}
	return list
}

// Waits names the claims that pods of the present version wait for.
func (f *Findings) Waits() []string {
	var list []string
	for _, pod := range f.current() {
		if unscheduled := condition(pod, corev1.PodScheduled); unscheduled == nil || !aboutVolumes(unscheduled.Message) {
			continue
		}
		for _, volume := range pod.Spec.Volumes {
			if volume.PersistentVolumeClaim != nil {
				list = append(list, volume.PersistentVolumeClaim.ClaimName)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// eventsOf returns the events of an object with one of some reasons, the newest first.
func (f *Findings) eventsOf(uid types.UID, reasons ...string) []*corev1.Event {
	var list []*corev1.Event
	for i := range f.Events {
		event := &f.Events[i]
		if event.InvolvedObject.UID == uid && slices.Contains(reasons, event.Reason) {
			list = append(list, event)
		}
	}
	slices.SortStableFunc(list, func(a, b *corev1.Event) int { return lastTime(b).Compare(lastTime(a)) })
	return list
}

// lastTime is when an event last happened. Events of the newer API have other fields than those of the older one.
func lastTime(event *corev1.Event) time.Time {
	switch {
	case event.Series != nil:
		return event.Series.LastObservedTime.Time
	case !event.LastTimestamp.IsZero():
		return event.LastTimestamp.Time
	case !event.EventTime.IsZero():
		return event.EventTime.Time
	}
	return event.CreationTimestamp.Time
}
