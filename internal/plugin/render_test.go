package plugin

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
)

// With the key of a checksum, guesses at the content could be tested.
func TestTheKeyOfAChecksumIsHidden(t *testing.T) {
	secret := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "data": map[string]any{"a": "eA=="},
		"metadata": map[string]any{"name": "web", "annotations": map[string]any{v1.AnnotationChecksumKey: "0123"}}}}
	shown := hideContent(secret)
	require.Equal(t, hidden, shown.GetAnnotations()[v1.AnnotationChecksumKey])
	require.Equal(t, "0123", secret.GetAnnotations()[v1.AnnotationChecksumKey])
}
