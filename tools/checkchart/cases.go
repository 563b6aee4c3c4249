// Package checkchart has the golden cases of the repository, by which "make check-chart" checks the charts here with internal/cli/lint.
package checkchart

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/cli/lint"
	"github.com/example/appservice-operator/internal/render"
)

// folders are those of golden cases: those of AppService, and those of the other kinds, by chart.
var folders = []string{"test/testdata/cases/*", "test/testdata/kinds/*/*"}

// Cases reads the golden cases of a kind.
func Cases(root string, kind schema.GroupVersionKind) ([]lint.Case, error) {
	all, err := AllCases(root)
	return slices.DeleteFunc(all, func(c lint.Case) bool { return c.Resource.GroupVersionKind() != kind }), err
}

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
