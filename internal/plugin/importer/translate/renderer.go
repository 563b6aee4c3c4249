package translate

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/example/appservice-operator/internal/engine/chart/crd"
	"github.com/example/appservice-operator/internal/engine/kube/stage"
)

// Renderer renders resources as the operator does.
type Renderer struct {
	// Render returns the rendered objects of an AppService or AppJob, without access to a cluster, or the error with
	// which the operator would refuse it.
	Render func(context.Context, *unstructured.Unstructured) ([]*unstructured.Unstructured, error)
	// Check returns the error with which the API server would refuse a resource. It may be nil.
	Check func(*unstructured.Unstructured) error
}

// refused returns the error with which a resource, or what it becomes, is refused; nil if it is accepted.
func (r Renderer) refused(ctx context.Context, app *unstructured.Unstructured) error {
	if r.Check != nil {
		if err := r.Check(app); err != nil {
			return Plainly(err)
		}
	}
	rendered, err := r.Render(ctx, app.DeepCopy())
	if err != nil {
		return err
	}
	return invalid(rendered)
}

// made returns the rendered objects of a resource that are compared: the copies that its release task has of its
// configuration and of its NetworkPolicy are none of them.
func (r Renderer) made(ctx context.Context, app *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	rendered, err := r.Render(ctx, app)
	return slices.DeleteFunc(slices.Clone(rendered), func(object *unstructured.Unstructured) bool {
		return stage.Of(object) == stage.Before && object.GetKind() != "Job"
	}), err
}

// Plainly returns the errors of an API server without the values and the remarks on its own work.
func Plainly(err error) error {
	var list utilerrors.Aggregate
	if !errors.As(err, &list) {
		return err
	}
	var texts []string
	for _, one := range list.Errors() {
		var found *field.Error
		switch {
		case !errors.As(one, &found):
			texts = append(texts, one.Error())
		case found.Detail == crd.RulesUnchecked:
		case found.Field == "" || found.Field == "<nil>":
			texts = append(texts, found.Detail)
		default:
			texts = append(texts, strings.TrimSuffix(found.Field+": "+cmp.Or(found.Detail, strings.ToLower(found.Type.String())), ": "))
		}
	}
	slices.Sort(texts)
	return errors.New(strings.Join(slices.Compact(texts), ", "))
}
