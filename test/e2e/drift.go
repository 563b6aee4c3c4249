package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/poll"
)

// soon is how long drift may last.
const soon = 10 * time.Second

// editDeployment changes size and image of a Deployment behind the operator's back.
func editDeployment(ctx context.Context, s *suite) {
	deployment := &appsv1.Deployment{}
	deployment.Namespace, deployment.Name = apps, seed
	var image string
	s.change(ctx, deployment, func() {
		image = deployment.Spec.Template.Spec.Containers[0].Image
		deployment.Spec.Replicas = ptr.To[int32](1)
		deployment.Spec.Template.Spec.Containers[0].Image = newTag
	})
	try.Do(poll.Within(ctx, soon, func(ctx context.Context) error {
		return poll.Until(ctx, func(ctx context.Context) error {
			if err := s.client.Get(ctx, client.ObjectKeyFromObject(deployment), deployment); err != nil {
				return err
			}
			if now := deployment.Spec.Template.Spec.Containers[0].Image; now != image || *deployment.Spec.Replicas != 2 {
				return fmt.Errorf("the Deployment of %s has image %s and %d replicas, want %s and 2", seed, now, *deployment.Spec.Replicas, image)
			}
			return nil
		})
	}))
	app := named(seed)
	s.untilOnly(ctx, app, image)
	s.untilReady(ctx, app)
}

// damageService changes the selector of a Service behind the operator's back, and then deletes it.
func damageService(ctx context.Context, s *suite) {
	service := &corev1.Service{}
	service.Namespace, service.Name = apps, seed
	s.change(ctx, service, func() { service.Spec.Selector["app.kubernetes.io/instance"] = "another" })
	mended := func(ctx context.Context) error {
		return poll.Until(ctx, func(ctx context.Context) error {
			if err := s.client.Get(ctx, client.ObjectKeyFromObject(service), service); err != nil {
				return err
			}
			if service.Spec.Selector["app.kubernetes.io/instance"] != seed || service.DeletionTimestamp != nil {
				return errors.New("the Service is not put back")
			}
			return nil
		})
	}
	try.Do(poll.Within(ctx, soon, mended))
	before := service.UID
	try.Do(s.client.Delete(ctx, service))
	try.Do(poll.Within(ctx, soon, mended))
	if service.UID == before {
		try.Fail("the Service was not deleted")
	}
	s.serves(ctx, seedPort)
}
