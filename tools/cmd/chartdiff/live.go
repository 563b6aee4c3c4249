package main

import (
	"context"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	"github.com/example/appservice-operator/internal/compare"
	"github.com/example/appservice-operator/internal/live"
)

// inCluster finds all resources in the current cluster. It reads only.
func inCluster(ctx context.Context, stderr io.Writer, before, after *compare.Charts) (*findings, error) {
	settings, err := config.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("cannot find a cluster: set KUBECONFIG: %w", err)
	}
	reader, err := client.New(settings, client.Options{})
	if err != nil {
		return nil, fmt.Errorf("cannot read the cluster: %w", err)
	}
	cluster, err := live.Open(ctx, reader, settings, func(text string) { _, _ = fmt.Fprintln(stderr, text) })
	if err != nil {
		return nil, err
	}
	found := &findings{subjects: map[schema.GroupVersionKind][]compare.Subject{}, capabilities: cluster.Capabilities}
	for _, kind := range compare.Kinds(before, after) {
		serves := after
		if after.Renderers[kind] == nil {
			serves = before
		}
		if found.subjects[kind], err = cluster.Subjects(ctx, kind, "", serves.Selectors[kind]); err != nil {
			return nil, err
		}
		for _, side := range []*compare.Charts{before, after} {
			if renderer := side.Renderers[kind]; renderer != nil {
				cluster.Scope(renderer)
			}
		}
	}
	return found, nil
}
