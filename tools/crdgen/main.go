// Command crdgen writes the CRD of the types in api/, as controller-gen crd does, but small enough for kubectl apply:
//
//	go run -C tools/crdgen . -root ../..
//
// The API embeds types of Kubernetes: containers, volumes, affinity, probes. With all that they bring, the CRD is 450
// KB and more, while kubectl apply keeps a copy of each object in an annotation, and annotations end at 256 KB. Most
// of that is the documentation of Kubernetes' own types, so only the descriptions of ours stay. The defaults of
// Kubernetes' types go too: they belong to the objects that the operator makes, not into every AppService.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// limit is the greatest size of a CRD as compact JSON, the form of kubectl's copy, in bytes. It is well below 256 KB.
const limit = 180 << 10

const folder = "config/crd/bases"

func main() {
	root := flag.String("root", ".", "the repository's root")
	flag.Parse()
	if err := run(*root); err != nil {
		fmt.Fprintln(os.Stderr, "crdgen:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	crds, err := generate(root, "./api/...")
	if err != nil {
		return err
	}
	list, err := charts(root)
	if err != nil {
		return err
	}
	if crds, err = complete(crds, list); err != nil {
		return err
	}
	for _, crd := range crds {
		path := filepath.Join(folder, fmt.Sprintf("%s_%s.yaml", crd.Spec.Group, crd.Spec.Names.Plural))
		content, size, err := encode(crd)
		if err != nil {
			return err
		}
		if err := check(size); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := os.WriteFile(filepath.Join(root, path), content, 0o644); err != nil {
			return err
		}
		fmt.Printf("%s: %d bytes as compact JSON\n", path, size)
	}
	return writeCharts(root, crds, list)
}

// encode returns the file of a CRD, in the form that controller-gen writes, and the size of its compact JSON.
func encode(crd apiextensionsv1.CustomResourceDefinition) (content []byte, size int, err error) {
	raw, err := json.Marshal(crd)
	if err != nil {
		return nil, 0, err
	}
	var object map[string]any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // a float64 would not keep every integer
	if err := decoder.Decode(&object); err != nil {
		return nil, 0, err
	}
	delete(object, "status")
	delete(object["metadata"].(map[string]any), "creationTimestamp")
	if raw, err = json.Marshal(object); err != nil {
		return nil, 0, err
	}
	content, err = yaml.Marshal(object)
	return append([]byte("---\n"), content...), len(raw), err
}

func check(size int) error {
	if size > limit {
		return fmt.Errorf("the CRD takes %d bytes as compact JSON, more than the %d allowed: kubectl apply would soon "+
			"refuse it", size, limit)
	}
	return nil
}
