// Package checkchart reads the golden cases of the repository, and other resources, as the API server returns them.
package checkchart

import (
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/cli/lint"
	"github.com/example/appservice-operator/internal/render"
)

// folders are those of golden cases: those of AppService, and those of the other kinds, by chart.
var folders = []string{"test/testdata/cases/*", "test/testdata/kinds/*/*"}

// AllCases reads the golden cases of all kinds.
func AllCases(root string) ([]lint.Case, error) {
	var list []lint.Case
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(root, folder, "cr.yaml"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			resource, err := ReadResource(file)
			if err != nil {
				return nil, err
			}
			list = append(list, lint.Case{Name: filepath.Base(filepath.Dir(file)), Resource: resource})
		}
	}
	return list, nil
}

// ReadResource reads a resource from a file, as the API server returns it.
func ReadResource(file string) (*unstructured.Unstructured, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	resource := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSONStrict(text)
	if err == nil {
		err = utiljson.Unmarshal(data, &resource.Object) // whole numbers are int64, as clients read them
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	resource.SetNamespace("default")
	resource.SetUID(render.PlaceholderUID)
	return resource, nil
}
