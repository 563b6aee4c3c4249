package kube

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestWhoChangedASpec(t *testing.T) {
	entry := func(manager, at, subresource string, fields ...string) any {
		owned := map[string]any{}
		for _, field := range fields {
			owned[field] = map[string]any{}
		}
		return map[string]any{"manager": manager, "time": at, "subresource": subresource, "fieldsV1": owned}
	}
	cases := map[string]struct {
		entries []any
		want    string
		at      string
	}{
		"nobody says": {nil, "", "0001-01-01T00:00:00Z"},
		"the last of several": {[]any{
			entry("argocd", "2026-01-01T00:00:02Z", "", "f:spec"), entry("kubectl-edit", "2026-01-01T00:00:01Z", "", "f:spec"),
		}, "argocd", "2026-01-01T00:00:02Z"},
		"all of one second": {[]any{
			entry("argocd", "2026-01-01T00:00:01Z", "", "f:spec"), entry("kubectl-edit", "2026-01-01T00:00:01Z", "", "f:spec"),
		}, "argocd, kubectl-edit", "2026-01-01T00:00:01Z"},
		"neither labels nor the status count": {[]any{
			entry("argocd", "2026-01-01T00:00:01Z", "", "f:spec", "f:metadata"), entry("kubectl-label", "2026-01-01T00:00:02Z", "", "f:metadata"),
			entry("appservice-operator", "2026-01-01T00:00:03Z", "status", "f:status", "f:spec"),
		}, "argocd", "2026-01-01T00:00:01Z"},
		"a scale does": {[]any{
			entry("argocd", "2026-01-01T00:00:01Z", "", "f:spec"), entry("kubectl", "2026-01-01T00:00:02Z", "scale", "f:spec"),
		}, "kubectl, through scale", "2026-01-01T00:00:02Z"},
		"a scale leaves no time": {[]any{
			entry("kubectl", "", "scale", "f:spec"), entry("argocd", "2026-01-01T00:00:01Z", "", "f:spec"),
		}, "argocd; kubectl, through scale", "2026-01-01T00:00:01Z"},
		"what makes no sense is passed over": {[]any{"x", map[string]any{"manager": 7}, entry("me", "yesterday", "", "f:spec")}, "", "0001-01-01T00:00:00Z"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			resource := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "web", "managedFields": test.entries}, "spec": map[string]any{"a": "b"}}}
			compact, err := Compact(resource, 0)
			require.NoError(t, err)
			if compact.GetManagedFields() != nil {
				t.Errorf("the cache keeps %v", compact.GetManagedFields())
			}
			cached, _, err := Expand(compact)
			require.NoError(t, err)
			for what, resource := range map[string]*unstructured.Unstructured{"as read": resource, "as cached": cached} {
				if manager, at := ChangedBy(resource); manager != test.want || at.Format(time.RFC3339) != test.at {
					t.Errorf("%s: got %q at %s, want %q at %s", what, manager, at.Format(time.RFC3339), test.want, test.at)
				}
			}
		})
	}
}

func TestWhoWroteAnObjectBesidesTheOperator(t *testing.T) {
	at := func(second int) *metav1.Time { return new(metav1.Unix(int64(second), 0)) }
	object := Metadata(SecretKind)
	if got := OtherWriter(object, "spec.replicas"); got != "" {
		t.Errorf("got %q of an object without managed fields", got)
	}
	object.ManagedFields = []metav1.ManagedFieldsEntry{
		{Manager: "early", Time: at(1)}, {Manager: "late", Time: at(3)}, {Manager: FieldManager, Time: at(4)},
		{Manager: "kube-controller-manager", Subresource: "status", Time: at(5)}, {Manager: "timeless"},
		{Manager: "downscaler", Time: at(2), FieldsV1: metav1.NewFieldsV1(`{"f:spec": {"f:minReadySeconds": {}}}`)},
		{Manager: "autoscaler", Subresource: "scale", FieldsV1: metav1.NewFieldsV1(`{"f:spec": {"f:replicas": {}}}`)},
	}
	for field, want := range map[string]string{
		"spec.paused": "late", "spec.minReadySeconds": "downscaler", "spec.replicas": "autoscaler, through scale", "spec.replicas.x": "late", "": "late",
	} {
		if got := OtherWriter(object, field); got != want {
			t.Errorf("%s: got %q, want %q", field, got, want)
		}
	}
}
