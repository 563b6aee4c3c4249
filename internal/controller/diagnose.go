package controller

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/cluster"
	"github.com/example/appservice-operator/internal/diagnose"
	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/status"
)

// Pods are looked at on demand: not at all while a Deployment is as desired or moves on, then at growing intervals.
const (
	// patience is for how long a Deployment may stand still, and patienceAtMost for how long it may be on its way, before
	// anybody looks.
	patience, patienceAtMost = 3 * time.Second, 10 * time.Second
	// closest is the time between a look and one that something brings forward.
	closest = 5 * time.Second
	// knownFirst and knownLater are the times between looks at a cause that is known to last, early and later on.
	knownFirst, knownLater = 20 * time.Second, time.Minute
	// searching and searchingLater are those at any other Deployment.
	searching, searchingLater = 10 * time.Second, 30 * time.Second
	// lookRetry is how soon a look is tried again that had to wait for others.
	lookRetry = time.Second
)

// diagnosis is what is remembered of a Deployment that is not as desired.
type diagnosis struct {
	subject  subject
	progress progress
	since    time.Time // when it was first seen to be not as desired
	looked   time.Time // zero before the first look
	looks    int
	next     time.Time // of the next look
	causes   []diagnose.Cause
}

// subject is what a diagnosis speaks of: another pod template is another case.
type subject struct {
	uid      types.UID
	template uint64
}

// progress is what changes when a Deployment moves on.
type progress struct{ replicas, updated, ready, available int32 }

// diagnose finds out why the Deployment is not as desired. What goes wrong with that leaves the causes as they were.
func (r *Reconciler) diagnose(ctx context.Context, p *pass) {
	now := r.Clock.Now()
	workload := status.Workload(p.resource, p.snapshot)
	findings := findingsOf(p.snapshot, workload)
	findings.Now = now
	if workload == nil || p.paused || p.problem() != nil || workload.Status.ObservedGeneration < workload.Generation {
		p.memory.diagnosis = nil
		return
	}
	stalled := diagnosed(p.previous)
	if status.Settled(workload) && !p.unsure() {
		p.memory.diagnosis, p.causes = nil, diagnose.Causes(findings)
		return
	}
	d := p.memory.diagnosis
	if about := subjectOf(workload); d == nil || d.subject != about {
		d = &diagnosis{subject: about, since: now, next: now.Add(patience)}
		if stalled {
			d.next = now // what was known before a restart is found again before anything else is said
		}
		p.memory.diagnosis = d
	}
	d.saw(now, progressOf(workload))
	switch {
	case now.Before(d.next):
	case !stalled && r.Looks != nil && !r.Looks.TryAccept():
		d.next = now.Add(lookRetry)
	default:
		r.look(ctx, d, &findings)
	}
	if d.looked.IsZero() {
		d.causes = diagnose.Causes(findings)
	}
	p.causes = d.causes
}

// look reads pods and what belongs to them.
func (r *Reconciler) look(ctx context.Context, d *diagnosis, findings *diagnose.Findings) {
	err := diagnose.Collect(ctx, r.Live, findings)
	if err != nil {
		log.FromContext(ctx).Info("pods could not be looked at", "reason", err.Error())
	} else {
		d.causes = diagnose.Steady(d.causes, diagnose.Causes(*findings))
	}
	d.plan(findings.Now)
}

// diagnosed tells whether a status says that the rollout is stuck for a cause that pods show.
func diagnosed(previous *v1.AppServiceStatus) bool {
	condition := meta.FindStatusCondition(previous.Conditions, v1.ConditionStalled)
	return condition != nil && condition.Status == metav1.ConditionTrue && diagnose.Seen(condition.Reason)
}

// unsure tells whether pods that seem to be well may be about to crash again.
func (p *pass) unsure() bool {
	condition := meta.FindStatusCondition(p.previous.Conditions, v1.ConditionStalled)
	if !diagnosed(p.previous) || !diagnose.Recurs(condition.Reason) || p.previous.ObservedGeneration != p.resource.GetGeneration() {
		return false
	}
	d := p.memory.diagnosis
	if d == nil || d.looked.IsZero() {
		return true
	}
	return len(d.causes) > 0 && d.causes[0].Effect == diagnose.Lasting
}

// saw notes how far the Deployment is. Before the first look, progress puts that off; later, it brings the next one forward.
func (d *diagnosis) saw(now time.Time, at progress) {
	if at == d.progress {
		return
	}
	first := d.progress == progress{}
	d.progress = at
	switch {
	case first:
	case d.looked.IsZero():
		if put := earlier(now.Add(patience), d.since.Add(patienceAtMost)); put.After(d.next) {
			d.next = put
		}
	default:
		d.next = earlier(d.next, later(now, d.looked.Add(closest)))
	}
}

// plan sets the time of the next look.
func (d *diagnosis) plan(now time.Time) {
	d.looked = now
	d.looks++
	lasting := len(d.causes) > 0 && d.causes[0].Effect == diagnose.Lasting
	after := searching
	switch {
	case lasting && d.looks > 10:
		after = knownLater
	case lasting:
		after = knownFirst
	case d.looks > 12:
		after = searchingLater
	case d.looks == 1:
		after = patience
	case d.looks == 2:
		after = closest
	}
	d.next = now.Add(after)
	for _, cause := range d.causes {
		if cause.Effect == diagnose.Passing && !cause.Until.IsZero() {
			d.next = earlier(d.next, later(cause.Until, now.Add(lookRetry)))
		}
	}
}

// wait is the time until the next look.
func (d *diagnosis) wait(now time.Time) time.Duration {
	return max(time.Millisecond, d.next.Sub(now))
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func subjectOf(workload *appsv1.Deployment) subject {
	sum := fnv.New64a()
	_ = json.NewEncoder(sum).Encode(workload.Spec.Template) // neither can fail
	return subject{workload.UID, sum.Sum64()}
}

func progressOf(workload *appsv1.Deployment) progress {
	have := workload.Status
	return progress{have.Replicas, have.UpdatedReplicas, have.ReadyReplicas, have.AvailableReplicas}
}

// findingsOf returns what a snapshot tells of why a Deployment is not as desired, without a request.
func findingsOf(snapshot *cluster.Snapshot, workload *appsv1.Deployment) diagnose.Findings {
	out := diagnose.Findings{Deployment: workload}
	if workload == nil {
		return out
	}
	out.Autoscaler = kube.As[autoscalingv2.HorizontalPodAutoscaler](snapshot.Object("autoscaling", "HorizontalPodAutoscaler", workload.Name))
	out.Ingress = kube.As[networkingv1.Ingress](snapshot.Object(networkingv1.GroupName, "Ingress", workload.Name))
	return out
}
