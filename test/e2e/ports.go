package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/try"
)

// movedPort is the node port of the application whose target port moves.
const movedPort = 30006

// moveTargetPort moves the port that an application listens on while requests come in, and then moves it to a sidecar. The
// application takes a while until it listens, and says nothing of probes: what waits for it is there by default. The
// number of the port it finds in PORT.
func moveTargetPort(ctx context.Context, s *suite) {
	app := web(apps, "moved", movedPort)
	app.Spec.Probes = nil
	app.Spec.Envs = []corev1.EnvVar{{Name: "START", Value: "3s"}}
	s.createReady(ctx, app)
	s.serves(ctx, movedPort)
	s.underLoad(ctx, movedPort, func() {
		s.roll(ctx, app, newTag, func() { app.Spec.Ports[0].TargetPort = ptr.To(intstr.FromInt32(9090)) })
		s.roll(ctx, app, oldTag, func() {
			app.Spec.Ports = []v1.Port{{Port: 80, TargetPort: ptr.To(intstr.FromString("http")), NodePort: ptr.To[int32](movedPort)}}
			app.Spec.Sidecars = []corev1.Container{{
				Name: "proxy", Image: newTag,
				Env:   []corev1.EnvVar{{Name: "PORT", Value: "9191"}, {Name: "START", Value: "3s"}},
				Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 9191}},
			}}
		})
	})
	try.Do(s.client.Delete(ctx, app))
}
