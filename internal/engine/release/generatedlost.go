package release

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/generate"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// GeneratedLostError reports that Secrets are gone which the operator had filled: with other values, the application
// may be locked out of what it protected with them.
type GeneratedLostError struct {
	// Keys of the Secrets, sorted; at least one.
	Keys []kube.Key
}

func (e *GeneratedLostError) Error() string {
	kind, verb := "Secret", "is"
	if len(e.Keys) > 1 {
		kind, verb = "Secrets", "are"
	}
	return fmt.Sprintf("%s %s %s gone, with values that were generated for this resource: new ones might lock the "+
		"application out of its data", kind, strings.Join(e.names(), ", "), verb)
}

// Reason returns the reason of Ready.
func (e *GeneratedLostError) Reason() string { return v1.ReasonGeneratedSecretLost }

// Hint returns how the values come back, or are given up.
func (e *GeneratedLostError) Hint() string {
	return fmt.Sprintf("restore it from a backup, with its labels and annotations; or have new values made: "+
		"kubectl annotate this resource %s=%s", v1.AnnotationGenerateAgain, strings.Join(e.names(), ","))
}

func (e *GeneratedLostError) names() []string {
	names := make([]string, 0, len(e.Keys))
	for _, key := range e.Keys {
		names = append(names, key.Name)
	}
	return names
}

// GeneratedAgain returns the Secrets of a resource that may be filled with new values if they are lost, by name.
func GeneratedAgain(resource client.Object) []string {
	var names []string
	for name := range strings.SplitSeq(resource.GetAnnotations()[v1.AnnotationGenerateAgain], ",") {
		names = append(names, strings.TrimSpace(name))
	}
	return names
}

// Lost returns the Secrets that a plan would create and fill again although a recorded release had them filled; nil if
// there are none. Those that exist after all, and those that the owner gives up, are not lost.
func (a *Actor) Lost(ctx context.Context, owner *unstructured.Unstructured, plan *plan.Plan,
	recorded []*unstructured.Unstructured) (*GeneratedLostError, error) {
	released, again := kube.ByKey(recorded), GeneratedAgain(owner)
	lost := &GeneratedLostError{}
	for _, desired := range plan.Create {
		key := kube.KeyOf(desired)
		before := released[key]
		if generate.Of(desired).None() || before == nil || generate.Of(before).None() ||
			slices.Contains(again, desired.GetName()) {
			continue
		}
		err := a.live.Get(ctx, client.ObjectKeyFromObject(desired), kube.Metadata(kube.SecretKind))
		switch {
		case apierrors.IsNotFound(err):
			lost.Keys = append(lost.Keys, key)
		case err != nil:
			return nil, fmt.Errorf("cannot look for %s: %w", key, err)
		}
	}
	if len(lost.Keys) == 0 {
		return nil, nil
	}
	slices.SortFunc(lost.Keys, kube.Key.Compare)
	return lost, nil
}
