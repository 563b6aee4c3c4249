package main

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/fields"
)

// served is an entry of watches.yaml.
type served struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
	Chart   string `json:"chart"`

	// declared is what the chart's fields.yaml says; nil if there is none.
	declared *fields.File
}

func (s *served) gvk() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: s.Group, Version: s.Version, Kind: s.Kind}
}

// charts reads watches.yaml, and the fields.yaml of each chart that it names. All mistakes in these files come at once.
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
