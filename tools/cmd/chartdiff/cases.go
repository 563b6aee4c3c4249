package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/postrender"
)

// subject is a resource that is rendered twice.
type subject struct {
	name     string // for people
	resource *unstructured.Unstructured
	facts    postrender.Facts
}

// findings are the resources to compare, and the cluster that they are rendered for.
type findings struct {
	subjects     map[schema.GroupVersionKind][]subject
	capabilities *chartutil.Capabilities
}

// optional are the kinds that charts render only where they are served.
var optional = []string{"gateway.networking.k8s.io/v1/HTTPRoute", "monitoring.coreos.com/v1/ServiceMonitor"}

// folders have a golden case each: those of AppService, and those of the other kinds, by chart.
var folders = []string{"test/testdata/cases/*", "test/testdata/kinds/*/*"}

// cases finds the golden cases.
func cases(root string) (*findings, error) {
	var files []string
	for _, folder := range folders {
		list, err := filepath.Glob(filepath.Join(root, folder, "cr.yaml"))
		if err != nil {
			return nil, err
		}
		files = append(files, list...)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there are no golden cases in %s", root)
	}
	found := &findings{subjects: map[schema.GroupVersionKind][]subject{}, capabilities: chartutil.DefaultCapabilities.Copy()}
	found.capabilities.APIVersions = slices.Concat(found.capabilities.APIVersions, optional)
	for _, file := range files {
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
		resource.SetUID("00000000-0000-4000-8000-000000000000")
		kind := resource.GroupVersionKind()
		found.subjects[kind] = append(found.subjects[kind], subject{name: filepath.Base(filepath.Dir(file)), resource: resource})
	}
	return found, nil
}
