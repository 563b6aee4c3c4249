package conversion

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/controller/release"
	"github.com/example/appservice-operator/internal/kube"
)

// Looker reads the state of a conversion.
type Looker struct {
	Reader client.Reader
	// Wanted is the AppService as the file describes it, and Rendered are its objects.
	Wanted   *unstructured.Unstructured
	Rendered []*unstructured.Unstructured
	// Kinds are those that its chart renders.
	Kinds []schema.GroupVersionKind
}

// Look reads all that a conversion depends on, except Rest.
func (l *Looker) Look(ctx context.Context) (*State, error) {
	s := &State{Wanted: l.Wanted}
	var err error
	if s.New, err = l.rendered(); err != nil {
		return nil, err
	}
	if s.App, err = l.get(ctx, l.Wanted.GroupVersionKind()); err != nil {
		return nil, err
	}
	claims := &corev1.PersistentVolumeClaimList{}
	if err := l.Reader.List(ctx, claims, client.InNamespace(l.Wanted.GetNamespace())); err != nil {
		return nil, fmt.Errorf("cannot list PersistentVolumeClaims: %w", err)
	}
	s.Claims = claims.Items
	return s, l.workloads(ctx, s)
}

// rendered returns the rendered workload.
func (l *Looker) rendered() (*Workload, error) {
	for _, object := range l.Rendered {
		if slices.Contains(workloads, object.GroupVersionKind()) && object.GetName() == l.Wanted.GetName() {
			return WorkloadOf(object)
		}
	}
	return nil, fmt.Errorf("the chart renders no Deployment or StatefulSet %q", l.Wanted.GetName())
}

// get returns the object of a kind that has the name of the AppService; nil if there is none.
func (l *Looker) get(ctx context.Context, kind schema.GroupVersionKind) (*unstructured.Unstructured, error) {
	object := kube.Object(kind)
	err := l.Reader.Get(ctx, client.ObjectKeyFromObject(l.Wanted), object)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return object, err
}

// workloads reads the live workloads of the AppService, or of an earlier one of its name, with their pods.
func (l *Looker) workloads(ctx context.Context, s *State) error {
	for _, kind := range workloads {
		object, err := l.get(ctx, kind)
		if err != nil {
			return err
		}
		if object == nil || !s.owns(object) {
			continue
		}
		live, err := WorkloadOf(object)
		if err != nil {
			return err
		}
		pods, err := l.pods(ctx, live)
		switch {
		case err != nil:
			return err
		case live.Key() != s.New.Key() || !slices.Equal(live.templates(), s.New.templates()):
			s.Old, s.OldPods = live, pods
		default:
			s.Pods = pods
		}
	}
	return nil
}

// owns reports whether a live object is the AppService's, or was left by an earlier one of its name.
func (s *State) owns(object client.Object) bool {
	return s.App != nil && metav1.IsControlledBy(object, s.App) || release.IsLeft(s.Wanted, object)
}

// pods returns the pods of a workload, by number if they have one. Those of a Deployment and of a StatefulSet of the
// same name have the same labels.
func (l *Looker) pods(ctx context.Context, of *Workload) ([]corev1.Pod, error) {
	selector, err := metav1.LabelSelectorAsSelector(of.Spec.Selector)
	if err != nil {
		return nil, err
	}
	list := &corev1.PodList{}
	if err := l.Reader.List(ctx, list, client.InNamespace(of.Namespace),
		client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return nil, fmt.Errorf("cannot list pods: %w", err)
	}
	pods := slices.DeleteFunc(list.Items, func(pod corev1.Pod) bool {
		controller := metav1.GetControllerOfNoCopy(&pod)
		return controller == nil || of.Kind == deploymentKind.Kind && controller.Kind != "ReplicaSet" ||
			of.Kind == statefulSetKind.Kind && controller.UID != of.UID
	})
	slices.SortFunc(pods, func(a, b corev1.Pod) int {
		return cmp.Or(cmp.Compare(replicaOf(&a), replicaOf(&b)), cmp.Compare(a.Name, b.Name))
	})
	return pods, nil
}

// Rest reads the metadata of the objects that are no longer rendered, except claims, retained objects, release records
// and the old workload. The operator deletes the objects that the AppService controls, unless the AppService has to go.
func (l *Looker) Rest(ctx context.Context, s *State) error {
	s.Rest = nil
	for _, kind := range l.Kinds {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		err := l.Reader.List(ctx, list, client.InNamespace(l.Wanted.GetNamespace()),
			client.MatchingLabels{v1.LabelManaged: "true"})
		switch {
		case meta.IsNoMatchError(err), kind.Kind == kube.RetainedKind:
			continue
		case err != nil:
			return fmt.Errorf("cannot list %s: %w", kind.Kind, err)
		}
		for i := range list.Items {
			object := &list.Items[i]
			object.SetGroupVersionKind(kind)
			if l.goes(s, object) {
				s.Rest = append(s.Rest, object)
			}
		}
	}
	return nil
}

// goes reports whether an object is one of the rest.
func (l *Looker) goes(s *State, object client.Object) bool {
	key := kube.KeyOf(object)
	isOld := s.Old != nil && s.Old.Key() == key
	isLeft := release.IsLeft(s.Wanted, object) || s.MustGo() && metav1.IsControlledBy(object, s.App)
	return isLeft && !isOld && object.GetAnnotations()[v1.AnnotationStamp] != "" && kube.RetainedFor(object) == "" &&
		!l.renders(key)
}

// renders reports whether an object is rendered.
func (l *Looker) renders(key kube.Key) bool {
	return slices.ContainsFunc(l.Rendered, func(o *unstructured.Unstructured) bool { return kube.KeyOf(o) == key })
}
