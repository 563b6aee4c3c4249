package postrender

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
)

// AnnotationStamp is the annotation that holds the digest of an object as it was rendered. A live object with another
// stamp was last applied in another version, also where a crash hides which.
const AnnotationStamp = v1.AnnotationStamp

// Stamp annotates each object with the digest of its content: 32 hexadecimal characters of the SHA-256 of its JSON.
func Stamp(_ context.Context, _ *Input, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		data, err := json.Marshal(object.Object)
		if err != nil {
			return fmt.Errorf("%s %q cannot be encoded: %w", object.GetKind(), object.GetName(), err)
		}
		sum := sha256.Sum256(data)
		object.SetAnnotations(mergeInto(object.GetAnnotations(), map[string]string{AnnotationStamp: hex.EncodeToString(sum[:])[:32]}))
	}
	return nil
}
