package watch

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
)

func TestFieldsOfKindsFollowTheCluster(t *testing.T) {
	const part = `{"components":{"schemas":{"Part":{"x-kubernetes-group-version-kind":[{"kind":"Part"}],"properties":{"apiVersion":{},"kind":{},"spec":{"properties":{"a":{}PLUS}}}}}}}`
	old, grown := strings.Replace(part, "PLUS", "", 1), strings.Replace(part, "PLUS", `,"b":{}`, 1)
	cluster := &served{version: "v1.36.0", descriptions: map[string]string{"apis/example.com/v1": old}}
	clock := clocktesting.NewFakePassiveClock(start)
	d := &Discovered{Discovery: cluster, Clock: clock, Version: func(context.Context, schema.GroupVersionKind) string { return "v1.4.1" }}
	object := func(apiVersion, kind string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "spec": map[string]any{"a": "1", "b": "2"}}}
	}
	check := func(what string, of *unstructured.Unstructured, want string, reads int) {
		t.Helper()
		path, version := d.UnknownField(t.Context(), of)
		assert.Equal(t, want, path, what)
		assert.Equal(t, want != "", version == "v1.4.1", what)
		assert.Equal(t, reads, cluster.read, "%s: descriptions read", what)
	}
	check("a field more", object("example.com/v1", "Part"), "spec.b", 1)
	check("the same again", object("example.com/v1", "Part"), "spec.b", 1)
	check("a kind that is not described", object("example.com/v1", "Other"), "", 1)
	check("a group that is not described", object("example.org/v1", "Part"), "", 1)
	check("a built-in kind", object("v1", "Service"), "", 1)

	cluster.descriptions["apis/example.com/v1"] = grown
	check("a moment later", object("example.com/v1", "Part"), "spec.b", 1)
	clock.SetTime(start.Add(2 * unsettledAge))
	check("the cluster was upgraded, and no event said so", object("example.com/v1", "Part"), "", 2)

	_, before, _ := d.Get(t.Context())
	cluster.descriptions["apis/example.com/v1"] = old
	clock.SetTime(start.Add(time.Minute))
	d.Invalidate()
	_, after, _ := d.Get(t.Context())
	assert.Greater(t, after, before, "what is rendered is rendered again")
	check("the cluster was changed back", object("example.com/v1", "Part"), "spec.b", 3)
	_, again, _ := d.Get(t.Context())
	assert.Equal(t, after, again)

	cluster.behind = map[string]string{"apis/example.com/v1": grown} // the address of the next one leads to this one
	clock.SetTime(start.Add(2 * time.Minute))
	check("the list is not that of what is described", object("example.com/v1", "Part"), "spec.b", 4)
	cluster.behind, cluster.descriptions["apis/example.com/v1"] = nil, grown
	clock.SetTime(start.Add(3 * time.Minute))
	check("what the address was of is described", object("example.com/v1", "Part"), "", 5)
}

func TestTheVersionOfAnAPIIsInItsCRD(t *testing.T) {
	crd := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
		"gateway.networking.k8s.io/bundle-version": "v1.4.1", "gateway.networking.k8s.io/channel": "standard"}}}
	stripped, err := StripCRD(crd)
	assert.NoError(t, err)
	assert.Equal(t, "v1.4.1", BundleVersion(stripped.(*metav1.PartialObjectMetadata)))
	assert.Len(t, stripped.(*metav1.PartialObjectMetadata).Annotations, 1)
	assert.Empty(t, BundleVersion(&metav1.PartialObjectMetadata{}))
}
