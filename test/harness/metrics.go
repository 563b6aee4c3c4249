package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/tools/poll"
)

// The APIs of metrics: resource metrics and custom ones of pods.
const (
	resourceMetrics, resourceVersion = "metrics.k8s.io", "v1beta1"
	customMetrics, customVersion     = "custom.metrics.k8s.io", "v1beta2"
)

// serveMetrics serves the APIs of metrics, as metrics-server and an adapter do: each running pod uses and counts next to nothing. Without them no
// autoscaler ever works. The returned function ends that.
func (c *Cluster) serveMetrics(ctx context.Context) (stop func(), err error) {
	routes := http.NewServeMux()
	routes.HandleFunc("/apis/{group}/{version}", listAPI)
	routes.HandleFunc("/apis/"+resourceMetrics+"/"+resourceVersion+"/namespaces/{namespace}/pods", c.answer("PodMetricsList", usageOf))
	routes.HandleFunc("/apis/"+customMetrics+"/"+customVersion+"/namespaces/{namespace}/pods/{name}/{metric}", c.answer("MetricValueList", countOf))
	server := httptest.NewTLSServer(routes)
	_, text, _ := net.SplitHostPort(server.Listener.Addr().String())
	port, _ := strconv.ParseInt(text, 10, 32)
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "metrics"},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeExternalName, ExternalName: "localhost", Ports: []corev1.ServicePort{{Port: int32(port)}},
		},
	}
	if err := c.replace(ctx, service); err != nil {
		server.Close()
		return nil, fmt.Errorf("cannot serve metrics: %w", err)
	}
	for group, version := range map[string]string{resourceMetrics: resourceVersion, customMetrics: customVersion} {
		if err := c.register(ctx, group, version, service); err != nil {
			server.Close()
			return nil, fmt.Errorf("cannot serve metrics: %w", err)
		}
	}
	return server.Close, nil
}

// register has the API server pass the requests for an API to a Service, and waits until it does.
func (c *Cluster) register(ctx context.Context, group, version string, service *corev1.Service) error {
	api := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": version + "." + group},
		"spec": map[string]any{
			"group": group, "version": version, "groupPriorityMinimum": int64(100), "versionPriority": int64(100), "insecureSkipTLSVerify": true,
			"service": map[string]any{"namespace": service.Namespace, "name": service.Name, "port": int64(service.Spec.Ports[0].Port)},
		},
	}}
	if err := c.replace(ctx, api); err != nil {
		return err
	}
	return poll.UntilWithin(ctx, Patience, func(ctx context.Context) error {
		if err := c.Client.Get(ctx, client.ObjectKeyFromObject(api), api); err != nil {
			return err
		}
		conditions, _, _ := unstructured.NestedSlice(api.Object, "status", "conditions")
		for _, condition := range conditions {
			if condition, ok := condition.(map[string]any); ok && condition["type"] == "Available" && condition["status"] == "True" {
				return nil
			}
		}
		return fmt.Errorf("%s is not available yet: %v", api.GetName(), conditions)
	})
}

// replace creates an object in place of one that a killed run left.
func (c *Cluster) replace(ctx context.Context, object client.Object) error {
	if err := c.Client.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
		return err
	}
	return c.Client.Create(ctx, object)
}

// listAPI answers discovery requests for an API.
func listAPI(w http.ResponseWriter, r *http.Request) {
	respond(w, metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: r.PathValue("group") + "/" + r.PathValue("version"),
		APIResources: []metav1.APIResource{{Name: "pods", Namespaced: true, Kind: "PodMetrics", Verbs: metav1.Verbs{"get", "list"}}},
	})
}

func respond(w http.ResponseWriter, answer any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

// answer returns a list with an item for each running pod.
func (c *Cluster) answer(kind string, about func(pod *corev1.Pod, r *http.Request) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		pods := &corev1.PodList{}
		if err := c.Client.List(r.Context(), pods, client.InNamespace(r.PathValue("namespace")), client.MatchingLabelsSelector{Selector: selector}); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		items := []any{}
		for i := range pods.Items {
			if pods.Items[i].Status.Phase == corev1.PodRunning {
				items = append(items, about(&pods.Items[i], r))
			}
		}
		respond(w, map[string]any{"kind": kind, "apiVersion": strings.Join(strings.Split(r.URL.Path, "/")[2:4], "/"), "items": items})
	}
}

// usageOf is what a pod uses.
func usageOf(pod *corev1.Pod, _ *http.Request) any {
	var containers []any
	add := func(name string) {
		containers = append(containers, map[string]any{"name": name, "usage": map[string]string{"cpu": "1m", "memory": "1Mi"}})
	}
	for _, container := range pod.Spec.Containers {
		add(container.Name)
	}
	for _, container := range pod.Spec.InitContainers {
		if ptr.Deref(container.RestartPolicy, "") == corev1.ContainerRestartPolicyAlways {
			add(container.Name)
		}
	}
	return map[string]any{
		"metadata":  map[string]any{"namespace": pod.Namespace, "name": pod.Name, "labels": pod.Labels},
		"timestamp": metav1.Now(), "window": "1s", "containers": containers,
	}
}

// countOf is what a pod counts.
func countOf(pod *corev1.Pod, r *http.Request) any {
	return map[string]any{
		"describedObject": map[string]any{"kind": "Pod", "apiVersion": "v1", "namespace": pod.Namespace, "name": pod.Name},
		"metric":          map[string]any{"name": r.PathValue("metric")}, "timestamp": metav1.Now(), "value": "1m",
	}
}
