//go:build cluster

package walk

import (
	"fmt"
	"math/rand/v2"

	"k8s.io/apimachinery/pkg/runtime"
)

// move is a change that means something, other than a field alone.
type move struct {
	text string
	spec map[string]any // merged into the spec, lists and scalars whole; nil takes out
}

type m = map[string]any
type l = []any

// moves are changes in which objects come and go, change hands, or are refused.
var moves = []move{
	{"size 0", m{"size": int64(0)}},
	{"size 1", m{"size": int64(1)}},
	{"size 3", m{"size": int64(3)}},
	{"another image", m{"image": "nginx:1.29"}},
	{"yet another image", m{"image": "nginx:1.30"}},
	{"autoscaling from 2 to 4", m{"autoscaling": m{"minReplicas": int64(2), "maxReplicas": int64(4)}}},
	{"autoscaling from 1 to 3 and size 3", m{"size": int64(3), "autoscaling": m{"minReplicas": int64(1), "maxReplicas": int64(3)}}},
	{"triggers from 0 to 3", m{"autoscaling": m{
		"minReplicas": int64(0), "maxReplicas": int64(3), "triggers": l{m{"type": "cron"}},
		"targetCPUUtilizationPercentage": nil, "targetMemoryUtilizationPercentage": nil, "metrics": nil,
	}}},
	{"no autoscaling", m{"autoscaling": nil}},
	{"no autoscaling, size 2", m{"autoscaling": nil, "size": int64(2)}},
	{"budget of autoscaling", m{"autoscaling": m{"minReplicas": int64(2), "maxReplicas": int64(3)}, "podDisruptionBudget": m{"enabled": true, "minAvailable": int64(1)}}},
	{"no budget", m{"podDisruptionBudget": m{"enabled": false}}},
	{"two ports", m{"ports": l{m{"name": "http", "port": int64(80)}, m{"name": "admin", "port": int64(81)}}}},
	{"the same ports the other way round", m{"ports": l{m{"name": "admin", "port": int64(81)}, m{"name": "http", "port": int64(80)}}}},
	{"names of ports exchanged", m{"ports": l{m{"name": "admin", "port": int64(80)}, m{"name": "http", "port": int64(81)}}}},
	{"one port twice, TCP and UDP", m{"ports": l{m{"name": "dns", "port": int64(53)}, m{"name": "dns-udp", "port": int64(53), "protocol": "UDP"}}}},
	{"another target port", m{"ports": l{m{"name": "http", "port": int64(80), "targetPort": int64(8080)}}}},
	{"a sidecar takes the port over", m{
		"ports":    l{m{"name": "http", "port": int64(80), "targetPort": "http"}},
		"sidecars": l{m{"name": "proxy", "image": "proxy:1", "ports": l{m{"name": "http", "containerPort": int64(8080)}}}},
	}},
	{"no ports", m{"ports": nil, "ingress": nil, "route": nil, "probes": nil, "monitoring": nil}},
	{"variables", m{"envs": l{m{"name": "A", "value": "1"}, m{"name": "B", "value": "2"}}}},
	{"the same variables the other way round", m{"envs": l{m{"name": "B", "value": "2"}, m{"name": "A", "value": "1"}}}},
	{"a variable with a source", m{"envs": l{m{"name": "A", "valueFrom": m{"fieldRef": m{"fieldPath": "metadata.name"}}}}}},
	{"a variable without a value", m{"envs": l{m{"name": "A"}}}},
	{"sidecars", m{"sidecars": l{m{"name": "proxy", "image": "proxy:1"}, m{"name": "logs", "image": "logs:1"}}}},
	{"a sidecar that was an init container", m{"sidecars": l{m{"name": "migrate", "image": "proxy:1"}}, "initContainers": nil}},
	{"an init container that was a sidecar", m{"initContainers": l{m{"name": "proxy", "image": "migrate:1"}}, "sidecars": nil}},
	{"a volume of another kind", m{"volumes": l{m{"name": "a", "configMap": m{"name": "settings"}}}, "volumeMounts": l{m{"name": "a", "mountPath": "/a"}}}},
	{"an empty volume", m{"volumes": l{m{"name": "a", "emptyDir": m{}}}, "volumeMounts": l{m{"name": "a", "mountPath": "/a"}}}},
	{"configuration", m{"config": m{"environment": m{"GREETING": "hello"}, "databaseUrl": "postgres://x"}}},
	{"other configuration", m{"config": m{"environment": m{"GREETING": "hi", "COLOR": "red"}, "files": m{"app.yaml": "a: b"}}}},
	{"generated values", m{"config": m{"generated": m{"PASSWORD": m{}, "KEY": m{"bytes": int64(64), "encoding": "hex"}}}}},
	{"other generated values", m{"config": m{"generated": m{"PASSWORD": m{}, "TOKEN": m{"encoding": "base64"}}}}},
	{"generated values that stay", m{"config": m{"generated": m{"PASSWORD": m{}}, "retainGenerated": true}}},
	{"a release task", m{"release": m{"command": l{"migrate"}}}},
	{"another release task", m{"release": m{"command": l{"migrate"}, "args": l{"--all"}, "timeoutSeconds": int64(60)}}},
	{"no release task", m{"release": nil}},
	{"a probe of another kind", m{"ports": l{m{"name": "http", "port": int64(80)}}, "probes": m{"readiness": m{"tcpSocket": m{"port": "http"}}}}},
	{"an http probe", m{"ports": l{m{"name": "http", "port": int64(80)}}, "probes": m{"readiness": m{"httpGet": m{"path": "/ready"}}}}},
	{"no readiness probe", m{"probes": m{"readiness": m{"none": true}}}},
	{"a slow start", m{"ports": l{m{"name": "http", "port": int64(80)}}, "probes": m{"startupSeconds": int64(30)}}},
	{"an account", m{"serviceAccount": m{"create": true}}},
	{"a Service with a node port", m{"ports": l{m{"name": "http", "port": int64(80)}}, "service": m{"type": "NodePort"}}},
	{"a Service in the cluster", m{"ports": l{m{"name": "http", "port": int64(80)}}, "service": m{"type": "ClusterIP"}}},
	{"a load balancer", m{"ports": l{m{"name": "http", "port": int64(80)}}, "service": m{"type": "LoadBalancer", "externalTrafficPolicy": "Local"}}},
	{"an ingress", m{"ports": l{m{"name": "http", "port": int64(80)}}, "ingress": m{"hosts": l{m{"host": "a.example.com"}}}}},
	{"an ingress of another host", m{"ports": l{m{"name": "http", "port": int64(80)}}, "ingress": m{"hosts": l{m{"host": "b.example.com"}, m{"host": "a.example.com"}}}}},
	{"a route", m{"ports": l{m{"name": "http", "port": int64(80)}}, "route": m{"parentRefs": l{m{"name": "gateway"}}, "hostnames": l{"c.example.com"}}}},
	{"a claim that goes along", m{"size": int64(0), "persistence": m{"size": "1Gi", "mountPath": "/data", "storageClassName": "none", "retain": false}}},
	{"a claim that stays", m{"size": int64(0), "persistence": m{"size": "1Gi", "mountPath": "/data", "storageClassName": "none", "retain": true}}},
	{"recreated pods", m{"strategy": m{"type": "Recreate"}}},
	{"rolling pods", m{"strategy": m{"type": "RollingUpdate", "rollingUpdate": m{"maxSurge": int64(1), "maxUnavailable": int64(0)}}}},
	{"quantities in other words", m{"resources": m{"requests": m{"cpu": "0.1", "memory": "1024Mi"}, "limits": m{"cpu": "1000m", "memory": "1Gi"}}}},
	{"half a quantity", m{"resources": m{"requests": m{"memory": "0.5Gi"}}}},
	{"labels of its own", m{"podLabels": m{"tier": "web"}, "commonLabels": m{"team": "shop"}}},
	{"other labels of its own", m{"podLabels": m{"tier": "back"}, "commonLabels": m{"unit": "shop"}}},
	{"paused", m{"paused": true}},
	{"no longer paused", m{"paused": nil}},
	{"what does not exist", m{"envFrom": l{m{"secretRef": m{"name": "nowhere"}}}}},
	{"an account that does not exist", m{"serviceAccount": m{"name": "nobody"}}},
	{"a probe of a port that has no name", m{"ports": nil, "ingress": nil, "route": nil, "monitoring": nil, "probes": m{"liveness": m{"httpGet": m{"port": "http"}}}}},
	{"no headless Service any more", m{"service": nil}},
	{"a headless Service", m{"service": m{"clusterIP": "None"}}},
}

func someMove(random *rand.Rand) step {
	chosen := moves[random.IntN(len(moves))]
	return step{text: fmt.Sprintf("%s: %s", chosen.text, short(chosen.spec)), change: func(spec map[string]any) map[string]any {
		for key, value := range chosen.spec {
			if delete(spec, key); value != nil {
				spec[key] = runtime.DeepCopyJSONValue(value)
			}
		}
		return spec
	}}
}
