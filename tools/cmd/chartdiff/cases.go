package main

import (
	"fmt"
	"slices"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example/appservice-operator/internal/postrender"
	"github.com/example/appservice-operator/tools/checkchart"
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
var optional = []string{"gateway.networking.k8s.io/v1/HTTPRoute", "keda.sh/v1alpha1/ScaledObject", "monitoring.coreos.com/v1/ServiceMonitor"}

// cases finds the golden cases.
func cases(root string) (*findings, error) {
	all, err := checkchart.AllCases(root)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there are no golden cases in %s", root)
	}
	found := &findings{subjects: map[schema.GroupVersionKind][]subject{}, capabilities: chartutil.DefaultCapabilities.Copy()}
	found.capabilities.APIVersions = slices.Concat(found.capabilities.APIVersions, optional)
	for _, one := range all {
		kind := one.Resource.GroupVersionKind()
		found.subjects[kind] = append(found.subjects[kind], subject{name: one.Name, resource: one.Resource})
	}
	return found, nil
}
