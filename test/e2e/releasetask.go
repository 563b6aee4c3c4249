package main

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/poll"
)

const (
	migrated     = "migrated"
	migratedPort = 30008
)

// migrate has a new version wait for a task of 20 s, while the version before answers.
func migrate(ctx context.Context, s *suite) {
	app := web(apps, migrated, migratedPort)
	app.Spec.Release = &v1.ReleaseTask{Command: []string{"/web"}, Args: []string{"wait", "1s"}}
	s.createReady(ctx, app)
	s.serves(ctx, migratedPort)
	s.underLoad(ctx, migratedPort, func() {
		s.change(ctx, app, func() { app.Spec.Image, app.Spec.Release.Args = newTag, []string{"wait", "20s"} })
		s.until(ctx, app, wanted{kind: v1.ConditionReconciling, status: metav1.ConditionTrue, message: "stage before"})
		s.untilOnly(ctx, app, oldTag)
		s.untilReady(ctx, app)
		s.untilOnly(ctx, app, newTag)
	})
	s.ran(ctx, app, "20s", 20)
}

// ran fails unless the task of an application took at least some seconds.
func (s *suite) ran(ctx context.Context, app *v1.AppService, what string, least float64) {
	job := &batchv1.Job{}
	job.Namespace, job.Name = apps, app.Status.Runs[0].Job
	try.Do(s.client.Get(ctx, client.ObjectKeyFromObject(job), job))
	if took := job.Status.CompletionTime.Sub(job.Status.StartTime.Time).Seconds(); took < least {
		try.Fail("the task of %s took %.0f s", what, took)
	}
}

// failMigration has a task fail, and then succeed, with the version before answering all the time.
func failMigration(ctx context.Context, s *suite) {
	app := named(migrated)
	s.underLoad(ctx, migratedPort, func() {
		s.change(ctx, app, func() { app.Spec.Image, app.Spec.Release.Args = oldTag, []string{"fail"} })
		s.until(ctx, app,
			wanted{kind: v1.ConditionReady, status: metav1.ConditionFalse, reasons: []string{v1.ReasonJobFailed}, message: "no such column"},
			wanted{kind: v1.ConditionStalled, status: metav1.ConditionTrue},
			wanted{kind: v1.ConditionAvailable, status: metav1.ConditionTrue})
		s.untilOnly(ctx, app, newTag)
		s.change(ctx, app, func() { app.Spec.Release.Args = []string{"wait", "1s"} })
		s.untilReady(ctx, app)
		s.untilOnly(ctx, app, oldTag)
	})
}

// goBack has a release crash that is answered by the last one that was Ready.
func goBack(ctx context.Context, s *suite) {
	app := named(migrated)
	s.change(ctx, app, func() { app.Spec.Release, app.Spec.OnFailure = nil, &v1.OnFailure{Action: v1.OnFailureReturn} })
	s.untilReady(ctx, app)
	s.underLoad(ctx, migratedPort, func() {
		s.change(ctx, app, func() {
			app.Spec.Image, app.Spec.Envs = newTag, []corev1.EnvVar{{Name: "MODE", Value: "crash"}}
		})
		s.until(ctx, app, wanted{kind: v1.ConditionReady, status: metav1.ConditionFalse,
			reasons: []string{v1.ReasonReturnedToRelease}, message: "cannot reach the database"})
		s.untilOnly(ctx, app, oldTag)
		s.available(ctx, app)
	})
	if app.Spec.Image != newTag {
		try.Fail("the spec was changed: %s", app.Spec.Image)
	}
	try.Do(s.client.Delete(ctx, app))
}

// available waits until all replicas of an application are available.
func (s *suite) available(ctx context.Context, app *v1.AppService) {
	try.Do(poll.Until(ctx, func(ctx context.Context) error {
		if err := s.client.Get(ctx, client.ObjectKeyFromObject(app), app); err != nil {
			return err
		}
		if app.Status.Readiness != "2/2" {
			return fmt.Errorf("%s of its replicas are ready", app.Status.Readiness)
		}
		return nil
	}))
}
