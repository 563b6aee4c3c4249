package kube

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/example/appservice-operator/api/v1"
)

func TestTheVersionOfAKindDoesNotMatter(t *testing.T) {
	for kind, want := range map[schema.GroupVersionKind]bool{
		v1.GroupVersion.WithKind(v1.Kind):                             true,
		{Group: v1.GroupVersion.Group, Version: "v9", Kind: v1.Kind}:  true,
		{Group: v1.GroupVersion.Group, Version: "v1", Kind: "AppJob"}: false,
		{Group: "other.example.com", Version: "v1", Kind: v1.Kind}:    false,
	} {
		require.Equal(t, want, IsAppService(kind), kind)
	}
}
