package translate

import (
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/plugin/importer/read"
)

// takeMonitor converts a ServiceMonitor with one endpoint.
func (a *Application) takeMonitor(monitors []*unstructured.Unstructured) {
	for _, monitor := range monitors {
		endpoints, _, _ := unstructured.NestedSlice(monitor.Object, "spec", "endpoints")
		if a.monitor == nil && len(endpoints) == 1 && a.scraped(monitor) != nil {
			a.monitor = monitor
			a.take(monitor)
			continue
		}
		a.stays(monitor, "spec.monitoring scrapes one port of the Service")
	}
}

// scraped returns the port of the Service that a ServiceMonitor scrapes.
func (a *Application) scraped(monitor *unstructured.Unstructured) *corev1.ServicePort {
	endpoints, _, _ := unstructured.NestedSlice(monitor.Object, "spec", "endpoints")
	if a.service == nil || len(endpoints) == 0 {
		return nil
	}
	endpoint := read.Maps(endpoints)[0]
	ports := a.entries()
	for n := range ports {
		if name, _ := endpoint["port"].(string); name != "" && ports[n].Name == name {
			return &ports[n]
		}
		if target := endpoint["targetPort"]; target != nil {
			wanted := ports[n].TargetPort.String()
			if number, is := target.(int64); is {
				wanted = numberIn(a.Template, ports[n].TargetPort)
				target = strconv.FormatInt(number, 10)
			}
			if target == wanted {
				return &ports[n]
			}
		}
	}
	return nil
}

func (a *Application) toMonitoring(spec *v1.AppServiceSpec) {
	endpoints, _, _ := unstructured.NestedSlice(a.monitor.Object, "spec", "endpoints")
	endpoint := fields{read.Maps(endpoints)[0], new(bool)}
	out := &v1.Monitoring{Enabled: true, Path: endpoint.text("path"), Interval: endpoint.text("interval"),
		Port: &a.scraped(a.monitor).Port}
	if labels := a.OwnLabels(a.monitor.GetLabels()); len(labels) > 0 {
		common := a.commonLabels()
		maps.DeleteFunc(labels, func(key, value string) bool { return common[key] == value && value != "" })
		out.Labels = asLabels(labels)
	}
	spec.Monitoring = out
}
