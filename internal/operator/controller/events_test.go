package controller

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/record"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator/status"
)

func TestEventsTellWhatChanged(t *testing.T) {
	said := func(phase v1.Phase, reason, message string) *v1.AppServiceStatus {
		return &v1.AppServiceStatus{Phase: phase, Conditions: []metav1.Condition{{Type: v1.ConditionReady, Reason: reason, Message: message}}}
	}
	cases := map[string]struct {
		before, now *v1.AppServiceStatus
		problem     *status.Problem
		want        []string
	}{
		"the first status":   {&v1.AppServiceStatus{}, said(v1.PhasePending, "RollingOut", "0 of 1"), nil, nil},
		"it runs":            {said(v1.PhasePending, "RollingOut", "0 of 1"), said(v1.PhaseRunning, "Running", "1 of 1"), nil, nil},
		"nothing changed":    {said(v1.PhaseDegraded, "OutOfMemory", "a"), said(v1.PhaseDegraded, "OutOfMemory", "a"), nil, nil},
		"only words changed": {said(v1.PhaseDegraded, "OutOfMemory", "a"), said(v1.PhaseDegraded, "OutOfMemory", "b"), nil, nil},
		"degraded":           {said(v1.PhaseUpdating, "RollingOut", "a"), said(v1.PhaseDegraded, "OutOfMemory", "b"), nil, []string{"Warning Degraded OutOfMemory: b"}},
		"another cause":      {said(v1.PhaseDegraded, "ImageNotFound", "a"), said(v1.PhaseDegraded, "OutOfMemory", "b"), nil, []string{"Warning Degraded OutOfMemory: b"}},
		"stalled":            {said(v1.PhasePending, "RollingOut", "a"), said(v1.PhaseFailed, "OutOfMemory", "b"), nil, []string{"Warning Stalled OutOfMemory: b"}},
		"recovered":          {said(v1.PhaseFailed, "OutOfMemory", "b"), said(v1.PhaseRunning, "Running", "1 of 1"), nil, []string{"Normal Recovered 1 of 1"}},
		"paused":             {said(v1.PhaseRunning, "Running", "a"), said(v1.PhasePaused, "Paused", "paused by"), nil, []string{"Normal Paused paused by"}},
		"still paused":       {said(v1.PhasePaused, "Paused", "paused by"), said(v1.PhasePaused, "Paused", "paused by"), nil, nil},
		"no longer paused":   {said(v1.PhasePaused, "Paused", "a"), said(v1.PhaseRunning, "Running", "1 of 1"), nil, []string{"Normal Resumed no longer paused: 1 of 1"}},
		"refused":            {said(v1.PhaseRunning, "Running", "a"), said(v1.PhaseDegraded, "ResourceExists", "b"), &status.Problem{Reason: "ResourceExists"}, []string{"Warning ResourceExists b"}},
		"still refused":      {said(v1.PhaseDegraded, "ResourceExists", "b"), said(v1.PhaseDegraded, "ResourceExists", "b"), &status.Problem{Reason: "ResourceExists"}, nil},
		"refused for more":   {said(v1.PhaseDegraded, "ResourceExists", "b"), said(v1.PhaseDegraded, "ResourceExists", "c"), &status.Problem{Reason: "ResourceExists"}, []string{"Warning ResourceExists c"}},
		"only waited for":    {said(v1.PhaseRunning, "Running", "a"), said(v1.PhaseUpdating, "Pending", "b"), &status.Problem{Reason: "Pending"}, nil},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			b := &bench{recorder: record.NewFakeRecorder(10)}
			r := &Reconciler{Recorder: b.recorder}
			r.emitState(t.Context(), &scope{resource: &unstructured.Unstructured{}, previous: test.before}, test.now, test.problem)
			if got := b.events(); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
