package main

import (
	"fmt"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example/appservice-operator/internal/compare"
	"github.com/example/appservice-operator/tools/checkchart"
)

// findings are the resources to compare, and the cluster that they are rendered for.
type findings struct {
	subjects map[schema.GroupVersionKind][]compare.Subject
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
	found := &findings{subjects: map[schema.GroupVersionKind][]compare.Subject{}}
	for _, one := range all {
		kind := one.Resource.GroupVersionKind()
		found.subjects[kind] = append(found.subjects[kind], compare.Subject{Name: one.Name, Resource: one.Resource})
	}
	return found, nil
}
