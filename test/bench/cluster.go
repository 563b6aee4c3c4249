package main

import (
	"context"
	_ "embed"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/bench/load"
	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/controlplane"
	"github.com/example/appservice-operator/tools/poll"
)

// system is the namespace of the contenders' service accounts.
const system = "bench-system"

// auditPolicy records the requests of service accounts in these namespaces when they are answered, and no others.
//
//go:embed audit-policy.yaml
var auditPolicy string

// up starts a fresh control plane with everything that the contenders need, and warms it up.
func (b *bench) up(ctx context.Context) {
	try.Do(controlplane.Down(ctx, b.settings.cluster))
	// One node, so that the cluster is whole. Nothing runs on it.
	cluster := try.Get(controlplane.Up(ctx, controlplane.Options{
		Name: b.settings.cluster, Nodes: 1, Progress: b.out, AuditPolicy: auditPolicy,
	}))
	b.cluster = cluster
	b.audit = try.Get(openAudit(cluster.AuditLog))
	b.api = newAPI(b.root, cluster.Kubeconfig)
	b.say("installing kinds and rights")
	b.api.prepare(ctx, b.guards)
	b.warmUp(ctx)
}

func (b *bench) down(ctx context.Context) {
	if err := controlplane.Down(context.WithoutCancel(ctx), b.settings.cluster); err != nil {
		b.say("%v", err)
	}
}

// warmUp returns when the garbage collector watches the kinds, which it discovers every 30 s, and the API server has written some of each object.
func (b *bench) warmUp(ctx context.Context) {
	b.say("warming up: up to 60 s until the garbage collector knows AppServices")
	namespace := b.api.namespace(ctx, "warm-up")
	for _, version := range []schema.GroupVersion{v1.GroupVersion, stockVersion} {
		b.collects(ctx, version, namespace)
	}
	w := &bareWriter{resourceWriter{client: b.api.client, version: v1.GroupVersion, namespace: namespace}}
	names := load.Names("warm", 50)
	for _, do := range []func(context.Context, string) error{w.Create, w.Delete} {
		try.Do(load.Each(ctx, names, do))
	}
	b.api.removeNamespace(ctx, namespace)
}

func (b *bench) collects(ctx context.Context, version schema.GroupVersion, namespace string) {
	owner := load.AppService(version, namespace, "owner", 0)
	try.Do(b.api.client.Create(ctx, owner))
	dependent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, GenerateName: "dependent-",
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, owner.GroupVersionKind())},
	}}
	try.Do(b.api.client.Create(ctx, dependent))
	// In the foreground: the collector would otherwise retry at growing intervals.
	foreground := &client.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationForeground)}
	try.Do(b.api.client.Delete(ctx, owner, foreground))
	try.Do(poll.PacedWithin(ctx, 2*time.Minute, poll.Every(100*time.Millisecond), func(context.Context) error {
		err := b.api.client.Get(ctx, client.ObjectKeyFromObject(dependent), dependent)
		if err == nil {
			return errors.New("the garbage collector has not noticed AppServices")
		}
		return client.IgnoreNotFound(err)
	}))
}

// pause waits, unless the run is over.
func pause(ctx context.Context, duration time.Duration) {
	select {
	case <-ctx.Done():
		try.Do(context.Cause(ctx))
		return
	case <-time.After(duration):
		return
	}
}
