package main

import (
	"context"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/test/try"
)

// scene is the content of a contender's namespace, seen through watches.
type scene struct {
	mu          sync.Mutex
	deployments map[string]sight
	others      map[string]map[string]bool // kind, name
}

// sight is how a Deployment looks, and since when.
type sight struct {
	image string
	ready bool // all its pods have the image and are ready, or it has none
	since time.Time
}

// watchScene watches until the context ends.
func (b *bench) watchScene(ctx context.Context, namespace string, version schema.GroupVersion) *scene {
	s := &scene{deployments: map[string]sight{}, others: map[string]map[string]bool{}}
	watches := try.Get(cache.New(b.api.config, cache.Options{
		Scheme:            b.api.client.Scheme(),
		DefaultNamespaces: map[string]cache.Config{namespace: {}},
		DefaultTransform:  cache.TransformStripManagedFields(),
	}))
	sources := map[string]client.Object{
		"Deployment": &appsv1.Deployment{},
		"Service":    metadata(schema.GroupVersionKind{Version: "v1", Kind: "Service"}),
		"Ingress":    metadata(schema.GroupVersionKind{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"}),
		"AppService": metadata(version.WithKind("AppService")),
	}
	for kind, object := range sources {
		informer := try.Get(watches.GetInformer(ctx, object, cache.BlockUntilSynced(false)))
		_ = try.Get(informer.AddEventHandler(s.handler(kind)))
	}
	go func() { _ = watches.Start(ctx) }()
	if !watches.WaitForCacheSync(ctx) {
		try.Do(context.Cause(ctx))
		return nil
	}
	return s
}

func metadata(kind schema.GroupVersionKind) *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(kind)
	return object
}

func (s *scene) handler(kind string) toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { s.see(kind, object) },
		UpdateFunc: func(_, object any) { s.see(kind, object) },
		DeleteFunc: func(object any) { s.lose(kind, object) },
	}
}

func (s *scene) see(kind string, object any) {
	now := time.Now()
	name := object.(client.Object).GetName()
	s.mu.Lock()
	defer s.mu.Unlock()
	if deployment, ok := object.(*appsv1.Deployment); ok {
		image, ready := deployment.Spec.Template.Spec.Containers[0].Image, isReady(deployment)
		if last := s.deployments[name]; last.image != image || last.ready != ready {
			s.deployments[name] = sight{image: image, ready: ready, since: now}
		}
		return
	}
	if s.others[kind] == nil {
		s.others[kind] = map[string]bool{}
	}
	s.others[kind][name] = true
}

func isReady(deployment *appsv1.Deployment) bool {
	pods, seen := *deployment.Spec.Replicas, deployment.Status
	return pods == 0 || seen.ObservedGeneration == deployment.Generation && seen.UpdatedReplicas == pods &&
		seen.ReadyReplicas == pods && seen.Replicas == pods
}

func (s *scene) lose(kind string, object any) {
	if last, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = last.Obj
	}
	name := object.(client.Object).GetName()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.others[kind], name)
	if kind == "Deployment" {
		delete(s.deployments, name)
	}
}

// deployment returns the state of a Deployment; its image is empty if it does not exist.
func (s *scene) deployment(name string) sight {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deployments[name]
}

// count returns how many of the names are as desired: with a Deployment of the image whose pods are ready, a Service, and an Ingress or none.
func (s *scene) count(names []string, image string, ingress bool) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := 0
	for _, name := range names {
		if s.deployments[name].image == image && s.deployments[name].ready && s.others["Service"][name] && s.others["Ingress"][name] == ingress {
			count++
		}
	}
	return count
}

// gone returns the number of names without any object left.
func (s *scene) gone(names []string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := 0
	for _, name := range names {
		if s.deployments[name].image == "" && !s.others["Service"][name] && !s.others["Ingress"][name] && !s.others["AppService"][name] {
			count++
		}
	}
	return count
}
