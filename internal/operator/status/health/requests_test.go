package health

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/kube"
)

func TestSharesOfNothing(t *testing.T) {
	const cpu = `{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}`
	const bare = `{containers: [{name: app}]}`
	cases := map[string]struct {
		metrics, pod string
		want         []string
	}{
		"a target of the request that is there": {cpu, `{containers: [{name: app, resources: {requests: {cpu: 1}}}]}`, nil},
		"a limit, which is a request":           {cpu, `{containers: [{name: app, resources: {limits: {cpu: 1}}}]}`, nil},
		"a request of another resource":         {cpu, `{containers: [{name: app, resources: {requests: {memory: 1Gi}}}]}`, []string{`container "app" has no cpu request, so a utilization target (percent of the request) cannot be computed`}},
		"a sidecar that requests nothing": {cpu, `{containers: [{name: app, resources: {requests: {cpu: 1}}}], initContainers: [{name: proxy, restartPolicy: Always}]}`,
			[]string{`container "proxy" has no cpu request, so a utilization target (percent of the request) cannot be computed`}},
		"an init container that requests nothing, and ends": {cpu, `{containers: [{name: app, resources: {requests: {cpu: 1}}}], initContainers: [{name: prepare}]}`, nil},
		"two containers that request nothing":               {cpu, `{containers: [{name: app}, {name: log}]}`, []string{`containers "app", "log" have no cpu request, so a utilization target (percent of the request) cannot be computed`}},
		"a request of the pod as a whole":                   {cpu, `{resources: {requests: {cpu: 1}}, containers: [{name: app}]}`, nil},
		"a target of one container":                         {`{type: ContainerResource, containerResource: {name: cpu, container: app, target: {type: Utilization, averageUtilization: 80}}}`, `{containers: [{name: app, resources: {requests: {cpu: 1}}}, {name: log}]}`, nil},
		"a target of one that requests nothing": {`{type: ContainerResource, containerResource: {name: cpu, container: log, target: {type: Utilization, averageUtilization: 80}}}`, `{containers: [{name: app, resources: {requests: {cpu: 1}}}, {name: log}]}`,
			[]string{`container "log" has no cpu request, so a utilization target (percent of the request) cannot be computed`}},
		"a target that is not a share": {`{type: Resource, resource: {name: cpu, target: {type: AverageValue, averageValue: 1}}}`, bare, nil},
		"a metric of the pods":         {`{type: Pods, pods: {metric: {name: a}, target: {type: AverageValue, averageValue: 1}}}`, bare, nil},
		"two targets": {cpu + `, {type: Resource, resource: {name: memory, target: {type: Utilization, averageUtilization: 80}}}`, bare,
			[]string{`container "app" has no cpu request, so a utilization target (percent of the request) cannot be computed`, `container "app" has no memory request, so a utilization target (percent of the request) cannot be computed`}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			a, deployment := &autoscalingv2.HorizontalPodAutoscaler{}, &appsv1.Deployment{}
			read(t, `{spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, metrics: [`+test.metrics+`]}}`, a)
			read(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: {spec: `+test.pod+`}}}`, deployment)
			var got []string
			for _, share := range sharesOfNothing(a, Facts{Live: map[kube.Key]client.Object{kube.KeyOf(deployment): deployment}}) {
				got = append(got, share.String())
			}
			assert.Equal(t, test.want, got)
			if shares := sharesOfNothing(a, Facts{}); shares != nil {
				t.Errorf("got %v of pods that are not known", shares)
			}
		})
	}
}

func read(t *testing.T, text string, into any) {
	t.Helper()
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), into))
}
