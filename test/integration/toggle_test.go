//go:build cluster

package integration

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/endstate"
	"github.com/example/appservice-operator/test/harness"
)

// feature is a field that is set and removed again in an AppService.
type feature struct {
	base, on v1.AppServiceSpec
	// fixtures is the sample whose fixtures are needed.
	fixtures string
}

// sameEnd are the namespaces of one AppService that is toggled and two that never are.
type sameEnd struct{ toggled, on, base string }

// The order of changes has no effect on the end: an AppService to which a feature was added ends like one that was created with it, and after its
// removal like one that never had it.
func TestAFeatureSwitchedOnAndOffLeavesNoTrace(t *testing.T) {
	t.Parallel()
	withForeignKinds(t)
	in := sameEnd{toggled: cluster.Namespace(t), on: cluster.Namespace(t), base: cluster.Namespace(t)}
	features := featuresOfSamples(t)
	maps.Copy(features, smallFeatures())
	cluster.Manager(t, in.toggled, func(options *operator.Options, _ *harness.Requests) {
		options.WatchNamespaces = []string{in.toggled, in.on, in.base}
	})
	objects := cluster.Cache(t, in.toggled, in.on, in.base)
	for name, feature := range features {
		for _, namespace := range []string{in.toggled, in.on, in.base} {
			fixturesOf(t, feature.fixtures, namespace)
		}
		cluster.Create(t, appIn(t, in.on, name, feature.on))
		cluster.Create(t, appIn(t, in.base, name, feature.base))
		cluster.Create(t, appIn(t, in.toggled, name, feature.base))
	}
	for name, feature := range features {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testToggle(t, in, objects, name, feature)
		})
	}
}

func testToggle(t *testing.T, in sameEnd, objects client.Reader, name string, feature feature) {
	toggled := appIn(t, in.toggled, name, feature.base)
	settled(t, toggled)
	for _, step := range []struct {
		name, fresh string
		spec        v1.AppServiceSpec
	}{{"on", in.on, feature.on}, {"off", in.base, feature.base}, {"on again", in.on, feature.on}} {
		spec := appIn(t, in.toggled, name, step.spec).Spec
		cluster.Change(t, toggled, func(app *v1.AppService) { app.Spec = spec })
		settled(t, toggled)
		if step.spec.Paused {
			continue
		}
		fresh := appIn(t, step.fresh, name, step.spec)
		settled(t, fresh)
		harness.Eventually(t, "switched "+step.name+", it is like a fresh one", func() error {
			wanted, got := stateOf(t, objects, fresh), stateOf(t, objects, toggled)
			if step.fresh == in.base {
				endstate.WithoutKept(wanted, got)
			}
			if different := endstate.Differences("", wanted, got); len(different) > 0 {
				return fmt.Errorf("fresh and toggled differ:\n%s", strings.Join(different, "\n"))
			}
			return nil
		})
	}
}

// featuresOfSamples returns a feature for each sample. It runs no pod, since what pods of samples need does not exist.
func featuresOfSamples(t *testing.T) map[string]feature {
	t.Helper()
	features := map[string]feature{}
	for _, file := range sampleFiles(t) {
		switch file { // what never changes: whether a Service is headless, and whether a workload is a StatefulSet
		case "appservice_claims.yaml", "appservice_headless.yaml", "appservice_stateful.yaml":
			continue
		}
		app := harness.Sample(t, file, "")
		app.Spec.Size = ptr.To[int32](0)
		if app.Spec.PriorityClassName != "" || len(app.Spec.Volumes) > 0 {
			app.Spec.Release = nil // its pod would need what does not exist
		}
		base := seed(0)
		base.Image = app.Spec.Image // a feature of its own
		features[app.Name] = feature{on: app.Spec, base: base, fixtures: file}
	}
	return features
}

func seed(size int32) v1.AppServiceSpec {
	spec := harness.Seed("", "").Spec
	spec.Size = &size
	return spec
}

// smallFeatures are features that no sample shows alone, with a pod.
func smallFeatures() map[string]feature {
	features := map[string]feature{}
	for name, change := range map[string]func(on, base *v1.AppServiceSpec){
		"image-changed":  func(on, _ *v1.AppServiceSpec) { on.Image = "nginx:1.27" },
		"size-changed":   func(on, _ *v1.AppServiceSpec) { on.Size = ptr.To[int32](2) },
		"scaled-to-zero": func(on, _ *v1.AppServiceSpec) { on.Size = ptr.To[int32](0) },
		"paused":         func(on, _ *v1.AppServiceSpec) { on.Paused, on.Image, on.Ports = true, "nginx:1.27", nil },
		"ports-none":     func(on, _ *v1.AppServiceSpec) { on.Ports = nil },
		"port-renamed":   func(on, base *v1.AppServiceSpec) { on.Ports[0].Name, base.Ports[0].Name = "web", "http" },
		"port-moved":     func(on, _ *v1.AppServiceSpec) { on.Ports[0].Port = 8080 },
		"target-moved":   func(on, _ *v1.AppServiceSpec) { on.Ports[0].TargetPort = ptr.To(intstr.FromInt32(8080)) },
		"protocol":       func(on, _ *v1.AppServiceSpec) { on.Ports[0].Protocol = "UDP" },
		"node-port":      func(on, _ *v1.AppServiceSpec) { on.Service = &v1.Service{Type: "NodePort"} },
		"reload":         func(on, _ *v1.AppServiceSpec) { on.ReloadOnChange = ptr.To(false) },
		"autoscaled": func(on, base *v1.AppServiceSpec) {
			on.Resources, base.Resources = cpuRequest(), cpuRequest()
			on.Autoscaling = &v1.Autoscaling{MinReplicas: ptr.To[int32](2), MaxReplicas: 3}
		},
		"account": func(on, _ *v1.AppServiceSpec) { on.ServiceAccount = &v1.ServiceAccount{} },
		"recreate": func(on, _ *v1.AppServiceSpec) {
			on.Strategy = &appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
		},
		"claim-kept": func(on, _ *v1.AppServiceSpec) { on.Size, on.Persistence = ptr.To[int32](0), claim(true) },
		"claim-gone": func(on, _ *v1.AppServiceSpec) { on.Size, on.Persistence = ptr.To[int32](0), claim(false) },
		"claim-let-go-of": func(on, base *v1.AppServiceSpec) {
			on.Persistence, base.Persistence = claim(false), claim(true)
			on.Size, base.Size = ptr.To[int32](0), ptr.To[int32](0)
		},
	} {
		added := feature{on: seed(1), base: seed(1)}
		change(&added.on, &added.base)
		features[name] = added
	}
	return features
}

func claim(retain bool) *v1.Persistence {
	return &v1.Persistence{Size: resource.MustParse("1Gi"), MountPath: "/data", StorageClassName: ptr.To("none"), Retain: &retain}
}

// appIn creates an AppService in one of the namespaces, with hosts and node ports that no other has.
func appIn(t *testing.T, namespace, name string, spec v1.AppServiceSpec) *v1.AppService {
	t.Helper()
	app := &v1.AppService{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: *spec.DeepCopy()}
	for i := range app.Spec.Ports {
		app.Spec.Ports[i].NodePort = nil // they are cluster-wide
	}
	if ingress := app.Spec.Ingress; ingress != nil {
		if len(ingress.Hosts) == 0 { // hosts that nobody names are had once in a cluster
			ingress.Hosts = []v1.IngressHost{{Host: "any.example.com"}}
		}
		ingress.AnyHost, ingress.DefaultBackend = nil, nil
		for i := range ingress.Hosts {
			ingress.Hosts[i].Host = namespace + "." + ingress.Hosts[i].Host
		}
		for i := range ingress.TLS {
			for j := range ingress.TLS[i].Hosts {
				ingress.TLS[i].Hosts[j] = namespace + "." + ingress.TLS[i].Hosts[j]
			}
		}
	}
	if route := app.Spec.Route; route != nil {
		for i := range route.Hostnames {
			route.Hostnames[i] = namespace + "." + route.Hostnames[i]
		}
	}
	if claim := app.Spec.Persistence; claim != nil {
		claim.StorageClassName = ptr.To(harness.StaticVolumes) // leaves the volumes of other tests alone
	}
	for i := range app.Spec.Claims {
		app.Spec.Claims[i].StorageClassName = ptr.To(harness.StaticVolumes)
	}
	return app
}

// settled waits until an AppService is ready, or paused.
func settled(t *testing.T, app *v1.AppService) {
	t.Helper()
	status := metav1.ConditionTrue
	if app.Spec.Paused {
		status = metav1.ConditionUnknown
	}
	cluster.Condition(t, app, v1.ConditionReady, status, "")
}

func fixturesOf(t *testing.T, sample, namespace string) {
	t.Helper()
	if sample == "" {
		return
	}
	for _, object := range documents(t, filepath.Join(fixtures, "samples", sample)) {
		if namespaced, err := cluster.Client.IsObjectNamespaced(object); err != nil {
			t.Fatal(err)
		} else if namespaced {
			createFixture(t, t, namespace, object)
		}
	}
}
