package fault

import (
	"fmt"
	"os"
	"path/filepath"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/tools/toolchain"
)

// foreignAPI is a kind of another project that the chart renders where the cluster serves it.
type foreignAPI struct {
	schema.GroupVersionKind
	resource string
	// spec of an AppService that asks for it, and of one that asks for it with another image.
	spec, changed string
}

func apis() []foreignAPI {
	monitored := with(small, `monitoring: {enabled: true}`)
	routed := with(small, `route: {parentRefs: [{name: edge}], hostnames: [NAMESPACE.example.com]}`)
	newer := func(spec string) string { return with(spec, `image: nginx:1.28`) }
	return []foreignAPI{
		{schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: "ServiceMonitor"}, "servicemonitors", monitored, newer(monitored)},
		{schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute"}, "httproutes", routed, newer(routed)},
	}
}

// apiRemoved deletes a CRD under an operator that serves one AppService which asks for the kind, and one that does not, and makes it
// again. Whoever does not ask for it is not touched; who does goes on without, says so, and has it again afterwards.
func apiRemoved(s *scene, api foreignAPI) {
	crd := api.crd(s)
	if err := cluster.InstallCRD(s.Context(), crd.DeepCopy()); err != nil {
		s.Fatal(err)
	}
	elsewhere := &scene{stage: newStage(s.T, s.plan+"-elsewhere", alone), T: s.T, plan: s.plan, player: s.player}
	s.process = launch(s.T, s.as, s.namespace, s.view, func(options *operator.Options, _ *harness.Requests) {
		options.WatchNamespaces = []string{s.namespace, elsewhere.namespace}
	})
	s.process.Synced(s.T)
	s.want(api.spec)
	elsewhere.want(small)
	first := s.has(api, "")
	s.endsAs(api.spec)
	elsewhere.endsAs(small)
	elsewhere.still()
	elsewhere.line.Start()

	api.remove(s, crd)
	s.lacks(api)
	s.listsNone(api)
	s.still()
	elsewhere.still()
	if points := elsewhere.line.Points(); len(points) > 0 {
		s.Errorf("it wrote %v about an AppService that does not ask for %s", points, api.Kind)
	}
	for _, one := range []*scene{s, elsewhere} { // the rest of it is repaired, and changed, as ever
		one.drop("Service")
	}
	elsewhere.endsAs(small)
	s.lacks(api)
	s.want(api.changed)
	elsewhere.want(changed)
	elsewhere.endsAs(changed)
	s.lacks(api)

	if err := cluster.InstallCRD(s.Context(), crd.DeepCopy()); err != nil {
		s.Fatal(err)
	}
	s.fault()
	second := s.has(api, first)
	s.endsAs(api.changed)
	elsewhere.endsAs(changed)
	object, err := s.live(api)
	if err != nil || object == nil {
		s.Fatalf("got %v, %v, want what was there a moment ago", object, err)
	}
	if err := cluster.Client.Delete(s.Context(), object); err != nil { // it is watched again, too
		s.Fatal(err)
	}
	s.has(api, second)
	s.endsAs(api.changed)
}

// apiSeemsGone has the API server leave a group out of what it says that it serves, as one does that has only begun. Nothing is deleted
// on account of that, and nothing is missing afterwards.
func apiSeemsGone(s *scene, api foreignAPI) {
	crd := api.crd(s)
	if err := cluster.InstallCRD(s.Context(), crd.DeepCopy()); err != nil {
		s.Fatal(err)
	}
	s.with(api.spec)
	object := s.has(api, "")
	s.still()
	s.view.Hide(api.Group)
	api.touch(s, crd, "hidden")
	s.lacks(api)
	s.still()
	s.view.Hide("")
	api.touch(s, crd, "shown")
	s.fault()
	if now := s.has(api, ""); now != object {
		s.Errorf("the %s is another one than before", api.Kind)
	}
	s.endsAs(api.spec)
	for change, times := range s.line.Changes() {
		if change == "delete "+api.resource+"/"+appName {
			s.Errorf("O2: %s, %d times", change, times)
		}
	}
}

// touch changes the CRD in a way that means nothing, so that who follows CRDs looks again.
func (a foreignAPI) touch(s *scene, crd *apiextensionsv1.CustomResourceDefinition, value string) {
	s.Helper()
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"faults.example.com/touched":%q}}}`, value)
	touched := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: crd.Name}}
	if err := cluster.Client.Patch(s.Context(), touched, client.RawPatch(types.MergePatchType, patch)); err != nil {
		s.Fatal(err)
	}
}

// crd reads the CRD of the kind.
func (a foreignAPI) crd(s *scene) *apiextensionsv1.CustomResourceDefinition {
	s.Helper()
	root, err := toolchain.Root()
	if err != nil {
		s.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "test/testdata/fixtures/crds", a.Group+"_"+a.resource+".yaml"))
	if err != nil {
		s.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(text, crd); err != nil {
		s.Fatal(err)
	}
	return crd
}

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

// live returns the object of the kind that the AppService has, nil for none.
func (s *scene) live(api foreignAPI) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(api.GroupVersionKind)
	err := cluster.Client.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: appName}, object)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, nil
	}
	return object, err
}

// has waits until the AppService is ready with an object of the kind that has not a UID, and says nothing more about it. It
// returns the UID.
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

// lacks waits until the AppService is ready and says that the cluster does not serve the kind. That is a problem, no failure.
func (s *scene) lacks(api foreignAPI) {
	s.Helper()
	s.readyWith("it says that there is no "+api.Kind, func(app *v1.AppService) error {
		if problems := app.Status.Problems; len(problems) != 1 || problems[0].Reason != v1.ReasonAPIAbsent || problems[0].Source != api.Kind {
			return fmt.Errorf("it has the problems %+v", problems)
		}
		return nil
	})
}

// listsNone waits until the status speaks of no object of the kind any more.
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

// readyWith waits until the AppService is ready and more, and its status true.
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
