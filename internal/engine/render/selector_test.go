package render

import (
	"maps"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/stage"
)

// TestSelectorsNeverChange compares with literal values on purpose: a Deployment's selector is immutable, so a change
// would break the upgrade of every AppService there is. Besides the selector labels, pods carry those that the spec names
// and no others: a label that changes with the chart would restart them all.
func TestSelectorsNeverChange(t *testing.T) {
	paths := map[string][][]string{
		"Deployment":          {{"spec", "selector", "matchLabels"}},
		"Service":             {{"spec", "selector"}},
		"PodDisruptionBudget": {{"spec", "selector", "matchLabels"}},
		"NetworkPolicy":       {{"spec", "podSelector", "matchLabels"}},
		"ServiceMonitor":      {{"spec", "selector", "matchLabels"}},
	}
	renderer := shipped(t)
	for _, name := range caseNames(t) {
		t.Run(name, func(t *testing.T) {
			resource := golden(t, name)
			want := map[string]string{"app.kubernetes.io/name": "appservice", "app.kubernetes.io/instance": resource.GetName()}
			for _, object := range rendered(t, renderer, resource).Objects {
				if stage.Of(object) == stage.Before {
					continue // it is about the pods of the release task
				}
				for _, path := range paths[object.GetKind()] {
					got, _, err := unstructured.NestedStringMap(object.Object, path...)
					delete(got, v1.LabelService) // by which a monitor finds one of several Services
					if err != nil || !reflect.DeepEqual(got, want) {
						t.Errorf("%s %v: got %v (%v), want %v", kube.KeyOf(object), path, got, err, want)
					}
				}
				if object.GetKind() != "Deployment" {
					continue
				}
				labels := map[string]string{}
				for _, field := range [][]string{{"commonLabels"}, {"podLabels"}, {"podTemplate", "metadata", "labels"}} {
					further, _, _ := unstructured.NestedStringMap(resource.Object, append([]string{"spec"}, field...)...)
					maps.Copy(labels, further)
				}
				maps.Copy(labels, want)
				got, _, err := unstructured.NestedStringMap(object.Object, "spec", "template", "metadata", "labels")
				if err != nil || !reflect.DeepEqual(got, labels) {
					t.Errorf("%s: the pods have labels %v (%v), want %v", kube.KeyOf(object), got, err, labels)
				}
			}
		})
	}
}

func TestASelectorHasNothingButLabels(t *testing.T) {
	deployment := find(t, rendered(t, shipped(t), golden(t, "every-field")), "Deployment", "web")
	selector, _, err := unstructured.NestedMap(deployment.Object, "spec", "selector")
	if err != nil || len(selector) != 1 || selector["matchLabels"] == nil {
		t.Errorf("got %v (%v), want matchLabels alone", selector, err)
	}
}

// Names that YAML would take for something else stay names.
func TestNamesThatLookLikeSomethingElse(t *testing.T) {
	renderer := shipped(t)
	for _, name := range []string{"yes", "no", "on", "off", "y", "n", "true", "false", "null", "nan", "inf", "e1", "a", "x0"} {
		t.Run(name, func(t *testing.T) {
			resource := everything(t)
			resource.SetName(name)
			unstructured.RemoveNestedField(resource.Object, "spec", "service", "name")
			result := rendered(t, renderer, resource)
			for _, kind := range []string{"Deployment", "Service", "Ingress", "PodDisruptionBudget"} {
				if got := find(t, result, kind, name).GetLabels()["app.kubernetes.io/instance"]; got != name {
					t.Errorf("%s: label app.kubernetes.io/instance is %q", kind, got)
				}
			}
			for _, kind := range []string{"ConfigMap", "Secret"} {
				find(t, result, kind, name+"-config")
			}
		})
	}
}
