package main

import (
	"context"

	"k8s.io/utils/ptr"

	"github.com/example/appservice-operator/test/try"
)

// upgradeByMake deploys the version before, which serves an application with data, and then this one.
func upgradeByMake(ctx context.Context, s *suite) {
	s.makeNamespace(ctx, apps, nil)
	try.Do(s.command(ctx, "make", "--directory="+s.sourceOf(versionBefore), "deploy", "IMG="+beforeTag))
	s.untilDeployed(ctx)
	app, made := s.makeKept(ctx)
	before := s.answers(ctx, app)
	s.withoutRestarts(ctx, func() {
		s.deployWith(ctx)
		s.change(ctx, app, func() { app.Spec.MinReadySeconds = ptr.To[int32](1) }) // seen by the new version
		s.untilReady(ctx, app)
	})
	s.answersAs(ctx, app, before)
	s.change(ctx, app, func() { app.Spec.Image = newTag })
	s.untilReady(ctx, app)
	s.untilOnly(ctx, app, newTag)
	s.answersAs(ctx, app, before)
	s.endKept(ctx, app, made)
	try.Do(s.command(ctx, "make", "undeploy", "IMG="+s.present.Image))
	uninstall(ctx, s)
}
