//go:build cluster

package scenario

import (
	"fmt"
	"path/filepath"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// foreignAPI is a kind of another project that the chart renders if the cluster serves it.
type foreignAPI struct {
	schema.GroupVersionKind
	resource string
	// spec of an AppService that needs it, and of one that needs it with another image.
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

// apiRemoved deletes a CRD while the operator serves one AppService that needs the kind, and one that does not, and creates it again. The second
// one is not touched; the first one runs without the object, reports it, and gets it again afterwards.
func apiRemoved(s *scene, api foreignAPI) {
	crd := api.crd(s)
	cluster.Install(s.T, crd.DeepCopy())
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
	if said := elsewhere.line.Said(); len(said) > 0 {
		s.Errorf("it wrote about an AppService that does not ask for %s:\n    %s", api.Kind, strings.Join(said, "\n    "))
	}
	for _, one := range []*scene{s, elsewhere} { // the rest of it is repaired and changed as before
		one.drop("Service")
	}
	elsewhere.endsAs(small)
	s.lacks(api)
	s.want(api.changed)
	elsewhere.want(changed)
	elsewhere.endsAs(changed)
	s.lacks(api)

	cluster.Install(s.T, crd.DeepCopy())
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

// apiSeemsGone has the API server omit a group from discovery, as one does that has just started. Nothing may be deleted because of that, and
// nothing is missing afterwards.
func apiSeemsGone(s *scene, api foreignAPI) {
	crd := api.crd(s)
	cluster.Install(s.T, crd.DeepCopy())
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

// touch makes a change to the CRD without any effect, so that watches of CRDs report it.
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
	return files.CRD(s, filepath.Join("test/testdata/fixtures/crds", a.Group+"_"+a.resource+".yaml"))
}
