package model

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// returning is a Deployment whose release may fail: then the last one that was Ready runs again.
var returning = &shape{
	kind:  appService,
	chart: chartOf("returning", scaledTemplate),
	specs: []map[string]any{
		{"image": "one", "size": int64(1), "onFailure": map[string]any{"action": "Return"}},
		{"image": "two", "size": int64(2), "onFailure": map[string]any{"action": "Return"}},
		{"image": broken, "size": int64(1), "onFailure": map[string]any{"action": "Return"}},
	},
	renders:  []schema.GroupVersionKind{deployment},
	changes:  workloadChanges(keyDeployment),
	writes:   3,
	allowed:  triesOnce,
	goesBack: hasReturned,
}

// triesOnce returns an error if the operator applies what failed already, as the newest record says, with nothing else asked for.
func triesOnce(w *world, key kube.Key, before *unstructured.Unstructured) error {
	now := w.server.objects[key]
	if now == nil || before == nil || imageOf(now) != broken || imageOf(before) == broken {
		return nil
	}
	tried := fmt.Sprintf("%d.", w.resource().GetGeneration())
	if newest := w.newestRecord(); newest != nil && strings.HasPrefix(newest.GetLabels()[v1.LabelReturnedFrom], tried) {
		return fmt.Errorf("it applies again what failed, and %s says so", newest.GetName())
	}
	return nil
}

// newestRecord returns the newest release record; nil if there is none.
func (w *world) newestRecord() (newest *unstructured.Unstructured) {
	for _, key := range sorted(w.server.objects) {
		if isRecord(key) {
			newest = w.server.objects[key]
		}
	}
	return newest
}

// hasReturned reports whether the spec requests a release that fails, and returns an error unless an earlier release runs then, if one that was Ready is
// recorded, and the status says so.
func hasReturned(w *world) (bool, error) {
	image, _, _ := unstructured.NestedString(w.resource().Object, "spec", "image")
	live := w.server.objects[keyDeployment]
	if image != broken || live == nil {
		return false, nil
	}
	back, reason := imageOf(live) != broken, v1.ReasonRolloutStalled
	if back {
		reason = v1.ReasonReturnedToRelease
	}
	newest := w.newestRecord()
	for _, key := range sorted(w.server.objects) {
		record := w.server.objects[key]
		if isRecord(key) && newest != nil && record.GetLabels()["version"] == newest.GetLabels()[v1.LabelLastReady] && !back {
			return true, fmt.Errorf("%s was Ready, and what failed is kept", key.Name)
		}
	}
	return true, w.expect(conditionOf(w.resource(), v1.ConditionReady), reason)
}
