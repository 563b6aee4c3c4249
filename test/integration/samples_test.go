//go:build cluster

package integration

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appservice "github.com/example/appservice-operator"
	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/release/plan"
	"github.com/example/appservice-operator/internal/engine/render"
	translate "github.com/example/appservice-operator/internal/engine/values"
	"github.com/example/appservice-operator/internal/engine/watch"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

const (
	samples  = "config/samples"
	fixtures = "test/testdata/fixtures"
	// otherNodePort replaces the node ports in copies of samples, which other tests use.
	otherNodePort = 40
)

// Every sample becomes ready unchanged, has no problems, and then causes no more requests: the API server's defaults
// equal the rendered ones.
func TestSamples(t *testing.T) {
	t.Parallel()
	capabilities := withForeignKinds(t)
	for _, file := range sampleFiles(t) {
		t.Run(strings.TrimSuffix(file, ".yaml"), func(parallel *testing.T) {
			parallel.Parallel()
			testSample(parallel, t, file, capabilities)
		})
	}
}

func testSample(t, whole *testing.T, file string, capabilities *watch.Discovered) {
	namespace := cluster.Namespace(t)
	for _, object := range documents(t, filepath.Join(fixtures, "samples", file)) {
		createFixture(t, whole, namespace, object)
	}
	manager := cluster.Manager(t, namespace, func(options *operator.Options, _ *harness.Requests) {
		if file == "appservice_ingress_default.yaml" { // the platform has to allow it
			options.Policy = filepath.Join(files.Root(t), samples, "open", "policy.yaml")
		}
	})
	sample := documents(t, filepath.Join(samples, file))[0]
	sample.SetNamespace(namespace)
	moveNodePorts(t, sample, otherNodePort)
	cluster.Create(t, sample, client.FieldValidation(metav1.FieldValidationStrict))
	app := &v1.AppService{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: sample.GetName()}}
	cluster.Ready(t, app)
	manager.Rest(t)

	mark := manager.Requests.Mark()
	note := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"example.com/note":"x"}}}`))
	if err := cluster.Client.Patch(t.Context(), app, note); err != nil { // causes a reconcile
		t.Fatal(err)
	}
	manager.Rest(t)
	if writes := manager.Requests.WritesSince(mark); len(writes) > 0 {
		t.Errorf("a reconcile that has nothing to do wrote %v", writes)
	}
	cluster.Ready(t, app)
	if len(app.Status.Problems) > 0 {
		t.Errorf("there are problems: %+v", app.Status.Problems)
	}
	assert.NoError(t, want("revision", app.Status.Release.Revision, 1))
	if repairs := repairsOf(t, namespace); len(repairs) > 0 {
		t.Errorf("what was rendered was repaired: %q", repairs)
	}
	if plan := missing(t, app, capabilities); !plan.Empty() {
		t.Errorf("the objects are not as rendered: %s", plan)
	}
}

// nightly is the sample of an AppJob that has the settings of an AppService.
const nightly = "appjob_nightly.yaml"

// The AppJob of a service waits until the service is there, with its ConfigMap, its generated key and its volume.
func TestTheCronJobOfAServiceWaitsForIt(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	for _, object := range documents(t, filepath.Join(fixtures, "samples", "appservice_django.yaml")) {
		createFixture(t, t, namespace, object)
	}
	job, app := documents(t, filepath.Join(samples, nightly))[0], documents(t, filepath.Join(samples, "appservice_django.yaml"))[0]
	job.SetNamespace(namespace)
	cluster.Create(t, job, client.FieldValidation(metav1.FieldValidationStrict))
	cluster.Becomes(t, "it waits", job, func() error {
		return stands(job, map[string]string{v1.ConditionReady: "False " + v1.ReasonDependencyMissing})
	})
	app.SetNamespace(namespace)
	cluster.Create(t, app)
	becomesReady(t, app)
	becomesReady(t, job)
	manager.Rest(t)
	cluster.Refresh(t, job)
	problems, _, err := unstructured.NestedSlice(job.Object, "status", "problems")
	require.NoError(t, err)
	assert.Empty(t, problems)
}

func TestSamplesShowEveryField(t *testing.T) {
	t.Parallel()
	embedded := []string{"affinity", "dnsConfig", "lifecycle", "resources", "strategy"} // types of Kubernetes
	crd := files.CRD(t, "config/crd/bases/app.example.com_appservices.yaml")
	var shown []map[string]any
	for _, file := range sampleFiles(t) {
		spec, _, err := unstructured.NestedMap(documents(t, filepath.Join(samples, file))[0].Object, "spec")
		require.NoError(t, err)
		shown = append(shown, spec)
		if file != "full.yaml" {
			continue
		}
		for name := range crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties {
			if _, found := spec[name]; !found && name != "statefulSet" { // strategy has no effect beside it
				t.Errorf("full.yaml does not set spec.%s", name)
			}
		}
	}
	for name, field := range crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties {
		if slices.Contains(embedded, name) {
			continue
		}
		for inner := range field.Properties {
			if !slices.ContainsFunc(shown, func(spec map[string]any) bool {
				_, found, _ := unstructured.NestedFieldNoCopy(spec, name, inner)
				return found
			}) {
				t.Errorf("no sample sets spec.%s.%s", name, inner)
			}
		}
	}
}

func TestTheKustomizationListsEverySample(t *testing.T) {
	t.Parallel()
	var listed struct {
		metav1.TypeMeta `json:",inline"`
		Resources       []string `json:"resources"`
	}
	files.Into(t, filepath.Join(samples, "kustomization.yaml"), &listed)
	slices.Sort(listed.Resources)
	files := allSamples(t)
	if !slices.Equal(listed.Resources, files) {
		t.Errorf("kustomization.yaml lists %q, the folder holds %q", listed.Resources, files)
	}
	names := map[string]string{}
	for _, file := range files {
		name := documents(t, filepath.Join(samples, file))[0].GetName()
		if other, taken := names[name]; taken {
			t.Errorf("%s and %s are both named %s", other, file, name)
		}
		names[name] = file
	}
}

// sampleFiles lists the samples of AppServices, sorted.
func sampleFiles(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(allSamples(t), func(file string) bool { return !isAppService(t, file) })
}

func isAppService(t *testing.T, file string) bool {
	t.Helper()
	return documents(t, filepath.Join(samples, file))[0].GetKind() == v1.Kind
}

// allSamples lists the samples, sorted.
func allSamples(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(files.Root(t), samples, "*.yaml"))
	require.NoError(t, err)
	var files []string
	for _, path := range paths {
		if name := filepath.Base(path); name != "kustomization.yaml" {
			files = append(files, name)
		}
	}
	return files
}

// withForeignKinds installs the kinds of other projects that the chart renders, and returns what the cluster then
// serves.
func withForeignKinds(t *testing.T) *watch.Discovered {
	t.Helper()
	kinds := []string{"gateway.networking.k8s.io/v1/HTTPRoute", "gateway.networking.k8s.io/v1/GRPCRoute", "gateway.networking.k8s.io/v1/ListenerSet", "keda.sh/v1alpha1/ScaledObject", "monitoring.coreos.com/v1/ServiceMonitor"}
	for _, file := range []string{"gateway.networking.k8s.io_httproutes.yaml", "gateway.networking.k8s.io_grpcroutes.yaml", "gateway.networking.k8s.io_listenersets.yaml", "keda.sh_scaledobjects.yaml", "monitoring.coreos.com_servicemonitors.yaml"} {
		cluster.Install(t, files.CRD(t, filepath.Join(fixtures, "crds", file)))
	}
	cluster.Install(t, gatewayCRD()) // a sample refers to a Gateway
	discoverer, err := discovery.NewDiscoveryClientForConfig(cluster.Config)
	require.NoError(t, err)
	capabilities := &watch.Discovered{Discovery: discoverer, Clock: clock.RealClock{}}
	harness.Eventually(t, "the kinds of other projects are served", func() error {
		capabilities.Invalidate()
		served, _, err := capabilities.Get(t.Context())
		if err != nil {
			return err
		}
		for _, kind := range kinds {
			if !served.APIVersions.Has(kind) {
				return fmt.Errorf("%s is not served yet", kind)
			}
		}
		return nil
	})
	return capabilities
}

// createFixture creates an object that a sample refers to. Those without a namespace are deleted when all samples are
// done.
func createFixture(t, whole *testing.T, namespace string, object *unstructured.Unstructured) {
	t.Helper()
	namespaced, err := cluster.Client.IsObjectNamespaced(object)
	require.NoError(t, err)
	if namespaced {
		object.SetNamespace(namespace)
	}
	if claim, _, _ := unstructured.NestedMap(object.Object, "spec", "claimRef"); claim != nil { // a volume that no other test takes
		require.NoError(t, unstructured.SetNestedField(object.Object, namespace, "spec", "claimRef", "namespace"))
	}
	err = cluster.Client.Create(t.Context(), object)
	if err != nil && (namespaced || !apierrors.IsAlreadyExists(err)) {
		t.Fatalf("cannot create %s %s: %v", object.GetKind(), object.GetName(), err)
	}
	if !namespaced && err == nil {
		whole.Cleanup(func() { _ = cluster.Client.Delete(context.WithoutCancel(whole.Context()), object) })
	}
}

// moveNodePorts replaces the node ports in a copy of a sample.
func moveNodePorts(t *testing.T, sample *unstructured.Unstructured, by int64) {
	t.Helper()
	ports, _, err := unstructured.NestedSlice(sample.Object, "spec", "ports")
	require.NoError(t, err)
	for _, port := range ports {
		if port := port.(map[string]any); port["nodePort"] != nil {
			port["nodePort"] = port["nodePort"].(int64) + by
		}
	}
	if len(ports) > 0 {
		_ = unstructured.SetNestedSlice(sample.Object, ports, "spec", "ports") // spec is a map: ports were found in it
	}
}

// repairsOf lists what the operator repaired in a namespace.
func repairsOf(t *testing.T, namespace string) []string {
	t.Helper()
	list := &eventsv1.EventList{}
	cluster.List(t, list, client.InNamespace(namespace))
	var notes []string
	for _, event := range list.Items {
		if event.Reason == v1.ReasonDriftCorrected {
			notes = append(notes, event.Note)
		}
	}
	return notes
}

// missing returns what an AppService renders and the cluster lacks.
func missing(t *testing.T, app *v1.AppService, capabilities *watch.Discovered) *plan.Plan {
	t.Helper()
	kind := v1.GroupVersion.WithKind(v1.Kind)
	loaded, err := chart.Load(appservice.Files, "helm-charts/appservice")
	require.NoError(t, err)
	resource := &unstructured.Unstructured{}
	resource.SetGroupVersionKind(kind)
	cluster.Get(t, client.ObjectKeyFromObject(app), resource)
	served, _, err := capabilities.Get(t.Context())
	require.NoError(t, err)
	renderer := &render.Renderer{Chart: loaded, Translator: translate.For(kind, loaded, nil), Hooks: postrender.Default()}
	draft, err := renderer.Draft(t.Context(), render.Input{Resource: resource, Capabilities: served})
	require.NoError(t, err)
	dependencies := reference.NewDependencies(cluster.Client, cluster.Client)
	facts := postrender.Facts{States: map[reference.Object]reference.State{}}
	for _, ref := range draft.References {
		if facts.States[ref.Object], err = dependencies.Look(t.Context(), app.Namespace, ref.Object, false); err != nil {
			t.Fatal(err)
		}
	}
	facts.Content, facts.Keys = reference.ContentOf(draft.References, facts.States).Version, keysIn(t, app.Namespace)
	result, err := renderer.Finish(t.Context(), draft, facts)
	require.NoError(t, err)
	there := map[kube.Key]client.Object{}
	for _, object := range result.Objects {
		live := &unstructured.Unstructured{}
		live.SetGroupVersionKind(object.GroupVersionKind())
		err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(object), live)
		switch {
		case err == nil:
			there[kube.KeyOf(object)] = live
		case !apierrors.IsNotFound(err):
			t.Fatal(err)
		}
	}
	return plan.Compare(result.Objects, there)
}

// documents reads the objects of a file; none if there is no such file.
func documents(t *testing.T, path string) []*unstructured.Unstructured {
	t.Helper()
	if _, err := os.Stat(filepath.Join(files.Root(t), path)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return files.Objects(t, path)
}
