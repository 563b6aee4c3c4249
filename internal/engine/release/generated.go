package release

import (
	"encoding/base64"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube/generate"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
)

// generatedManager owns the values that the operator makes for a Secret, and the annotations that note them. The
// operator's field manager must not: it would remove what is not rendered. A Secret is created with its values, which
// then change hands; the note shows that they have.
const generatedManager = FieldManager + "-generated"

// GeneratedVersion returns the version of the values of a live Secret, or that which a Secret gets that is nil or not
// noted yet, while a record is the newest.
func GeneratedVersion(live client.Object, newest *livestate.Record) string {
	if live != nil {
		if version := generate.NoteOf(live).Version; version != "" {
			return version
		}
	}
	if newest == nil {
		return generate.FirstVersion(0)
	}
	return generate.FirstVersion(newest.Revision)
}

// encoded returns the entries of a Secret as in JSON.
func encoded(data map[string][]byte) map[string]any {
	out := make(map[string]any, len(data))
	for key, value := range data {
		out[key] = base64.StdEncoding.EncodeToString(value)
	}
	return out
}

// decoded returns the entries of a Secret.
func decoded(content map[string]any) (map[string][]byte, error) {
	entries, _, err := unstructured.NestedStringMap(content, "data")
	if err != nil {
		return nil, err
	}
	out := make(map[string][]byte, len(entries))
	for key, text := range entries {
		value, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, fmt.Errorf("data.%s is not in base 64", key)
		}
		out[key] = value
	}
	return out, nil
}
