package plugin

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clocktesting "k8s.io/utils/clock/testing"

	v1 "github.com/example/appservice-operator/api/v1"
)

var waitedFor = resourceName{appServices, types.NamespacedName{Namespace: "shop", Name: "web"}}

// awaited returns an AppService of generation 2 with a status.
func awaited(t *testing.T, change func(*v1.AppService)) *unstructured.Unstructured {
	t.Helper()
	app := &v1.AppService{TypeMeta: metav1.TypeMeta{APIVersion: v1.GroupVersion.String(), Kind: v1.Kind},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Generation: 2},
		Status:     v1.AppServiceStatus{ObservedGeneration: 2, Phase: v1.PhaseUpdating}}
	change(app)
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(app)
	require.NoError(t, err)
	return &unstructured.Unstructured{Object: content}
}

func readyIs(app *v1.AppService, status metav1.ConditionStatus, reason string, since time.Time) {
	app.Status.Conditions = append(app.Status.Conditions, metav1.Condition{Type: v1.ConditionReady, Status: status, Reason: reason,
		Message: "because", LastTransitionTime: metav1.NewTime(since)})
}

func problemIs(app *v1.AppService, reason string) {
	app.Status.Problems = append(app.Status.Problems, v1.Problem{Type: v1.ProblemError, Reason: reason, Message: "because"})
}

func TestWhenAWaitEnds(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	stalled := func(generation int64) func(*v1.AppService) {
		return func(app *v1.AppService) {
			readyIs(app, "False", v1.ReasonRolloutStalled, start)
			app.Status.Conditions = append(app.Status.Conditions, metav1.Condition{Type: v1.ConditionStalled, Status: "True",
				ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(start)})
		}
	}
	volume := func(since time.Time) func(*v1.AppService) {
		return func(app *v1.AppService) {
			readyIs(app, "False", v1.ReasonVolumeNotBound, since)
			problemIs(app, v1.ReasonVolumeNotBound)
		}
	}
	missing := func(app *v1.AppService) {
		readyIs(app, "False", v1.ReasonDependencyMissing, start.Add(-time.Hour))
		problemIs(app, v1.ReasonDependencyMissing)
		app.Status.Conditions = append(app.Status.Conditions, metav1.Condition{Type: v1.ConditionStalled, Status: "True", ObservedGeneration: 2})
	}
	for name, test := range map[string]struct {
		is    func(*v1.AppService)
		want  outcome
		after outcome // when it has lasted for long
		line  string
	}{
		"ready": {func(app *v1.AppService) { app.Status.Phase = v1.PhaseRunning; readyIs(app, "True", "Running", start) },
			outcomeReady, outcomeReady, "Running"},
		"ready with the spec before": {func(app *v1.AppService) { app.Generation = 3; readyIs(app, "True", "Running", start) },
			outcomeWaiting, outcomeWaiting, "the operator has not processed the latest spec yet"},
		"an error of the spec before": {func(app *v1.AppService) { app.Generation = 3; stalled(2)(app) },
			outcomeWaiting, outcomeWaiting, "the operator has not processed the latest spec yet"},
		"rolling out": {func(app *v1.AppService) {
			readyIs(app, "False", "RollingOut", start)
			app.Status.Replicas, app.Status.UpdatedReplicas, app.Status.Readiness = 5, 2, "0/4"
		}, outcomeWaiting, outcomeWaiting, "Updating  █████░░░░░ 2 of 4 updated, 0 ready  RollingOut: because"},
		"stalled":                      {stalled(2), outcomeFailed, outcomeFailed, "Updating  RolloutStalled: because"},
		"stalled with the spec before": {stalled(1), outcomeWaiting, outcomeWaiting, "Updating  RolloutStalled: because"},
		"an error that may end":        {volume(start), outcomeWaiting, outcomeFailed, "Updating  VolumeNotBound: because"},
		"an error that has lasted":     {volume(start.Add(-lasting)), outcomeFailed, outcomeFailed, "Updating  VolumeNotBound: because"},
		"a Secret that may be applied": {missing, outcomeWaiting, outcomeFailed, "Updating  DependencyMissing: because"},
		"no operator": {func(app *v1.AppService) { app.Status = v1.AppServiceStatus{} },
			outcomeWaiting, outcomeWaiting, "no operator has written the status yet: check that it runs, and serves this namespace"},
		"its turn": {func(app *v1.AppService) {
			readyIs(app, "False", v1.ReasonRolloutHeldBack, start.Add(-time.Hour))
			problemIs(app, v1.ReasonRolloutHeldBack)
		}, outcomeWaiting, outcomeWaiting, "Updating  RolloutHeldBack: because"},
		"back at a former release": {func(app *v1.AppService) {
			readyIs(app, "True", "Running", start)
			problemIs(app, v1.ReasonReturnedToRelease)
		}, outcomeFailed, outcomeFailed, "ReturnedToRelease: because"},
		"paused": {func(app *v1.AppService) { app.Status.Phase = v1.PhasePaused; readyIs(app, "True", "Running", start) },
			outcomeFailed, outcomeFailed, "reconciles are paused: kubectl appservice resume web"},
		"deleted": {func(app *v1.AppService) {
			app.DeletionTimestamp = &metav1.Time{Time: start}
			readyIs(app, "True", "Running", start)
		}, outcomeFailed, outcomeFailed, "resource is being deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			one, resource := &waited{name: waitedFor}, awaited(t, test.is)
			got, line := one.verdict(resource, start)
			assert.Equal(t, test.want, got)
			assert.Equal(t, test.line, line)
			got, _ = one.verdict(resource, start.Add(lasting))
			assert.Equal(t, test.after, got, "after %s", lasting)
		})
	}
	got, line := (&waited{}).verdict(nil, start)
	assert.Equal(t, outcomeFailed, got)
	assert.Equal(t, "resource does not exist", line)
}

func TestAnotherErrorHasItsOwnTime(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	one := &waited{name: waitedFor}
	is := func(reason string) *unstructured.Unstructured {
		return awaited(t, func(app *v1.AppService) { readyIs(app, "False", reason, start); problemIs(app, reason) })
	}
	got, _ := one.verdict(is(v1.ReasonVolumeNotBound), start.Add(lasting-time.Second))
	require.Equal(t, outcomeWaiting, got)
	got, _ = one.verdict(is(v1.ReasonImageNotFound), start.Add(lasting))
	require.Equal(t, outcomeWaiting, got, "it is a new one")
	got, _ = one.verdict(is(v1.ReasonImageNotFound), start.Add(2*lasting))
	require.Equal(t, outcomeFailed, got)
}

func TestAWaitPrintsALineForEachChange(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var out, errOut bytes.Buffer
	s := &cli{IOStreams: genericiooptions.IOStreams{Out: &out, ErrOut: &errOut}, color: colorNever}
	clock := clocktesting.NewFakeClock(start)
	changes := make(chan seen, 4)
	rolling := awaited(t, func(app *v1.AppService) { readyIs(app, "False", "RollingOut", start) })
	for _, resource := range []*unstructured.Unstructured{rolling, rolling,
		awaited(t, func(app *v1.AppService) { app.Status.Phase = v1.PhaseRunning; readyIs(app, "True", "Running", start) })} {
		changes <- seen{resource: resource}
	}
	require.NoError(t, s.waitFor(t.Context(), []*waited{{name: waitedFor}}, changes, time.Minute, clock))
	assert.Equal(t, "appservice/web  Updating  RollingOut: because\nappservice/web  Running\n", out.String())

	changes <- seen{resource: rolling}
	ended := make(chan error)
	go func() { ended <- s.waitFor(t.Context(), []*waited{{name: waitedFor}}, changes, time.Minute, clock) }()
	require.Eventually(t, func() bool { return clock.HasWaiters() && len(changes) == 0 }, time.Minute, time.Millisecond)
	clock.Step(time.Minute)
	require.ErrorIs(t, <-ended, errFound)
	assert.Equal(t, "appservice/web is not ready after 1m0s: --timeout makes it longer\n", errOut.String())
}
