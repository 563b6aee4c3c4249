package read

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

// FromManifest reads the objects of a rendered manifest. Those without a namespace get one, and repeated ones count
// once.
// The error for a Compose or a Score file says how to convert it.
func FromManifest(text []byte, namespace string) ([]*unstructured.Unstructured, error) {
	documents, err := split(text)
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	for n, document := range documents {
		object := &unstructured.Unstructured{}
		err := sigsyaml.Unmarshal(document, &object.Object, func(d *json.Decoder) *json.Decoder {
			d.UseNumber()
			return d
		})
		if err == nil { // whole numbers are int64, as the API machinery reads them
			err = utiljson.ConvertMapNumbers(object.Object, 0)
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", n+1, err)
		}
		switch {
		case len(object.Object) == 0:
		case object.GetKind() == "" && strings.HasPrefix(object.GetAPIVersion(), "score.dev/"):
			return nil, errors.New("it is a Score file, not a manifest: convert it by " +
				"score-k8s init; score-k8s generate score.yaml --output - | kubectl appservice import -f -")
		case object.GetKind() == "" && object.GetAPIVersion() == "" && object.Object["services"] != nil:
			return nil, errors.New("it is a Compose file, not a manifest: convert it by " +
				"kompose convert --stdout -f compose.yaml | kubectl appservice import -f -")
		case object.GetKind() == "" || object.GetAPIVersion() == "":
			return nil, fmt.Errorf("document %d: apiVersion and kind are missing: an object of a cluster has both", n+1)
		case object.IsList():
			list, err := object.ToList()
			if err != nil {
				return nil, fmt.Errorf("document %d: %w", n+1, err)
			}
			for m := range list.Items {
				if list.Items[m].GetKind() == "" || list.Items[m].GetAPIVersion() == "" {
					return nil, fmt.Errorf("document %d, item %d: apiVersion and kind are missing: an object of a cluster has both",
						n+1, m+1)
				}
				objects = withOne(objects, inNamespace(&list.Items[m], namespace))
			}
		default:
			objects = withOne(objects, inNamespace(object, namespace))
		}
	}
	return objects, nil
}

// withOne adds an object, unless the same one is there.
func withOne(list []*unstructured.Unstructured, object *unstructured.Unstructured) []*unstructured.Unstructured {
	if slices.ContainsFunc(list, func(o *unstructured.Unstructured) bool {
		return Describe(o) == Describe(object) && reflect.DeepEqual(o, object)
	}) {
		return list
	}
	return append(list, object)
}

func inNamespace(object *unstructured.Unstructured, namespace string) *unstructured.Unstructured {
	if object.GetNamespace() == "" && namespace != "" {
		object.SetNamespace(namespace)
	}
	return modern(object)
}

// split returns the documents of a file of YAML.
func split(text []byte) ([][]byte, error) {
	reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	var list [][]byte
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		list = append(list, document)
	}
}
