package main

import (
	"context"
	"encoding/json"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/bench/load"
	"github.com/example/appservice-operator/test/bench/objects"
)

// writer creates and changes the resources that the contenders process.
type writer interface {
	Create(ctx context.Context, name string) error
	Delete(ctx context.Context, name string) error
	SetImage(ctx context.Context, name, image string) error
	SetIngress(ctx context.Context, name string, there bool) error
}

// resourceWriter writes AppServices and leaves the rest to a contender.
type resourceWriter struct {
	client    client.Client
	version   schema.GroupVersion
	namespace string
	pods      int // of each AppService
}

func (w *resourceWriter) Create(ctx context.Context, name string) error {
	return w.client.Create(ctx, load.AppService(w.version, w.namespace, name, w.pods))
}

func (w *resourceWriter) Delete(ctx context.Context, name string) error {
	return w.client.Delete(ctx, load.AppService(w.version, w.namespace, name, w.pods))
}

func (w *resourceWriter) SetImage(ctx context.Context, name, image string) error {
	return w.patch(ctx, name, map[string]any{"spec": map[string]any{"image": image}})
}

func (w *resourceWriter) SetIngress(ctx context.Context, name string, there bool) error {
	var value any // null takes the field away
	if there {
		value = load.Ingress(name)
	}
	return w.patch(ctx, name, map[string]any{"spec": map[string]any{"ingress": value}})
}

// Touch changes an annotation: a reconcile with nothing to do.
func (w *resourceWriter) Touch(ctx context.Context, name string, round int) error {
	return w.patch(ctx, name, map[string]any{"metadata": map[string]any{
		"annotations": map[string]any{"bench.example.com/touched": strconv.Itoa(round)},
	}})
}

func (w *resourceWriter) patch(ctx context.Context, name string, change map[string]any) error {
	data, err := json.Marshal(change)
	if err != nil {
		return err
	}
	return w.client.Patch(ctx, load.AppService(w.version, w.namespace, name, w.pods), client.RawPatch(types.MergePatchType, data))
}

// bareWriter writes the AppServices and the objects as well: the least that has to be written, without an operator.
type bareWriter struct {
	resourceWriter
}

func (w *bareWriter) Create(ctx context.Context, name string) error {
	app, err := w.owner(name, func(resource *unstructured.Unstructured) error { return w.client.Create(ctx, resource) })
	if err != nil {
		return err
	}
	for _, object := range []client.Object{objects.Service(app), objects.Deployment(app), objects.Ingress(app)} {
		if err := w.client.Create(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

func (w *bareWriter) SetImage(ctx context.Context, name, image string) error {
	if err := w.resourceWriter.SetImage(ctx, name, image); err != nil {
		return err
	}
	return setImage(ctx, w.client, w.namespace, name, image)
}

func (w *bareWriter) SetIngress(ctx context.Context, name string, there bool) error {
	if err := w.resourceWriter.SetIngress(ctx, name, there); err != nil {
		return err
	}
	if !there {
		return w.client.Delete(ctx, &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}})
	}
	app, err := w.owner(name, func(resource *unstructured.Unstructured) error {
		return w.client.Get(ctx, client.ObjectKeyFromObject(resource), resource)
	})
	if err != nil {
		return err
	}
	return w.client.Create(ctx, objects.Ingress(app))
}

// owner returns the AppService that an object of it refers to, with the result of do.
func (w *bareWriter) owner(name string, do func(*unstructured.Unstructured) error) (*v1.AppService, error) {
	resource := load.AppService(w.version, w.namespace, name, w.pods)
	if err := do(resource); err != nil {
		return nil, err
	}
	app := &v1.AppService{}
	return app, runtime.DefaultUnstructuredConverter.FromUnstructured(resource.Object, app)
}

// setImage changes the image of a Deployment directly.
func setImage(ctx context.Context, c client.Client, namespace, name, image string) error {
	patch, err := json.Marshal([]map[string]any{
		{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": image},
	})
	if err != nil {
		return err
	}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	return c.Patch(ctx, deployment, client.RawPatch(types.JSONPatchType, patch))
}
