package watch

import (
	"context"
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrl "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// Requests passes on the chart that the annotation of a CRD requests to continue with; "" for none.
func Requests(ctx context.Context, from cache.Cache, controller ctrl.Controller, crd string,
	ask func(digest string)) error {
	changed := func(object client.Object) {
		if object.GetName() == crd {
			ask(object.GetAnnotations()[v1.AnnotationContinue])
		}
	}
	return events(ctx, controller, from, kube.Metadata(CRDKind), handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, _ queue) { changed(e.Object) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, _ queue) { changed(e.ObjectNew) },
	})
}

// StripCRD reduces the metadata of a CRD to its name, its versions and that request.
func StripCRD(in any) (any, error) {
	crd, ok := in.(*metav1.PartialObjectMetadata)
	if !ok {
		return in, nil
	}
	out := &metav1.PartialObjectMetadata{TypeMeta: crd.TypeMeta}
	out.Name, out.UID, out.ResourceVersion, out.Generation = crd.Name, crd.UID, crd.ResourceVersion, crd.Generation
	out.Annotations = maps.Clone(crd.Annotations)
	maps.DeleteFunc(out.Annotations, func(key, _ string) bool {
		return key != v1.AnnotationContinue && !strings.HasSuffix(key, bundleVersion)
	})
	return out, nil
}
