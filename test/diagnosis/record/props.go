package main

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/poll"
)

// registryPod answers on port 5000 of the node itself: container runtimes ask a registry on localhost without TLS.
const registryPod = `
apiVersion: v1
kind: Pod
metadata: {name: registry, namespace: recorded-registry, labels: {app: registry}}
spec:
  hostNetwork: true
  containers: [{name: registry, image: "example.com/subject:1", args: [registry], readinessProbe: {tcpSocket: {host: 127.0.0.1, port: 5000}, periodSeconds: 1}}]
`

// registry starts the registry that refuses images.
func (s *stage) registry(ctx context.Context) {
	s.namespace(ctx, "recorded-registry", nil)
	try.Do(s.make(ctx, parse(registryPod)))
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	_, _, err := s.await(ctx, "recorded-registry", wait{Event: "Started"})
	try.Do(err)
}

// metricsDefinition makes the API server store what metrics servers compute.
const metricsDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pods.metrics.k8s.io, annotations: {api-approved.kubernetes.io: "unapproved, for a test"}}
spec:
  group: metrics.k8s.io
  scope: Namespaced
  names: {plural: pods, singular: podmetrics, kind: PodMetrics, listKind: PodMetricsList}
  versions: [{name: v1beta1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`

// metrics serves metrics for each pod of a namespace.
func (s *stage) metrics(ctx context.Context, namespace string) {
	try.Do(s.make(ctx, parse(metricsDefinition)))
	pods := &unstructured.UnstructuredList{}
	pods.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "PodList"})
	try.Do(s.List(ctx, pods, client.InNamespace(namespace)))
	for i := range pods.Items {
		metrics := parse(`{apiVersion: metrics.k8s.io/v1beta1, kind: PodMetrics, window: 30s, containers: [{name: app, usage: {cpu: 1m, memory: 8Mi}}]}`)
		metrics.SetNamespace(namespace)
		metrics.SetName(pods.Items[i].GetName())
		metrics.SetLabels(pods.Items[i].GetLabels())
		metrics.Object["timestamp"] = time.Now().UTC().Format(time.RFC3339)
		try.Do(poll.Until(ctx, func(ctx context.Context) error { return client.IgnoreAlreadyExists(s.Create(ctx, metrics)) }))
	}
}

func parse(text string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		panic(err) // it is ours
	}
	return object
}
