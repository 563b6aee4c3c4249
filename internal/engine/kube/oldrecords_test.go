package kube

import (
	"maps"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/limits"
)

// Of each resource several records are known, and each would take four times what is read of it.
func TestOfAFormerRecordTheCacheKeepsWhichItIsAndWhose(t *testing.T) {
	labels := map[string]string{v1.LabelManaged: "true", v1.LabelDigest: "abc", "owner": "helm", "name": "web", "status": "superseded", "version": "3"}
	record := func(change func(*metav1.PartialObjectMetadata)) *metav1.PartialObjectMetadata {
		o := Metadata(SecretKind)
		o.Namespace, o.Name, o.UID, o.ResourceVersion = "demo", "sh.helm.release.v1.web.v3", "uid", "7"
		o.Labels, o.Annotations = maps.Clone(labels), map[string]string{"a": "b"}
		o.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1.GroupVersion.String(), Kind: v1.Kind, Name: "web", UID: "owner", Controller: new(true), BlockOwnerDeletion: new(true)}}
		change(o)
		return o
	}
	cases := map[string]struct {
		change    func(*metav1.PartialObjectMetadata)
		oldRecord bool
	}{
		"of an earlier release":     {func(*metav1.PartialObjectMetadata) {}, true},
		"of one that was ready":     {func(o *metav1.PartialObjectMetadata) { o.Labels[v1.LabelReady] = "true" }, true},
		"of what is deployed":       {func(o *metav1.PartialObjectMetadata) { o.Labels["status"] = "deployed" }, false},
		"a Secret of another owner": {func(o *metav1.PartialObjectMetadata) { o.Labels["owner"] = "me" }, false},
		"an object of another kind": {func(o *metav1.PartialObjectMetadata) {
			o.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"})
		}, false},
		"one that somebody deletes": {func(o *metav1.PartialObjectMetadata) { o.DeletionTimestamp = new(metav1.Now()) }, true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			whole := record(test.change)
			got, err := Transform(map[schema.GroupVersionKind]limits.Bound{v1.GroupVersion.WithKind(v1.Kind): 0})(record(test.change))
			require.NoError(t, err)
			kept := got.(*metav1.PartialObjectMetadata)
			if !test.oldRecord {
				if !maps.Equal(kept.Labels, whole.Labels) {
					t.Errorf("of the labels %v are left", kept.Labels)
				}
				return
			}
			whole.Annotations, whole.OwnerReferences[0].BlockOwnerDeletion = nil, nil
			whole.DeletionTimestamp = kept.DeletionTimestamp
			whole.Labels = map[string]string{v1.LabelManaged: "true", "owner": "helm", "status": "superseded"}
			if ready := record(test.change).Labels[v1.LabelReady]; ready != "" {
				whole.Labels[v1.LabelReady] = ready
			}
			if !reflect.DeepEqual(kept, whole) {
				t.Errorf("got  %+v\nwant %+v", kept, whole)
			}
		})
	}
}
