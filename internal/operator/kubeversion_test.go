package operator

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1 "github.com/example/appservice-operator/api/v1"
)

const later = "apiVersion: v2\nname: appservice\nversion: 1.0.0\nkubeVersion: \">=1.99.0-0\"\n"

func TestTheCheckComparesTheVersionOfKubernetes(t *testing.T) {
	options := byDefault()
	options.ChartDir = chartFiles(t, map[string]string{"helm-charts/appservice/Chart.yaml": later})
	for version, want := range map[string]string{
		"": "", "1.99": "", "v1.99.3": "", "1.36": `the chart of AppService cannot be used: Chart.yaml: kubeVersion ">=1.99.0-0" does not include the cluster's version 1.36: correct it, or upgrade the cluster`,
	} {
		options.KubeVersion = version
		_, err := CheckFiles(options, nil)
		if want == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, want)
		}
	}
}

// A chart for other versions of Kubernetes is refused until the cluster has one of them; a kind that has releases is
// warned of it.
func TestAChartForAnotherVersionOfKubernetes(t *testing.T) {
	for name, released := range map[string]bool{"a kind without releases": false, "a kind with a release": true} {
		t.Run(name, func(t *testing.T) {
			f := follow(t, "# one\n")
			version := "v1.36.3"
			var events []string
			f.charts.version = func(context.Context) string { return version }
			f.charts.event = func(_ schema.GroupVersionKind, reason, _ string) { events = append(events, reason) }
			resource := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{}}}
			resource.SetGroupVersionKind(v1.GroupVersion.WithKind(v1.Kind))
			resource.SetName("web")
			if released {
				require.NoError(t, unstructured.SetNestedField(resource.Object, int64(1), "status", "release", "revision"))
			}
			f.charts.live = fake.NewClientBuilder().WithObjects(resource).Build()
			first := f.current.Get()
			write(t, f.dir+"/helm-charts/appservice/Chart.yaml", later)
			f.load(t.Context())
			require.Equal(t, released, f.current.Get() != first)
			if released {
				require.Contains(t, events, v1.ReasonChartWarning)
				return
			}
			require.Contains(t, f.told, "does not include the cluster's version v1.36.3")
			require.Equal(t, []string{v1.ReasonChartRefused}, events)
			version = "v1.99.0"
			f.load(t.Context())
			require.NotEqual(t, first, f.current.Get())
		})
	}
}
