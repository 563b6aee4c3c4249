package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/plugin/preview"
)

// findings are the resources to compare, and the cluster that they are rendered for.
type findings struct {
	subjects map[schema.GroupVersionKind][]preview.Subject
	// capabilities are nil for a cluster that serves whatever the charts name.
	capabilities *chartutil.Capabilities
}

// cases finds the golden cases: those of AppService, and those of the other kinds, by chart.
func cases(root string) (*findings, error) {
	found := &findings{subjects: map[schema.GroupVersionKind][]preview.Subject{}}
	for _, pattern := range []string{"test/testdata/cases/*/cr.yaml", "test/testdata/kinds/*/*/cr.yaml"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			resource := &unstructured.Unstructured{}
			if text, err = yaml.YAMLToJSONStrict(text); err == nil {
				err = resource.UnmarshalJSON(text)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			resource.SetNamespace("default")
			resource.SetUID(render.PlaceholderUID)
			kind := resource.GroupVersionKind()
			found.subjects[kind] = append(found.subjects[kind], preview.Subject{Name: filepath.Base(filepath.Dir(file)), Resource: resource})
		}
	}
	if len(found.subjects) == 0 {
		return nil, fmt.Errorf("there are no golden cases in %s", root)
	}
	return found, nil
}

// inCluster finds all resources in the current cluster. It reads only.
func inCluster(ctx context.Context, stderr io.Writer, before, after *preview.Charts) (*findings, error) {
	settings, err := config.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("cannot find a cluster: set KUBECONFIG: %w", err)
	}
	reader, err := client.New(settings, client.Options{})
	if err != nil {
		return nil, fmt.Errorf("cannot read the cluster: %w", err)
	}
	cluster, err := preview.Open(ctx, reader, settings, func(text string) { _, _ = fmt.Fprintln(stderr, text) })
	if err != nil {
		return nil, err
	}
	found := &findings{subjects: map[schema.GroupVersionKind][]preview.Subject{}, capabilities: cluster.Capabilities}
	for _, kind := range preview.Kinds(before, after) {
		if found.subjects[kind], err = cluster.Subjects(ctx, kind, before, after); err != nil {
			return nil, err
		}
	}
	return found, nil
}
