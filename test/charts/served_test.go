//go:build cluster

package charts

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/pod-security-admission/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

var cluster *harness.Cluster

func TestMain(m *testing.M) {
	harness.Log()
	harness.Main("appservice-charts", func(_ context.Context, started *harness.Cluster) (int, error) {
		cluster = started
		return m.Run(), nil
	})
}

// TestPublicChartsAreServed serves the charts of a folder, one after the other: each object of Helm's is there, comes
// back if it is deleted, and goes with the resource. A resource that is not Ready says why: nobody runs the controllers
// of other projects here.
func TestPublicChartsAreServed(t *testing.T) {
	if !filepath.IsAbs(*folder) {
		*folder = filepath.Join(files.Root(t), *folder)
	}
	names, err := chartsIn(*folder)
	require.NoError(t, err)
	selected, err := regexp.Compile(*only)
	require.NoError(t, err)
	table := map[string]known{}
	files.Into(t, filepath.Join("test", "charts", "values.yaml"), &table)
	cluster.Create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: map[string]string{api.EnforceLevelLabel: string(api.LevelPrivileged)}}})
	volumes := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: harness.GrowingVolumes}}
	cluster.Get(t, client.ObjectKeyFromObject(volumes), volumes)
	cluster.Edit(t, volumes, func() { volumes.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"} })
	// A chart brings a class of this name, too.
	require.NoError(t, client.IgnoreNotFound(cluster.Client.Delete(t.Context(), &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "nginx"}})))
	served, count := 0, 0
	for _, file := range names {
		if !selected.MatchString(file) {
			continue
		}
		t.Run(file, func(t *testing.T) {
			s, err := load(*folder, file)
			require.NoError(t, err)
			major, _, _ := strings.Cut(strings.TrimPrefix(s.helm.Metadata.Version, "v"), ".")
			knows := table[s.helm.Name()+"-"+major]
			if knows.Announced != "" {
				fmt.Printf("SERVED %s: announced\n", s.helm.Name())
				return
			}
			count++
			ready := s.serve(t, file, over(knows.Helm, knows.Value))
			fmt.Printf("SERVED %s: %s\n", s.helm.Name(), ready)
			served++
		})
	}
	fmt.Printf("SERVED charts=%d served=%d\n", count, served)
}

// serve serves a chart with a resource of some values until it is deleted, and returns whether it was Ready, and why not.
func (s *subject) serve(t *testing.T, file string, values map[string]any) string {
	t.Helper()
	expected, err := s.expect(set{values: values})
	require.NoError(t, err)
	objects := delivered(expected.helm[0])
	if s.mayRender(objects); len(objects) == 0 { // the chart renders nothing without values
		s.renderer.Published.Renders = []string{"ConfigMap"}
	}
	s.install(t, objects)
	dir := t.TempDir()
	entry, err := yaml.Marshal([]any{map[string]any{"group": s.kind.Group, "version": "v1", "kind": s.kind.Kind, "chart": file, "from": "published",
		"renders": s.renderer.Published.Renders, "grants": s.renderer.Published.Grants}})
	require.NoError(t, err)
	files.Write(t, filepath.Join(dir, "watches.yaml"), string(entry))
	policy := filepath.Join(dir, "policy.yaml")
	files.Write(t, policy, "builtIn: open\n")
	plural := strings.ToLower(s.kind.Kind) + "s"
	cluster.Install(t, harness.WithStatus(harness.AnyCRD(s.kind, plural)))
	manager := cluster.Unbound().Manager(t, namespace, func(o *operator.Options, _ *harness.Requests) {
		o.ChartDir, o.WatchesFile, o.Policy = *folder, filepath.Join(dir, "watches.yaml"), policy
	})
	defer manager.Stop(t)
	resource := &unstructured.Unstructured{Object: map[string]any{"spec": values}}
	if values == nil {
		resource.Object["spec"] = map[string]any{}
	}
	resource.SetGroupVersionKind(s.kind)
	resource.SetNamespace(namespace)
	resource.SetName(name)
	cluster.Create(t, resource)
	t.Cleanup(func() { _ = cluster.Client.Delete(context.WithoutCancel(t.Context()), resource) })
	state := ""
	harness.Eventually(t, "all objects of Helm's are there", func() error {
		cluster.Refresh(t, resource)
		state = readiness(resource)
		for _, object := range objects {
			if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object.DeepCopy()); err != nil {
				return fmt.Errorf("%w; the resource is %s", err, state)
			}
		}
		return nil
	})
	settled := func() error {
		cluster.Refresh(t, resource)
		if state = readiness(resource); strings.HasPrefix(state, "Ready ") || strings.HasPrefix(state, "not Ready ") && !strings.Contains(state, "RollingOut") && !strings.Contains(state, v1.ReasonPending) {
			return nil
		}
		return fmt.Errorf("it is %s", state)
	}
	harness.Eventually(t, "it is Ready, or says why not", settled)
	kinds := map[schema.GroupKind]bool{}
	for k, object := range objects {
		if kinds[k.GroupKind] || k.Kind == "PersistentVolumeClaim" || k.Kind == "Job" {
			continue
		}
		kinds[k.GroupKind] = true
		live := object.DeepCopy()
		cluster.Get(t, client.ObjectKeyFromObject(object), live)
		uid := live.GetUID()
		cluster.Delete(t, live)
		harness.Eventually(t, k.String()+" comes back", func() error {
			again := object.DeepCopy()
			if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(object), again); err != nil {
				return err
			}
			if again.GetUID() == uid {
				return fmt.Errorf("it is the same object")
			}
			return nil
		})
		live = object.DeepCopy()
		cluster.Get(t, client.ObjectKeyFromObject(object), live)
		cluster.Edit(t, live, func() {
			labels := live.GetLabels()
			labels["app.kubernetes.io/managed-by"] = "someone"
			live.SetLabels(labels)
		})
		harness.Eventually(t, k.String()+" is repaired", func() error {
			cluster.Refresh(t, live)
			if live.GetLabels()["app.kubernetes.io/managed-by"] != "Helm" {
				return fmt.Errorf("its label is not as rendered")
			}
			return nil
		})
	}
	harness.Eventually(t, "it is Ready, or says why not", settled)
	objects = s.change(t, resource, values, objects)
	harness.Eventually(t, "it is Ready, or says why not", settled)
	cluster.Delete(t, resource)
	harness.Eventually(t, "all is gone but claims", func() error {
		for k, object := range objects {
			err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object.DeepCopy())
			if k.Kind != "PersistentVolumeClaim" && !apierrors.IsNotFound(err) {
				return fmt.Errorf("%s is there: %w", k, err)
			}
		}
		return client.IgnoreNotFound(cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(resource), resource.DeepCopy()))
	})
	// The next chart may have claims of these names.
	require.NoError(t, cluster.Client.DeleteAllOf(t.Context(), &corev1.PersistentVolumeClaim{}, client.InNamespace(namespace)))
	harness.Eventually(t, "its claims are gone", func() error {
		list := &corev1.PersistentVolumeClaimList{}
		if err := cluster.Client.List(t.Context(), list, client.InNamespace(namespace)); err != nil || len(list.Items) > 0 {
			return fmt.Errorf("%d are there: %w", len(list.Items), err)
		}
		return nil
	})
	return state
}

// delivered leaves out the tests of a chart, and its CustomResourceDefinitions.
func delivered(objects map[key]helmObject) map[key]helmObject {
	objects = untested(objects)
	maps.DeleteFunc(objects, func(k key, _ helmObject) bool { return k.Kind == "CustomResourceDefinition" })
	return objects
}

// change turns the first boolean over that changes the objects of Helm, within the kinds that the chart may render, and
// returns the objects then. They are there as soon as the operator has released it.
func (s *subject) change(t *testing.T, resource *unstructured.Unstructured, values map[string]any, objects map[key]helmObject) map[key]helmObject {
	t.Helper()
	before := map[key]*unstructured.Unstructured{}
	for k, object := range objects {
		before[k] = object.Unstructured
	}
	for _, turned := range turned(over(s.helm.Values, values), nil) {
		turned.values = over(values, turned.values)
		expected, err := s.expect(turned)
		if err != nil {
			continue
		}
		after := delivered(expected.helm[0])
		if _, err := s.render(t, s.renderer, turned, expected.served); err != nil || len(compare([]map[key]helmObject{after}, before)) == 0 {
			continue
		}
		revision := func() string {
			cluster.Refresh(t, resource)
			revision, _, _ := unstructured.NestedFieldNoCopy(resource.Object, "status", "release", "revision")
			return fmt.Sprint(revision)
		}
		was := revision()
		cluster.Edit(t, resource, func() { resource.Object["spec"] = turned.values })
		harness.Eventually(t, turned.name+" is released", func() error {
			if revision() == was {
				return fmt.Errorf("it is release %s; the resource is %s", was, readiness(resource))
			}
			for k, object := range objects {
				err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object.DeepCopy())
				if _, stays := after[k]; !stays && k.Kind != "PersistentVolumeClaim" && !apierrors.IsNotFound(err) {
					return fmt.Errorf("%s is there: %w", k, err)
				}
			}
			for _, object := range after {
				if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object.DeepCopy()); err != nil {
					return err
				}
			}
			return nil
		})
		fmt.Printf("SERVED %s: changed by %s\n", s.helm.Name(), turned.name)
		maps.Copy(objects, after)
		return objects
	}
	fmt.Printf("SERVED %s: no boolean changes it\n", s.helm.Name())
	return objects
}

// readiness says what a resource says of itself.
func readiness(resource *unstructured.Unstructured) string {
	conditions, _, _ := unstructured.NestedSlice(resource.Object, "status", "conditions")
	for _, each := range conditions {
		condition, _ := each.(map[string]any)
		if condition["type"] != v1.ConditionReady {
			continue
		}
		if condition["status"] == "True" {
			return "Ready " + fmt.Sprint(condition["reason"])
		}
		return fmt.Sprintf("not Ready %v: %v", condition["reason"], condition["message"])
	}
	return "without a condition"
}

// install creates what the chart takes from others: definitions of kinds, and the Secrets that pods name, with their
// keys: those that the values name, and those that hooks and controllers of the chart would make.
func (s *subject) install(t *testing.T, objects map[key]helmObject) {
	t.Helper()
	known := map[schema.GroupKind]bool{}
	for _, file := range s.helm.CRDObjects() {
		for _, text := range strings.Split(string(file.File.Data), "\n---") {
			crd := &apiextensionsv1.CustomResourceDefinition{}
			if yaml.Unmarshal([]byte(text), crd) == nil && crd.Kind == "CustomResourceDefinition" {
				known[schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}] = true
				cluster.Install(t, crd)
			}
		}
	}
	secrets := map[string]map[string]string{"credentials": {}}
	for k, object := range objects {
		kind := object.GroupVersionKind()
		if !scheme.Scheme.Recognizes(kind) && !known[k.GroupKind] && kind.Group != "apiregistration.k8s.io" {
			known[k.GroupKind] = true
			plural, _ := meta.UnsafeGuessKindToResource(kind)
			cluster.Install(t, harness.AnyCRD(kind, plural.Resource))
		}
		keysOf(object.Object, secrets)
	}
	for k := range objects {
		if k.Kind == "Secret" {
			delete(secrets, k.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, StringData: secrets[name]}
		_ = cluster.Client.Delete(t.Context(), secret.DeepCopy())
		cluster.Create(t, secret)
	}
}

// keysOf adds the Secrets that variables and volumes name, with the keys that they name.
func keysOf(value any, into map[string]map[string]string) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			keysOf(item, into)
		}
	case map[string]any:
		for _, field := range []string{"secretKeyRef", "secretRef", "secret"} {
			from, _ := value[field].(map[string]any)
			name, _ := from["name"].(string)
			if secretName, is := from["secretName"].(string); is {
				name = secretName
			}
			if name == "" || from["optional"] == true {
				continue
			}
			if into[name] == nil {
				into[name] = map[string]string{}
			}
			if key, is := from["key"].(string); is {
				into[name][key] = "secret"
			}
			items, _ := from["items"].([]any)
			for _, item := range items {
				if item, isMap := item.(map[string]any); isMap {
					into[name][fmt.Sprint(item["key"])] = "secret"
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			keysOf(value[name], into)
		}
	}
}
