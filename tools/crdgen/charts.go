package main

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/chart/fields"
)

// served is an entry of watches.yaml.
type served struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
	Chart   string `json:"chart"`
	From    string `json:"from"`

	// declared is the chart's fields.yaml; nil if there is none.
	declared *fields.File
}

func (s *served) gvk() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: s.Group, Version: s.Version, Kind: s.Kind}
}

// of returns the index of the CRD of the kind; -1 if there is none.
func (s *served) of(crds []apiextensionsv1.CustomResourceDefinition) int {
	return slices.IndexFunc(crds, func(crd apiextensionsv1.CustomResourceDefinition) bool {
		return crd.Spec.Group == s.Group && crd.Spec.Names.Kind == s.Kind
	})
}

// writeCharts updates the generated files in the folders of the charts.
func writeCharts(root string, crds []apiextensionsv1.CustomResourceDefinition, list []*served) error {
	for _, chart := range list {
		at := chart.of(crds)
		if at < 0 {
			continue // a CRD that is written by hand, and so is its chart
		}
		dir := filepath.Join(root, chart.Chart)
		values, err := writeValues(dir, chart.declared)
		if err != nil {
			return err
		}
		spec := crds[at].Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		if err := writeValuesSchema(dir, &spec, values); err != nil {
			return err
		}
	}
	return nil
}

// charts reads watches.yaml, and the fields.yaml of each chart that it names. All mistakes in these files are reported at once.
func charts(root string) ([]*served, error) {
	text, err := os.ReadFile(filepath.Join(root, "watches.yaml"))
	if err != nil {
		return nil, err
	}
	var list []*served
	if err := yaml.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	var wrong []error
	for _, entry := range list {
		if entry.From != "" {
			continue // make kind wrote its CRD
		}
		name := path.Join(entry.Chart, fields.Name)
		text, err := os.ReadFile(filepath.Join(root, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			entry.declared, err = fields.For(entry.gvk(), name, text)
		}
		if err != nil {
			wrong = append(wrong, err)
		}
	}
	return list, errors.Join(wrong...)
}
