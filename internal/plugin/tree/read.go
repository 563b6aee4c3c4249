package tree

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/render/defaults"
	"github.com/example/appservice-operator/internal/operator/status"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
)

// Collect reads a resource and its objects; less about healthy ones, unless everything is requested. An error means
// that not even the resource could be read.
func (l *Collector) Collect(ctx context.Context, kind schema.GroupVersionKind, name types.NamespacedName,
	everything bool) (*Findings, error) {
	resource := kube.Object(kind)
	if err := l.Reader.Get(ctx, name, resource); err != nil {
		return nil, fmt.Errorf("cannot read %s %s: %w", kind.Kind, name, err)
	}
	current, err := status.Of(resource)
	if err != nil {
		return nil, fmt.Errorf("cannot read the status of %s %s: %w", kind.Kind, name, err)
	}
	f := &Findings{Resource: resource, Status: current, Now: l.Now()}
	for _, entry := range current.Resources {
		object := &Object{Entry: entry}
		f.Objects = append(f.Objects, object)
		if !everything && entry.State == v1.ResourceReady && entry.Message == "" && !f.behind() {
			continue
		}
		if object.Live, err = l.find(ctx, f, entry); err != nil {
			f.gap(err, entry.Kind, entry.Name)
			continue
		}
		if object.Live != nil {
			l.pods(ctx, f, object, everything)
		}
	}
	l.namespaceDefaults(ctx, f)
	return f, nil
}

// behind reports whether the status is about an earlier spec.
func (f *Findings) behind() bool { return f.Status.ObservedGeneration < f.Resource.GetGeneration() }

// find returns the live object that an entry of the status is about: of all kinds of that name, the one that belongs to
// the resource; nil if there is none.
func (l *Collector) find(ctx context.Context, f *Findings,
	entry v1.ResourceStatus) (*unstructured.Unstructured, error) {
	plural, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Kind: entry.Kind})
	kinds, err := l.Mapper.KindsFor(plural)
	if err != nil {
		return nil, err
	}
	// A status names no group: of kinds with the same name, built-in ones are the more likely.
	custom := slices.DeleteFunc(slices.Clone(kinds), scheme.Scheme.Recognizes)
	builtIn := slices.DeleteFunc(kinds, func(kind schema.GroupVersionKind) bool { return !scheme.Scheme.Recognizes(kind) })
	for _, kind := range append(builtIn, custom...) {
		if kind.Kind != entry.Kind {
			continue
		}
		live := kube.Object(kind)
		key := types.NamespacedName{Namespace: f.Resource.GetNamespace(), Name: entry.Name}
		if kube.ClusterScoped(l.Mapper)(kind) {
			key.Namespace = ""
		}
		switch err := l.Reader.Get(ctx, key, live); {
		case apierrors.IsNotFound(err):
		case err != nil:
			return nil, err
		case belongs(live, f.Resource):
			return live, nil
		}
	}
	return nil, nil
}

// belongs reports whether an object belongs to a resource: by its controller, or by the operator's marks if it has
// none.
func belongs(object, resource client.Object) bool {
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil {
		return controller.UID == resource.GetUID()
	}
	return object.GetAnnotations()[v1.AnnotationRetainedFor] == resource.GetName() ||
		object.GetLabels()[v1.LabelOwner] == string(resource.GetUID())
}

// pods reads the pods of an object as the operator does, if it creates any and is not healthy.
func (l *Collector) pods(ctx context.Context, f *Findings, object *Object, everything bool) {
	workload, makesPods := diagnose.WorkloadOf(object.Live)
	if !makesPods {
		if everything {
			l.dependents(ctx, f, object)
		}
		return
	}
	if !everything && workload.Settled && object.Entry.State == v1.ResourceReady {
		return
	}
	looked := &diagnose.Findings{Workload: workload, Now: f.Now}
	if err := diagnose.Collect(ctx, l.Reader, looked); err != nil {
		f.gap(err, "pods of "+object.Entry.Kind, object.Entry.Name)
		return
	}
	object.PodFindings, object.Causes = looked, diagnose.Causes(*looked)
	if everything {
		l.dependents(ctx, f, object)
	}
}

// namespaceDefaults reads the defaults of the namespace for the kind.
func (l *Collector) namespaceDefaults(ctx context.Context, f *Findings) {
	config := &corev1.ConfigMap{}
	err := l.Reader.Get(ctx, types.NamespacedName{Namespace: f.Resource.GetNamespace(), Name: defaults.Name}, config)
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		f.gap(err, "ConfigMap", defaults.Name)
	default: // the status reports its mistakes
		_ = yaml.Unmarshal([]byte(config.Data[defaults.Key(f.Resource.GetKind())]), &f.Defaults)
	}
}
