// Command newfield prints what the AppService in a file becomes, rendered as the operator renders it.
package main

import (
	"context"
	"fmt"
	"os"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	appservice "github.com/example/appservice-operator"
	"github.com/example/appservice-operator/internal/postrender"
	"github.com/example/appservice-operator/internal/render"
	"github.com/example/appservice-operator/internal/values"
	"github.com/example/appservice-operator/internal/watches"
)

func main() {
	manifest, err := run(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(manifest)
}

func run(file string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	resource := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(data, &resource.Object); err != nil {
		return "", err
	}
	text, err := appservice.Files.ReadFile("watches.yaml")
	if err != nil {
		return "", err
	}
	list, err := watches.Load(text, appservice.Files)
	if err != nil {
		return "", err
	}
	capabilities := *chartutil.DefaultCapabilities
	capabilities.KubeVersion = chartutil.KubeVersion{Version: "v1.37.0", Major: "1", Minor: "37"}
	capabilities.APIVersions = chartutil.VersionSet{"apps/v1", "apps/v1/Deployment"}
	for _, watch := range list {
		if watch.GroupVersionKind == resource.GroupVersionKind() {
			renderer := &render.Renderer{
				Chart:      watch.Chart,
				Translator: values.For(watch.GroupVersionKind, watch.Chart, watch.OverrideValues),
				Hooks:      postrender.Default(),
			}
			result, err := renderer.Render(context.Background(), resource, &capabilities)
			if err != nil {
				return "", err
			}
			return result.Manifest(), nil
		}
	}
	return "", fmt.Errorf("watches.yaml does not name %s", resource.GroupVersionKind())
}
