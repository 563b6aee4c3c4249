package postrender

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/kube"
)

const workloadOf = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {name: chart, instance: web}}
  template:
    metadata: {labels: {name: chart, instance: web, team: a}}
    spec:
      topologySpreadConstraints:
      - {topologyKey: zone, labelSelector: {matchLabels: {name: chart, instance: web}}}
      - {topologyKey: zone, labelSelector: {matchLabels: {other: pods}}}
`

func TestTheSelectorOfAWorkloadThatIsThereIsKept(t *testing.T) {
	parse := func(text string) *unstructured.Unstructured {
		object := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal([]byte(text), &object.Object))
		return object
	}
	cases := map[string]struct {
		object, want string
		kept         map[string]string
	}{
		"the workload itself": {object: workloadOf, kept: map[string]string{"app": "web"}, want: `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, team: a}}
    spec:
      topologySpreadConstraints:
      - {topologyKey: zone, labelSelector: {matchLabels: {app: web}}}
      - {topologyKey: zone, labelSelector: {matchLabels: {other: pods}}}
`},
		"a workload with the rendered selector": {object: workloadOf, kept: map[string]string{"name": "chart", "instance": "web"}, want: workloadOf},
		"a workload that is not there":          {object: workloadOf, want: workloadOf},
		"a Service of its pods": {
			object: `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {name: chart, instance: web, pod: "0"}}}`,
			kept:   map[string]string{"app": "web"},
			want:   `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web, pod: "0"}}}`,
		},
		"a Service of other pods": {
			object: `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {name: chart}}}`,
			kept:   map[string]string{"app": "web"},
			want:   `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {name: chart}}}`,
		},
		"a NetworkPolicy of its pods": {
			object: `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: web}, spec: {podSelector: {matchLabels: {name: chart, instance: web}}}}`,
			kept:   map[string]string{"app": "web"},
			want:   `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: web}, spec: {podSelector: {matchLabels: {app: web}}}}`,
		},
		"a ServiceMonitor, which selects Services": {
			object: `{apiVersion: monitoring.coreos.com/v1, kind: ServiceMonitor, metadata: {name: web}, spec: {selector: {matchLabels: {name: chart, instance: web}}}}`,
			kept:   map[string]string{"app": "web"},
			want:   `{apiVersion: monitoring.coreos.com/v1, kind: ServiceMonitor, metadata: {name: web}, spec: {selector: {matchLabels: {name: chart, instance: web}}}}`,
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			object, workload := parse(test.object), parse(workloadOf)
			objects := []*unstructured.Unstructured{object}
			if object.GetKind() != workload.GetKind() {
				objects = append(objects, workload)
			}
			in := &Input{Owner: &unstructured.Unstructured{}}
			if test.kept != nil {
				in.Facts.Selectors = map[kube.Key]map[string]string{{GroupKind: schema.GroupKind{Group: "apps", Kind: "Deployment"}, Name: "web"}: test.kept}
			}
			require.NoError(t, Selectors(t.Context(), in, objects))
			got, _ := yaml.Marshal(object.Object)
			want, _ := yaml.Marshal(parse(test.want).Object)
			if string(got) != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
