//go:build cluster

package scenario

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// kinds are those whose objects are compared: what the operator makes, and what others make of that. Pods are not: their
// names are random, and ReplicaSets and the status cover them.
var kinds = []schema.GroupVersionKind{
	v1.GroupVersion.WithKind(v1.Kind),
	v1.GroupVersion.WithKind(jobKind),
	{Version: "v1", Kind: "Service"},
	{Version: "v1", Kind: "ConfigMap"},
	{Version: "v1", Kind: "Secret"},
	{Version: "v1", Kind: "ServiceAccount"},
	{Version: "v1", Kind: "PersistentVolumeClaim"},
	{Group: "apps", Version: "v1", Kind: "Deployment"},
	{Group: "apps", Version: "v1", Kind: "ReplicaSet"},
	{Group: "apps", Version: "v1", Kind: "StatefulSet"},
	{Group: "batch", Version: "v1", Kind: "Job"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"},
	{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
	{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"},
}

// ofOthers are the kinds of other projects that the chart renders if they are served.
var ofOthers = []schema.GroupVersionKind{
	{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute"},
	{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "GRPCRoute"},
	{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "ListenerSet"},
	{Group: "keda.sh", Version: "v1alpha1", Kind: "ScaledObject"},
	{Group: "monitoring.coreos.com", Version: "v1", Kind: "ServiceMonitor"},
}

// world shows the objects of all namespaces by watches, so that comparing them costs the API server nothing.
type world struct {
	cache cache.Cache

	mu       sync.Mutex
	versions map[string]int
	changed  map[string]time.Time
	shelves  map[string]*shelf
	ledgers  map[string]*ledger
	pulses   map[string]*pulse
	vaults   map[string]*vault
}

func newWorld(ctx context.Context, cluster *harness.Cluster) (*world, error) {
	informers, err := cache.New(cluster.Config, cache.Options{Scheme: cluster.Client.Scheme(), ByObject: onlyPodsOfJobs()})
	if err != nil {
		return nil, err
	}
	w := &world{
		cache: informers, versions: map[string]int{}, changed: map[string]time.Time{}, shelves: map[string]*shelf{}, ledgers: map[string]*ledger{},
		pulses: map[string]*pulse{}, vaults: map[string]*vault{},
	}
	go func() { _ = informers.Start(ctx) }()
	return w, w.watch(ctx, append(slices.Clone(kinds), podKind)...)
}

// watch shows objects of more kinds.
func (w *world) watch(ctx context.Context, kinds ...schema.GroupVersionKind) error {
	for _, kind := range kinds {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(kind)
		informer, err := w.cache.GetInformer(ctx, object, cache.BlockUntilSynced(false))
		if err != nil {
			return fmt.Errorf("cannot watch %s: %w", kind.Kind, err)
		}
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { w.note(object, false) },
			UpdateFunc: func(_, object any) { w.note(object, false) },
			DeleteFunc: func(object any) { w.note(object, true) },
		})
		if err != nil {
			return err
		}
	}
	if !w.cache.WaitForCacheSync(ctx) {
		return fmt.Errorf("the caches of the test did not fill")
	}
	return nil
}

func (w *world) note(of any, gone bool) {
	if last, missed := of.(toolscache.DeletedFinalStateUnknown); missed {
		of = last.Obj
	}
	object := of.(*unstructured.Unstructured)
	w.noteRuns(object, gone)
	w.notePulse(object, gone)
	if object.GetKind() == podKind.Kind {
		return
	}
	w.touch(object.GetNamespace())
	if object.GetKind() == "Secret" {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.shelves[object.GetNamespace()] == nil {
			w.shelves[object.GetNamespace()] = &shelf{}
		}
		w.shelves[object.GetNamespace()].note(object, gone)
		w.vaultOf(object.GetNamespace()).note(object, gone)
	}
}

// touch records that something has happened, or is about to be seen, in a namespace.
func (w *world) touch(namespace string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.versions[namespace]++
	w.changed[namespace] = time.Now()
}

// version changes with the objects of a namespace; quiet is for how long they did not change.
func (w *world) version(namespace string) (version int, quiet time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.versions[namespace], time.Since(w.changed[namespace])
}

// objects lists the content of a namespace, by kind and name, without what each namespace has from the beginning.
func (w *world) objects(ctx context.Context, namespace string) (map[string]*unstructured.Unstructured, error) {
	found := map[string]*unstructured.Unstructured{}
	for _, kind := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := w.cache.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return nil, fmt.Errorf("cannot list %s: %w", kind.Kind, err)
		}
		for i := range list.Items {
			object := &list.Items[i]
			switch kind.Kind + " " + object.GetName() {
			case "ServiceAccount default", "ConfigMap kube-root-ca.crt":
				continue
			}
			found[kind.Kind+" "+object.GetName()] = object
		}
	}
	return found, nil
}
