package defaults

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/chart/fields"
)

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	out := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &out))
	return out
}

// say is what a status says of what was applied.
func say(applied []v1.DefaultsStatus) string {
	var out []string
	for _, one := range applied {
		out = append(out, one.Source+": "+strings.Join(one.Fields, " "))
	}
	return strings.Join(out, ", ")
}

func TestUnder(t *testing.T) {
	cases := map[string]struct {
		spec, namespace, platform string
		want, applied             string
	}{
		"nothing": {spec: `{image: a}`, want: `{image: a}`},
		"what the spec leaves out": {
			spec: `{image: a}`, platform: `{priorityClassName: low}`,
			want: `{image: a, priorityClassName: low}`, applied: "platform: priorityClassName",
		},
		"the spec wins": {spec: `{priorityClassName: high}`, namespace: `{priorityClassName: low}`, want: `{priorityClassName: high}`},
		"the namespace wins over the platform": {
			spec: `{}`, namespace: `{priorityClassName: mid}`, platform: `{priorityClassName: low}`,
			want: `{priorityClassName: mid}`, applied: "namespace: priorityClassName",
		},
		"maps merge": {
			spec: `{resources: {limits: {memory: 1Gi}}}`, namespace: `{resources: {limits: {cpu: 1, memory: 2Gi}}}`, platform: `{resources: {requests: {cpu: 100m}}}`,
			want:    `{resources: {limits: {memory: 1Gi, cpu: 1}, requests: {cpu: 100m}}}`,
			applied: "namespace: resources.limits.cpu, platform: resources.requests",
		},
		"a map that both layers fill": {
			spec: `{}`, namespace: `{nodeSelector: {zone: a}}`, platform: `{nodeSelector: {pool: web, zone: b}}`,
			want: `{nodeSelector: {zone: a, pool: web}}`, applied: "namespace: nodeSelector, platform: nodeSelector",
		},
		"lists do not merge":      {spec: `{envs: [{name: A}]}`, platform: `{envs: [{name: B}]}`, want: `{envs: [{name: A}]}`},
		"nor are they filled":     {spec: `{tolerations: []}`, platform: `{tolerations: [{operator: Exists}]}`, want: `{tolerations: []}`},
		"no map for something":    {spec: `{strategy: x}`, platform: `{strategy: {type: Recreate}}`, want: `{strategy: x}`},
		"part of an object alone": {spec: `{}`, platform: `{ingress: {className: nginx}}`, want: `{}`},
		"part of one that is there": {
			spec: `{ingress: {hosts: [{host: a}]}}`, platform: `{ingress: {className: nginx}}`,
			want: `{ingress: {hosts: [{host: a}], className: nginx}}`, applied: "platform: ingress.className",
		},
		"an object that both layers make whole": {
			spec: `{}`, namespace: `{persistence: {storageClassName: fast}}`, platform: `{persistence: {size: 1Gi, mountPath: /data}}`,
			want:    `{persistence: {size: 1Gi, mountPath: /data, storageClassName: fast}}`,
			applied: "namespace: persistence, platform: persistence",
		},
		"part of an object within one": {
			spec: `{config: {logLevel: info}}`, platform: `{config: {databaseUrlFrom: {}}}`, want: `{config: {logLevel: info}}`,
		},
		"another way to probe": {
			spec:     `{probes: {readiness: {tcpSocket: {}}}}`,
			platform: `{probes: {readiness: {httpGet: {path: /}, periodSeconds: 5}, liveness: {httpGet: {path: /}}}}`,
			want:     `{probes: {readiness: {tcpSocket: {}, periodSeconds: 5}, liveness: {httpGet: {path: /}}}}`,
			applied:  "platform: probes.liveness probes.readiness.periodSeconds",
		},
		"no probe": {
			spec: `{probes: {readiness: {none: true}}}`, platform: `{probes: {readiness: {periodSeconds: 5}}}`, want: `{probes: {readiness: {none: true}}}`,
		},
		"the other bound of a budget": {
			spec: `{podDisruptionBudget: {maxUnavailable: 1}}`, platform: `{podDisruptionBudget: {minAvailable: 1}}`,
			want: `{podDisruptionBudget: {maxUnavailable: 1}}`,
		},
		"another strategy": {
			spec: `{strategy: {type: Recreate}}`, platform: `{strategy: {rollingUpdate: {maxSurge: 1}}}`, want: `{strategy: {type: Recreate}}`,
		},
	}
	place := fields.SpecOf(v1.GroupVersion.WithKind(v1.Kind), nil)
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			spec := parse(t, test.spec)
			layers := []Layer{{"namespace", parse(t, test.namespace)}, {"platform", parse(t, test.platform)}}
			got, applied := Under(spec, place, layers...)
			assert.Equal(t, parse(t, test.want), got)
			if got := say(applied); got != test.applied {
				t.Errorf("got the defaults %q, want %q", got, test.applied)
			}
			if !reflect.DeepEqual(spec, parse(t, test.spec)) || !reflect.DeepEqual(layers[0].Values, parse(t, test.namespace)) {
				t.Error("what was given is changed")
			}
		})
	}
}

func TestAStatusListsAFewFields(t *testing.T) {
	labels := map[string]any{}
	for i := range 30 {
		labels[fmt.Sprintf("l%02d", i)] = "x"
	}
	spec := map[string]any{"podLabels": map[string]any{"own": "x"}}
	_, applied := Under(spec, fields.Place{}, Layer{"platform", map[string]any{"podLabels": labels}})
	got := applied[0].Fields
	if len(got) != mostFields+1 || got[mostFields] != "and 10 more" {
		t.Errorf("got %d: %v", len(got), got)
	}
}
