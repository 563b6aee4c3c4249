//go:build cluster

package contract

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	appservice "github.com/example/appservice-operator"
	v1 "github.com/example/appservice-operator/api/v1"
	appchart "github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/engine/values"
	"github.com/example/appservice-operator/test/admission"
	"github.com/example/appservice-operator/test/specs"
	"github.com/example/appservice-operator/test/try"
)

// selector is that of the pods. A Deployment's selector is immutable, so it must never change.
var selector = map[string]any{"app.kubernetes.io/name": "appservice", "app.kubernetes.io/instance": "web"}

// foreignCRDs are the kinds of other projects that the chart renders.
var foreignCRDs = map[string]string{
	"gateway.networking.k8s.io/v1/GRPCRoute":   "gateway.networking.k8s.io_grpcroutes.yaml",
	"gateway.networking.k8s.io/v1/HTTPRoute":   "gateway.networking.k8s.io_httproutes.yaml",
	"gateway.networking.k8s.io/v1/ListenerSet": "gateway.networking.k8s.io_listenersets.yaml",
	"keda.sh/v1alpha1/ScaledObject":            "keda.sh_scaledobjects.yaml",
	"monitoring.coreos.com/v1/ServiceMonitor":  "monitoring.coreos.com_servicemonitors.yaml",
}

// errRefused says that the API server would not accept a spec.
var errRefused = errors.New("the CRD refuses what is tried")

// operator renders as the manager does, for a cluster that serves everything, and checks what goes in and what comes out.
type operator struct {
	watch        appchart.Watch
	capabilities *chartutil.Capabilities
	admission    *specs.Checker
	foreign      map[string]*specs.Checker
	policies     []*admission.Policy
}

func newOperator() *operator {
	text := try.Get(appservice.Files.ReadFile("watches.yaml"))
	list := try.Get(appchart.LoadWatches(text, appservice.Files))
	o := &operator{foreign: map[string]*specs.Checker{}}
	kind := v1.GroupVersion.WithKind(v1.Kind)
	for _, watch := range list {
		if watch.GroupVersionKind == kind {
			o.watch = watch
		}
	}
	if o.watch.Chart == nil {
		try.Fail("watches.yaml does not name %s", kind)
	}
	o.admission = try.Get(specs.NewChecker(crdFile))
	o.policies = admission.Policies()
	served := *chartutil.DefaultCapabilities
	served.KubeVersion = chartutil.KubeVersion{Version: "v1.37.0", Major: "1", Minor: "37"}
	served.APIVersions = nil
	for kind := range scheme.Scheme.AllKnownTypes() {
		served.APIVersions = append(served.APIVersions, kind.GroupVersion().String()+"/"+kind.Kind, kind.GroupVersion().String())
	}
	for kind, file := range foreignCRDs {
		o.foreign[kind] = try.Get(specs.NewChecker(filepath.Join(root, "test", "testdata", "fixtures", "crds", file)))
		served.APIVersions = append(served.APIVersions, kind, kind[:strings.LastIndex(kind, "/")])
	}
	o.capabilities = &served
	return o
}

// render renders a valid spec twice, with a chart that may have other default values.
func (o *operator) render(spec, defaults map[string]any) ([]*unstructured.Unstructured, error) {
	resource := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1.GroupVersion.String(), "kind": v1.Kind,
		"metadata": map[string]any{"name": "web", "namespace": "default", "uid": "7f1b2f3e-0000-4000-8000-000000000000"},
		"spec":     runtime.DeepCopyJSON(spec),
	}}
	if err := o.admission.Check(resource.Object); err != nil {
		return nil, fmt.Errorf("%w: %w", errRefused, err)
	}
	renderer := &render.Renderer{
		Chart:      withDefaults(o.watch.Chart, defaults),
		Translator: values.For(o.watch.GroupVersionKind, o.watch.Chart, o.watch.OverrideValues),
		Hooks:      postrender.Default(),
	}
	first, err := renderer.Render(context.Background(), resource, o.capabilities)
	if err != nil {
		return nil, err
	}
	second, err := renderer.Render(context.Background(), resource, o.capabilities)
	if err != nil {
		return nil, err
	}
	if first.Digest != second.Digest || !reflect.DeepEqual(first.Objects, second.Objects) {
		return nil, fmt.Errorf("rendering twice gives different objects: %s", strings.Join(difference(first.Objects, second.Objects), ", "))
	}
	if len(first.Unserved) > 0 {
		return nil, fmt.Errorf("%s is of a kind that no check here knows: add its CRD to foreignCRDs", first.Unserved[0])
	}
	for _, object := range first.Objects {
		if err := o.checkObject(object); err != nil {
			return nil, fmt.Errorf("%s: %w", kube.KeyOf(object), err)
		}
	}
	if defaults == nil {
		if err := unguarded(o.policies, v1.Kind, "web", spec, first.Objects); err != nil {
			return nil, err
		}
	}
	return first.Objects, nil
}

func withDefaults(c *chart.Chart, defaults map[string]any) *chart.Chart {
	if defaults == nil {
		return c
	}
	changed := *c
	changed.Values = defaults
	return &changed
}

// checkObject checks the kinds of other projects against their CRDs, as Canonical checks the built-in ones, and selectors.
func (o *operator) checkObject(object *unstructured.Unstructured) error {
	if foreign, found := o.foreign[object.GetAPIVersion()+"/"+object.GetKind()]; found {
		if err := foreign.Check(object.Object); err != nil {
			return err
		}
	}
	paths := map[string][]string{
		"Deployment":          {"spec", "selector", "matchLabels"},
		"Service":             {"spec", "selector"},
		"PodDisruptionBudget": {"spec", "selector", "matchLabels"},
		"NetworkPolicy":       {"spec", "podSelector", "matchLabels"},
		"ServiceMonitor":      {"spec", "selector", "matchLabels"},
	}
	path, found := paths[object.GetKind()]
	if !found {
		return nil
	}
	got, _, err := unstructured.NestedMap(object.Object, path...)
	if err == nil && !reflect.DeepEqual(got, selector) {
		err = fmt.Errorf("%s is %v, and must always be %v", strings.Join(path, "."), got, selector)
	}
	return err
}
