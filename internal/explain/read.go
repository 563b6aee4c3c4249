package explain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

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
	"github.com/example/appservice-operator/internal/defaults"
	"github.com/example/appservice-operator/internal/diagnose"
	"github.com/example/appservice-operator/internal/status"
)

// Findings are what one look at a resource found.
type Findings struct {
	Resource *unstructured.Unstructured
	Status   *v1.AppServiceStatus
	// Objects that the resource became, as the status lists them.
	Objects []*Object
	// Defaults are what the namespace says beneath specs; nil if it says nothing, or it could not be read.
	Defaults map[string]any
	// Chart are the values of the chart that rendered the resource; nil if it is not at hand.
	Chart map[string]any
	// Gaps are what could not be read, and what it takes.
	Gaps []string
	// Now is the time of the look.
	Now time.Time
}

// Object is one that a resource became.
type Object struct {
	// Said is what the operator says of it.
	Said v1.ResourceStatus
	// Live is nil if it does not exist, or could not be read.
	Live *unstructured.Unstructured
	// Looked are what was found of its pods; nil for objects that make none, or whose pods could not be read.
	Looked *diagnose.Findings
	Causes []diagnose.Cause
	// Dependents are objects that others made for it, whatever their kind.
	Dependents []client.Object
}

// Looker looks at resources.
type Looker struct {
	Reader client.Reader
	Mapper meta.RESTMapper
	Now    func() time.Time
}

// Look reads what there is of a resource. Whole asks for all that it became; without it, what is well is not looked at closely. An error
// means that not even the resource could be read.
func (l *Looker) Look(ctx context.Context, kind schema.GroupVersionKind, name types.NamespacedName, whole bool) (*Findings, error) {
	resource := &unstructured.Unstructured{}
	resource.SetGroupVersionKind(kind)
	if err := l.Reader.Get(ctx, name, resource); err != nil {
		return nil, fmt.Errorf("cannot read %s %s: %w", kind.Kind, name, err)
	}
	said, err := status.Of(resource)
	if err != nil {
		return nil, fmt.Errorf("cannot read the status of %s %s: %w", kind.Kind, name, err)
	}
	f := &Findings{Resource: resource, Status: said, Now: l.Now()}
	for _, entry := range said.Resources {
		object := &Object{Said: entry}
		f.Objects = append(f.Objects, object)
		if !whole && entry.State == v1.ResourceReady && entry.Message == "" && !f.behind() {
			continue
		}
		if object.Live, err = l.find(ctx, f, entry); err != nil {
			f.gap(err, entry.Kind, entry.Name)
			continue
		}
		if object.Live != nil {
			l.pods(ctx, f, object, whole)
		}
	}
	l.namespaceDefaults(ctx, f)
	return f, nil
}

// behind reports whether the status is about an earlier spec.
func (f *Findings) behind() bool { return f.Status.ObservedGeneration < f.Resource.GetGeneration() }

// find returns the live object that an entry of the status is about: of all kinds of that name, the one that belongs to the resource. It
// returns nil if there is none.
func (l *Looker) find(ctx context.Context, f *Findings, entry v1.ResourceStatus) (*unstructured.Unstructured, error) {
	plural, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Kind: entry.Kind})
	kinds, err := l.Mapper.KindsFor(plural)
	if err != nil {
		return nil, err
	}
	builtIn := func(kind schema.GroupVersionKind) bool { return scheme.Scheme.Recognizes(kind) }
	slices.SortStableFunc(kinds, func(a, b schema.GroupVersionKind) int {
		switch {
		case builtIn(a) && !builtIn(b):
			return -1
		case builtIn(b) && !builtIn(a):
			return 1
		}
		return 0
	})
	for _, kind := range kinds {
		if kind.Kind != entry.Kind {
			continue
		}
		live := &unstructured.Unstructured{}
		live.SetGroupVersionKind(kind)
		key := types.NamespacedName{Namespace: f.Resource.GetNamespace(), Name: entry.Name}
		if mapping, err := l.Mapper.RESTMapping(kind.GroupKind(), kind.Version); err == nil && mapping.Scope.Name() == meta.RESTScopeNameRoot {
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

// belongs reports whether an object is of a resource: by its controller, or by what the operator marks those with that have none.
func belongs(object, resource client.Object) bool {
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil {
		return controller.UID == resource.GetUID()
	}
	return object.GetAnnotations()[v1.AnnotationRetainedFor] == resource.GetName() || object.GetLabels()[v1.LabelOwner] == string(resource.GetUID())
}

// pods looks at the pods of an object as the manager does, if it makes any and is not well.
func (l *Looker) pods(ctx context.Context, f *Findings, object *Object, whole bool) {
	workload, makesPods := diagnose.WorkloadOf(object.Live)
	if !makesPods {
		if whole {
			l.dependents(ctx, f, object)
		}
		return
	}
	if !whole && workload.Settled && object.Said.State == v1.ResourceReady {
		return
	}
	looked := &diagnose.Findings{Workload: workload, Now: f.Now}
	if err := diagnose.Collect(ctx, l.Reader, looked); err != nil {
		f.gap(err, "pods of "+object.Said.Kind, object.Said.Name)
		return
	}
	object.Looked, object.Causes = looked, diagnose.Causes(*looked)
	if whole {
		l.dependents(ctx, f, object)
	}
}

// namespaceDefaults reads what the namespace says beneath the specs of the kind.
func (l *Looker) namespaceDefaults(ctx context.Context, f *Findings) {
	config := &corev1.ConfigMap{}
	err := l.Reader.Get(ctx, types.NamespacedName{Namespace: f.Resource.GetNamespace(), Name: defaults.Name}, config)
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		f.gap(err, "ConfigMap", defaults.Name)
	default: // what is wrong with it, the status says
		_ = yaml.Unmarshal([]byte(config.Data[defaults.Key(f.Resource.GetKind())]), &f.Defaults)
	}
}

// gap notes what could not be read, once.
func (f *Findings) gap(err error, kind, name string) {
	text := fmt.Sprintf("%s %s: %v", kind, name, err)
	var refused apierrors.APIStatus
	if apierrors.IsForbidden(err) && errors.As(err, &refused) {
		text = fmt.Sprintf("%s %s: you lack the right to read %s in namespace %s (the role \"view\" has it for built-in kinds); what is said of it is the operator's word",
			kind, name, resourceOf(refused), f.Resource.GetNamespace())
	}
	if meta.IsNoMatchError(err) {
		text = fmt.Sprintf("%s %s: the cluster does not serve the kind", kind, name)
	}
	if !slices.Contains(f.Gaps, text) {
		f.Gaps = append(f.Gaps, text)
	}
}

// resourceOf is what a refused request was about, as in pods or httproutes.gateway.networking.k8s.io.
func resourceOf(refused apierrors.APIStatus) string {
	details := refused.Status().Details
	if details == nil {
		return "it"
	}
	return strings.TrimSuffix(details.Kind+"."+details.Group, ".")
}
