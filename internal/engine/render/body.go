package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/digest"
	"github.com/example/appservice-operator/internal/engine/postrender"
)

// Body is the JSON of an object as it is applied, made once for its digest, for requests and for the release record.
type Body struct {
	data     []byte
	metadata int // where the fields of metadata begin
}

// JSON returns the object. It must not be changed.
func (b Body) JSON() []byte { return b.data }

// With returns the object with more fields of metadata, such as the UID and the version of the object to write.
func (b Body) With(fields map[string]string) []byte {
	added, _ := json.Marshal(fields) // texts can be encoded
	data := make([]byte, 0, len(b.data)+len(added))
	data = append(data, b.data[:b.metadata]...)
	data = append(data, added[1:len(added)-1]...)
	data = append(data, ',')
	return append(data, b.data[b.metadata:]...)
}

// BodyOf encodes an object as it is.
func BodyOf(object *unstructured.Unstructured) (Body, error) {
	fields, err := encode(object)
	if err != nil {
		return Body{}, err
	}
	return join(fields), nil
}

// stamp annotates an object with the digest of its content, 32 hexadecimal characters of the SHA-256 of its JSON, and
// returns the JSON of the result.
func stamp(object *unstructured.Unstructured) (Body, error) {
	fields, err := encode(object)
	if err != nil {
		return Body{}, err
	}
	if err := unstructured.SetNestedField(object.Object, digest.Of(join(fields).data)[:32], "metadata", "annotations",
		postrender.AnnotationStamp); err != nil {
		return Body{}, cannotEncode(object, err)
	}
	if fields["metadata"], err = json.Marshal(object.Object["metadata"]); err != nil {
		return Body{}, cannotEncode(object, err)
	}
	return join(fields), nil
}

// encode encodes the fields of an object one by one: metadata is encoded again when it is stamped, the rest is not.
func encode(object *unstructured.Unstructured) (map[string][]byte, error) {
	fields := make(map[string][]byte, len(object.Object))
	for name, value := range object.Object {
		data, err := json.Marshal(value)
		if err != nil {
			return nil, cannotEncode(object, err)
		}
		fields[name] = data
	}
	return fields, nil
}

// join returns what json.Marshal returns for an object with these fields.
func join(fields map[string][]byte) Body {
	size, metadata := len("}"), 0
	for name, data := range fields {
		size += len(name) + len(data) + len(`,"":`)
	}
	out := bytes.NewBuffer(make([]byte, 0, size))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		out.WriteByte(',')
		quoted, _ := json.Marshal(name) // texts can be encoded
		out.Write(quoted)
		out.WriteByte(':')
		if name == "metadata" {
			metadata = out.Len() + len("{")
		}
		out.Write(fields[name])
	}
	out.WriteByte('}')
	data := out.Bytes()
	data[0] = '{'
	return Body{data, metadata}
}

func cannotEncode(object *unstructured.Unstructured, err error) error {
	return fmt.Errorf("%s %q cannot be encoded: %w", object.GetKind(), object.GetName(), err)
}
