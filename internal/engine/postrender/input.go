package postrender

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/pod-security-admission/api"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/jobs"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/violation"
)

// Input is what hooks may read besides the objects.
type Input struct {
	// Owner is the custom resource that the objects are rendered for. Hooks must not change it.
	Owner *unstructured.Unstructured
	// ClusterScoped reports whether a kind is cluster-scoped; nil if none is.
	ClusterScoped func(schema.GroupVersionKind) bool
	// PodSecurity is the level of the Pod Security Standards that the chart requires of its pods; empty if it leaves that
	// to the namespace.
	PodSecurity Level
	// References are the objects that the rendered ones refer to and do not contain.
	References []reference.Reference
	// Runs are the runs of the Jobs that run once.
	Runs []jobs.Run
	// Facts about the cluster.
	Facts Facts
	// Published is what is known of a chart that is served as it was published; nil for any other.
	Published *Published
	// Warnings about a rendering that succeeds are added by hooks.
	Warnings []v1.Problem
	// Outdated is set by PodSecurity and Policy: what they refuse of anyone else; nil for nothing.
	Outdated *violation.Error
}

// Facts are what hooks may know about the cluster. The zero value stands for an unknown cluster, as on the command
// line.
type Facts struct {
	// Enforced is the level of the Pod Security Standards that the namespace enforces by its label; empty if it has none.
	Enforced Level
	// States are those of the objects that are referred to; nil if they are not known.
	States map[reference.Object]reference.State
	// Policy is what the platform allows in the namespace; nil if it is not known: then, it is everything.
	Policy Rules
	// Recorded are the objects of the recorded release; nil if there is none, or if it is not known.
	Recorded []*unstructured.Unstructured
	// Selectors are the selectors of live workloads that differ from the rendered ones; nil if none do.
	Selectors map[kube.Key]map[string]string
	// Jobs are the names of the live Jobs that run the rendered spec, by rendered name.
	Jobs map[string]string
	// Content is the version of the content that pods take from what is referred to; empty if that is not known.
	Content string
	// Generated are the versions of the values of Secrets that the operator fills, by name; nil if there are none, or if
	// they are not known.
	Generated map[string]string
	// Keys are the keys of checksums that Secrets have, by name (ChecksumKey); nil if there are none, or if they are not
	// known.
	Keys map[string]string
	// Certificates are the keys of certificates that live Secrets were filled with, by name; nil if there are none, or if
	// they are not known.
	Certificates map[string][]string
}

// FactsOf returns the facts in the labels of a namespace.
func FactsOf(labels map[string]string) Facts {
	facts := Facts{}
	if level, labeled := labels[api.EnforceLevelLabel]; labeled {
		facts.Enforced, _ = api.ParseLevel(level) // as the API server does, the strictest where it cannot be read
	}
	return facts
}

// Find adds the state of the referenced objects, as far as they may be read. Reported references are left out: they
// never cause another render.
func (f *Facts) Find(
	references []reference.Reference, look func(reference.Reference) (state reference.State, known bool, err error),
) error {
	f.States = map[reference.Object]reference.State{}
	for _, mention := range references {
		if _, told := f.States[mention.Object]; told || mention.Need == reference.Reported {
			continue
		}
		state, known, err := look(mention)
		if err != nil {
			return err
		}
		if known {
			f.States[mention.Object] = state
		}
	}
	return nil
}

// Hook changes the rendered objects in place.
type Hook func(ctx context.Context, in *Input, objects []*unstructured.Unstructured) error

// ObjectError reports a fault of a rendered object, independently of the cluster.
type ObjectError struct {
	Object *unstructured.Unstructured
	Err    error
}

func (e *ObjectError) Error() string {
	return fmt.Sprintf("%s %q %v", e.Object.GetKind(), e.Object.GetName(), e.Err)
}

// Unwrap returns the cause.
func (e *ObjectError) Unwrap() error { return e.Err }

// notValid returns the error for an object that its kind does not allow.
func notValid(object *unstructured.Unstructured, err error) error {
	return &ObjectError{object, fmt.Errorf("is not valid: %w", err)}
}

// annotatePods adds an annotation to a pod template.
func annotatePods(template map[string]any, key, value string) {
	annotations, _, _ := unstructured.NestedStringMap(template, "metadata", "annotations")
	_ = unstructured.SetNestedStringMap(template, labels.Merge(annotations, map[string]string{key: value}), "metadata",
		"annotations")
}

// eachContainer calls change for the containers of a pod template, with those that run first.
func eachContainer(template map[string]any, change func(container map[string]any)) {
	for _, list := range []string{"initContainers", "containers"} {
		found, _, _ := unstructured.NestedFieldNoCopy(template, "spec", list)
		containers, _ := found.([]any)
		for _, item := range containers {
			if container, is := item.(map[string]any); is {
				change(container)
			}
		}
	}
}
