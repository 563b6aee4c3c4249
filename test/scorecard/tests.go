package main

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/try"
)

const (
	// settling is how long all must have been still before the steady state counts as reached.
	settling = 5 * time.Second
	// stillness is how long nothing may change from then on.
	stillness = 15 * time.Second
)

// sampleBecomesReady applies the bundle's first example, waits until it is Ready, and looks whether that is true.
func sampleBecomesReady(ctx context.Context, s *subject) {
	app := s.create(ctx, nil)
	s.untilReady(ctx, app)
	deployment := &appsv1.Deployment{}
	try.Do(s.client.Get(ctx, client.ObjectKeyFromObject(app), deployment))
	if owner := metav1.GetControllerOf(deployment); owner == nil || owner.UID != app.UID {
		try.Fail("the Deployment %s is not controlled by the AppService", deployment.Name)
	}
	if want := *app.Spec.Size; deployment.Status.ReadyReplicas != want || app.Status.ReadyReplicas != want {
		try.Fail("ready replicas: the Deployment has %d and the status says %d, want %d",
			deployment.Status.ReadyReplicas, app.Status.ReadyReplicas, want)
	}
	if app.Status.Phase != v1.PhaseRunning || app.Status.URL == "" {
		try.Fail("the status says phase %q and URL %q, want %s and an address", app.Status.Phase, app.Status.URL, v1.PhaseRunning)
	}
}

// steadyStateIsSilent waits until the example has come to rest and watches that nothing of it is written from then on.
func steadyStateIsSilent(ctx context.Context, s *subject) {
	app := s.create(ctx, nil)
	s.untilReady(ctx, app)
	var before map[string]string
	since := time.Now()
	try.Do(until(ctx, func(ctx context.Context) error {
		now, err := s.versions(ctx, app)
		if err != nil {
			return err
		}
		if moved := difference(before, now); moved != "" {
			before, since = now, time.Now()
			return fmt.Errorf("it still moves: %s", moved)
		}
		if still := time.Since(since); still < settling {
			return fmt.Errorf("it has been still for %s only", still)
		}
		return nil
	}))
	s.say("%d objects came to rest", len(before))
	err := wait.PollUntilContextTimeout(ctx, pace, stillness, true, func(context.Context) (moved bool, err error) {
		now, err := s.versions(ctx, app)
		if err != nil {
			return false, err
		}
		if moved := difference(before, now); moved != "" {
			return true, fmt.Errorf("something was written in the steady state: %s", moved)
		}
		return false, nil
	})
	if wait.Interrupted(err) {
		err = ctx.Err() // none if nothing moved all the time
	}
	try.Do(err)
}

// deletionLeavesNothing deletes the example, with a claim to be retained, and sees that only the claim stays.
func deletionLeavesNothing(ctx context.Context, s *subject) {
	app := s.create(ctx, func(app *v1.AppService) {
		app.Spec.Persistence = &v1.Persistence{Size: quantity("1Gi"), MountPath: "/scorecard"}
	})
	// Not until it is ready: that would need a volume.
	s.untilTrue(ctx, app, v1.ConditionDeployed)
	made := try.Get(s.dependents(ctx, app))
	s.say("before the deletion there were %v", names(made))
	try.Do(s.client.Delete(ctx, app))
	try.Do(until(ctx, func(ctx context.Context) error {
		left, err := s.dependents(ctx, app)
		if err != nil {
			return err
		}
		for _, object := range left {
			if object.Kind != "PersistentVolumeClaim" {
				return fmt.Errorf("still there: %v", names(left))
			}
		}
		return nil
	}))
	claim := &corev1.PersistentVolumeClaim{}
	if err := s.client.Get(ctx, client.ObjectKeyFromObject(app), claim); err != nil {
		try.Fail("the claim was not retained: %w", err)
	}
	if claim.DeletionTimestamp != nil || claim.Annotations[v1.AnnotationRetainedFor] != app.Name {
		try.Fail("the claim is not marked as retained: %v", claim.Annotations)
	}
}
