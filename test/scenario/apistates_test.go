//go:build cluster

package scenario

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// remove deletes the CRD, and all objects of the kind with it.
func (a foreignAPI) remove(s *scene, crd *apiextensionsv1.CustomResourceDefinition) {
	s.Helper()
	gone := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: crd.Name}}
	if err := cluster.Client.Delete(s.Context(), gone); err != nil {
		s.Fatal(err)
	}
	harness.Eventually(s.T, "the API of "+a.Kind+" goes", func() error {
		err := cluster.Client.Get(s.Context(), client.ObjectKeyFromObject(gone), gone)
		if err == nil {
			return fmt.Errorf("it is still there")
		}
		return client.IgnoreNotFound(err)
	})
}

// live returns the object of the kind that the AppService owns, nil if none.
func (s *scene) live(api foreignAPI) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(api.GroupVersionKind)
	err := cluster.Client.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: appName}, object)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, nil
	}
	return object, err
}

// has waits until the AppService is ready, without any problem, with an object of the kind whose UID is not the given one, and returns that UID.
func (s *scene) has(api foreignAPI, not types.UID) types.UID {
	s.Helper()
	var uid types.UID
	s.readyWith("it has its "+api.Kind, func(app *v1.AppService) error {
		if len(app.Status.Problems) > 0 {
			return fmt.Errorf("it has the problems %+v", app.Status.Problems)
		}
		object, err := s.live(api)
		if err != nil {
			return err
		}
		if object == nil || object.GetUID() == not {
			return fmt.Errorf("there is no new one")
		}
		uid = object.GetUID()
		return nil
	})
	return uid
}

// lacks waits until the AppService is ready and reports that the cluster does not serve the kind. That is a problem, not a failure.
func (s *scene) lacks(api foreignAPI) {
	s.Helper()
	s.readyWith("it says that there is no "+api.Kind, func(app *v1.AppService) error {
		if problems := app.Status.Problems; len(problems) != 1 || problems[0].Reason != v1.ReasonAPIAbsent || problems[0].Source != api.Kind {
			return fmt.Errorf("it has the problems %+v", problems)
		}
		return nil
	})
}

// listsNone waits until the status lists no object of the kind any more.
func (s *scene) listsNone(api foreignAPI) {
	s.Helper()
	s.readyWith("it lists no "+api.Kind, func(app *v1.AppService) error {
		for _, resource := range app.Status.Resources {
			if resource.Kind == api.Kind {
				return fmt.Errorf("it still lists %+v", resource)
			}
		}
		return nil
	})
}

// readyWith waits until the AppService is ready, a further condition holds, and its status is true.
func (s *scene) readyWith(what string, check func(*v1.AppService) error) {
	s.Helper()
	harness.Eventually(s.T, what, func() error {
		objects, err := seen.objects(s.Context(), s.namespace)
		if err != nil {
			return err
		}
		app, err := appOf(objects)
		if err != nil {
			return err
		}
		if err := s.over(step{}, objects); err != nil {
			return err
		}
		return check(app)
	})
}
