package main

import (
	"context"
	"fmt"
	"io"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	"github.com/example/appservice-operator/internal/cli/preview"
	"github.com/example/appservice-operator/tools/checkchart"
)

// findings are the resources to compare, and the cluster that they are rendered for.
type findings struct {
	subjects map[schema.GroupVersionKind][]preview.Subject
	// capabilities are nil for a cluster that serves whatever the charts name.
	capabilities *chartutil.Capabilities
}

// cases finds the golden cases.
func cases(root string) (*findings, error) {
	all, err := checkchart.AllCases(root)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there are no golden cases in %s", root)
	}
	found := &findings{subjects: map[schema.GroupVersionKind][]preview.Subject{}}
	for _, one := range all {
		kind := one.Resource.GroupVersionKind()
		found.subjects[kind] = append(found.subjects[kind], preview.Subject{Name: one.Name, Resource: one.Resource})
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
