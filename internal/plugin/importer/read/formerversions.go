package read

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// present is the version of a kind that Kubernetes serves, and how content of a former one is read.
type present struct {
	apiVersion string
	change     func(*unstructured.Unstructured)
}

// served are the kinds that had other versions, in the group that they have now or in extensions.
var served = map[string]present{
	"Deployment": {"apps/v1", dropRollback}, "StatefulSet": {"apps/v1", nil}, "DaemonSet": {"apps/v1", nil}, "ReplicaSet": {"apps/v1", nil},
	"Ingress": {"networking.k8s.io/v1", formerIngress}, "NetworkPolicy": {"networking.k8s.io/v1", nil},
	"HorizontalPodAutoscaler": {"autoscaling/v2", formerScaler},
	"PodDisruptionBudget":     {"policy/v1", nil}, "CronJob": {"batch/v1", nil},
	"HTTPRoute": {"gateway.networking.k8s.io/v1", nil}, KindGRPCRoute: {"gateway.networking.k8s.io/v1", nil},
}

// modern returns an object in the version that is served. Fields that it does not set have the present defaults.
func modern(object *unstructured.Unstructured) *unstructured.Unstructured {
	now, is := served[object.GetKind()]
	group, _, _ := strings.Cut(now.apiVersion, "/")
	if !is || object.GetAPIVersion() == now.apiVersion || GroupOf(object) != group && GroupOf(object) != "extensions" {
		return object
	}
	object.SetAPIVersion(now.apiVersion)
	if now.change != nil {
		now.change(object)
	}
	return object
}

func specOf(object *unstructured.Unstructured) map[string]any {
	spec, _ := object.Object["spec"].(map[string]any)
	return spec
}

// dropRollback drops a field by which a rollback was asked for, once.
func dropRollback(object *unstructured.Unstructured) { delete(specOf(object), "rollbackTo") }

// formerIngress renames the fields of backends.
func formerIngress(object *unstructured.Unstructured) {
	spec := specOf(object)
	if backend, is := spec["backend"].(map[string]any); is {
		spec["defaultBackend"] = formerBackend(backend)
		delete(spec, "backend")
	}
	for _, rule := range Maps(spec["rules"]) {
		http, _ := rule["http"].(map[string]any)
		for _, path := range Maps(http["paths"]) {
			if backend, is := path["backend"].(map[string]any); is {
				path["backend"] = formerBackend(backend)
			}
			unless(path, "pathType", "ImplementationSpecific")
		}
	}
}

func formerBackend(backend map[string]any) map[string]any {
	if backend["serviceName"] == nil {
		return backend
	}
	port := map[string]any{"number": backend["servicePort"]}
	if _, named := backend["servicePort"].(string); named {
		port = map[string]any{"name": backend["servicePort"]}
	}
	return map[string]any{"service": map[string]any{"name": backend["serviceName"], "port": port}}
}

// formerScaler reads what autoscaling/v1 keeps in a field and in annotations, and the metrics of v2beta1.
func formerScaler(object *unstructured.Unstructured) {
	spec, annotations := specOf(object), object.GetAnnotations()
	metrics, _ := spec["metrics"].([]any)
	if share := spec["targetCPUUtilizationPercentage"]; share != nil {
		metrics = append(metrics, map[string]any{"type": "Resource", "resource": map[string]any{"name": "cpu", "targetAverageUtilization": share}})
		delete(spec, "targetCPUUtilizationPercentage")
	}
	const prefix = "autoscaling.alpha.kubernetes.io/"
	var more []any
	if json.Unmarshal([]byte(annotations[prefix+"metrics"]), &more) == nil {
		metrics = append(metrics, more...)
	}
	var behavior map[string]any
	if json.Unmarshal([]byte(annotations[prefix+"behavior"]), &behavior) == nil && len(behavior) > 0 {
		spec["behavior"] = capitalless(behavior)
	}
	for _, metric := range Maps(metrics) {
		metricV2beta1(metric)
	}
	if len(metrics) > 0 {
		spec["metrics"] = metrics
	}
	maps.DeleteFunc(annotations, func(key, _ string) bool { return strings.HasPrefix(key, prefix) })
	object.SetAnnotations(annotations)
}

// capitalless returns a value with names of fields that begin with a small letter: the annotation has those of Go.
func capitalless(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, item := range value {
			out[strings.ToLower(key[:min(1, len(key))])+key[min(1, len(key)):]] = capitalless(item)
		}
		return out
	case []any:
		for n := range value {
			value[n] = capitalless(value[n])
		}
	}
	return value
}

// metricV2beta1 moves what autoscaling/v2beta1 has beside a metric into its target.
func metricV2beta1(metric map[string]any) {
	for _, source := range []string{"resource", "containerResource", "pods", "object", "external"} {
		if content, is := metric[source].(map[string]any); is {
			target(content)
			named(content, source)
		}
	}
}

// target makes the target of a metric; an Object metric has had one that is what it describes.
func target(content map[string]any) {
	if described, is := content["target"].(map[string]any); is && described["type"] == nil {
		content["describedObject"] = described
		delete(content, "target")
	}
	of := map[string]any{}
	for _, field := range []struct{ was, is, kind string }{
		{"targetAverageUtilization", "averageUtilization", "Utilization"},
		{"targetAverageValue", "averageValue", "AverageValue"},
		{"averageValue", "averageValue", "AverageValue"},
		{"targetValue", "value", "Value"},
	} {
		if value := content[field.was]; value != nil && len(of) == 0 {
			of["type"], of[field.is] = field.kind, value
		}
		delete(content, field.was)
	}
	if len(of) > 0 {
		content["target"] = of
	}
}

// named moves the name of a metric, and its selector, into one field.
func named(content map[string]any, source string) {
	name := content["metricName"]
	if name == nil || !slices.Contains([]string{"pods", "object", "external"}, source) {
		return
	}
	metric := map[string]any{"name": name}
	for was, is := range map[string]string{"selector": "selector", "metricSelector": "selector"} {
		if content[was] != nil {
			metric[is] = content[was]
			delete(content, was)
		}
	}
	delete(content, "metricName")
	content["metric"] = metric
}

// unless sets a field if it is missing.
func unless(content map[string]any, field string, value any) {
	if _, there := content[field]; !there {
		content[field] = value
	}
}
