package v1_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestWhatIsAdmittedOfTriggers(t *testing.T) {
	triggers := func(count int) string {
		return "[" + strings.TrimSuffix(strings.Repeat("{type: cron}, ", count), ", ") + "]"
	}
	settings := func(count, length int) string {
		var list []string
		for i := range count {
			list = append(list, fmt.Sprintf("s%d: %q", i, strings.Repeat("x", length)))
		}
		return `[{type: cron, metadata: {` + strings.Join(list, ", ") + `}}]`
	}
	tests := map[string]struct {
		autoscaling string // besides maxReplicas
		refused     string // what the refusal says; empty if there is none
	}{
		"everything": {`minReplicas: 0, pollingSeconds: 1, cooldownSeconds: 0, behavior: {}, triggers: [
			{type: aws-sqs-queue, name: a.B_1, metadata: {queueURL: "https://a"}, metricType: Value, authenticationRef: {name: a, kind: ClusterTriggerAuthentication}}]`, ""},
		"no trigger in the list":                      {`triggers: []`, "spec.autoscaling.triggers"},
		"as many as there may be":                     {`triggers: ` + triggers(16), ""},
		"more than there may be":                      {`triggers: ` + triggers(17), "spec.autoscaling.triggers"},
		"no type":                                     {`triggers: [{metadata: {a: b}}]`, "spec.autoscaling.triggers[0].type"},
		"a type with another line":                    {`triggers: [{type: "a\n  b"}]`, "spec.autoscaling.triggers[0].type"},
		"a name twice":                                {`triggers: [{type: a, name: a}, {type: b, name: a}]`, "spec.autoscaling.triggers[].name must be unique"},
		"names that differ, and none twice":           {`triggers: [{type: a, name: a}, {type: b, name: b}, {type: b}, {type: b}]`, ""},
		"as many settings as there may be":            {`triggers: ` + settings(32, 4096), ""},
		"more settings than there may be":             {`triggers: ` + settings(33, 1), "spec.autoscaling.triggers[0].metadata"},
		"a setting that is too long":                  {`triggers: ` + settings(1, 4097), "spec.autoscaling.triggers[0].metadata"},
		"a setting that is not a string":              {`triggers: [{type: a, metadata: {value: 5}}]`, "spec.autoscaling.triggers[0].metadata.value"},
		"a metric type that there is none of":         {`triggers: [{type: a, metricType: Average}]`, "spec.autoscaling.triggers[0].metricType"},
		"an authentication of another kind":           {`triggers: [{type: a, authenticationRef: {name: a, kind: Secret}}]`, "spec.autoscaling.triggers[0].authenticationRef.kind"},
		"an authentication without a name":            {`triggers: [{type: a, authenticationRef: {}}]`, "spec.autoscaling.triggers[0].authenticationRef.name"},
		"a target for the CPU beside them":            {`triggers: [{type: a}], targetCPUUtilizationPercentage: 80`, "spec.autoscaling.triggers excludes"},
		"a target for memory beside them":             {`triggers: [{type: a}], targetMemoryUtilizationPercentage: 80`, "spec.autoscaling.triggers excludes"},
		"metrics beside them":                         {`triggers: [{type: a}], metrics: [{type: Resource, resource: {name: cpu, target: {type: AverageValue, averageValue: "1"}}}]`, "spec.autoscaling.triggers excludes"},
		"no replica without them":                     {`minReplicas: 0, targetMemoryUtilizationPercentage: 80`, "spec.autoscaling.minReplicas 0 needs spec.autoscaling.triggers"},
		"no replica by a metric from elsewhere":       {`minReplicas: 0, metrics: [{type: External, external: {metric: {name: q}, target: {type: Value, value: "1"}}}]`, ""},
		"no replica by a metric of pods":              {`minReplicas: 0, metrics: [{type: Pods, pods: {metric: {name: q}, target: {type: AverageValue, averageValue: "1"}}}]`, "or a metric of type External or Object (Kubernetes 1.37)"},
		"less than no replica":                        {`minReplicas: -1, triggers: [{type: a}]`, "spec.autoscaling.minReplicas"},
		"no replica by CPU and memory alone":          {`minReplicas: 0, triggers: [{type: cpu}, {type: memory}]`, "needs a trigger of another type"},
		"no replica by CPU and something else":        {`minReplicas: 0, triggers: [{type: cpu}, {type: cron}]`, ""},
		"one replica by CPU alone":                    {`minReplicas: 1, triggers: [{type: cpu}]`, ""},
		"polling without them":                        {`pollingSeconds: 9, targetMemoryUtilizationPercentage: 80`, "pollingSeconds and cooldownSeconds need spec.autoscaling.triggers"},
		"cooling down without them":                   {`cooldownSeconds: 9, targetMemoryUtilizationPercentage: 80`, "pollingSeconds and cooldownSeconds need spec.autoscaling.triggers"},
		"polling all the time":                        {`triggers: [{type: a}], pollingSeconds: 0`, "spec.autoscaling.pollingSeconds"},
		"polling once a day":                          {`triggers: [{type: a}], pollingSeconds: 86400`, ""},
		"polling less than once a day":                {`triggers: [{type: a}], pollingSeconds: 86401`, "spec.autoscaling.pollingSeconds"},
		"cooling down for a week":                     {`triggers: [{type: a}], cooldownSeconds: 604800`, ""},
		"cooling down for more than a week":           {`triggers: [{type: a}], cooldownSeconds: 604801`, "spec.autoscaling.cooldownSeconds"},
		"as few replicas as there may be at the most": {`minReplicas: 9, triggers: [{type: a}]`, ""},
		"fewer at the most than at least":             {`minReplicas: 10, triggers: [{type: a}]`, "spec.autoscaling.minReplicas must not exceed maxReplicas"},
	}
	a := newAdmission(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			switch _, dropped, err := a.admit(t, named(t, "web", "{image: a, autoscaling: {maxReplicas: 9, "+test.autoscaling+"}}")); {
			case test.refused == "" && (err != nil || len(dropped) > 0):
				t.Errorf("dropped fields %v, error %v", dropped, err)
			case test.refused != "" && (err == nil || !strings.Contains(err.Error(), test.refused)):
				t.Errorf("got %v, want a refusal that says %q", err, test.refused)
			}
		})
	}
}
