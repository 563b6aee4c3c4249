//go:build cluster

package scenario

import (
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/test/harness"
)

// policyLabel is the label of a namespace that selects its policy.
const policyLabel = "faults.example.com/policy"

// policed are the kinds of whole with their group and resource.
var policed = []struct{ group, resource, what string }{
	{"", "services", "Service"},
	{"apps", "deployments", "Deployment"},
	{"", "configmaps", "ConfigMap/web-config"},
	{"", "secrets", "Secret/web-config"},
	{"networking.k8s.io", "ingresses", "Ingress"},
	{"networking.k8s.io", "networkpolicies", "NetworkPolicy"},
	{"policy", "poddisruptionbudgets", "PodDisruptionBudget"},
	{"", "serviceaccounts", "ServiceAccount"},
}

// mutations are changes by admission policies to what the operator writes, as CEL.
var mutations = []struct{ name, group, resource, expression string }{
	{"a-label", "", "services", `Object{metadata: Object.metadata{labels: {"example.com/cost-center": "42"}}}`},
	{"an-annotation", "networking.k8s.io", "ingresses", `Object{metadata: Object.metadata{annotations: {"example.com/class": "shared"}}}`},
	{"a-pod-annotation", "apps", "deployments", `Object{spec: Object.spec{template: Object.spec.template{metadata: Object.spec.template.metadata{annotations: {"example.com/injected": "yes"}}}}}`},
	{"a-sidecar", "apps", "deployments", `Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: "proxy", image: "proxy:1"}]}}}}`},
	{"a-pull-policy", "apps", "deployments", `Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: "app", imagePullPolicy: "Always"}]}}}}`},
	{"another-grace-period", "apps", "deployments", graced},
	{"another-default", "", "services", `Object{spec: Object.spec{sessionAffinity: "ClientIP"}}`},
}

// admission are the incidents with policies that refuse or change writes of the operator.
func admission() []incident {
	var list []incident
	for _, kind := range policed {
		name := "admission/" + strings.ReplaceAll(kind.what, "/", "-")
		list = append(list,
			incident{name + "/install", func(s *scene) {
				s.refuse(kind.group, kind.resource)
				s.start()
				s.want(whole)
				s.mentions("refused by the test")
				s.allow()
				s.endsAs(whole)
			}},
			incident{name + "/repair", func(s *scene) {
				s.with(whole)
				s.refuse(kind.group, kind.resource)
				s.drop(kind.what)
				s.mentions("refused by the test")
				s.allow()
				s.endsAs(whole)
			}},
		)
	}
	for _, mutation := range mutations {
		list = append(list, incident{"admission/mutated/" + mutation.name, func(s *scene) {
			s.label("mutate-" + mutation.name)
			ensure(s, mutatingPolicy(mutation.name, mutation.group, mutation.resource, mutation.expression, admissionv1.Create, admissionv1.Update))
			s.mutates(mutation.resource)
			s.start()
			s.want(whole)
			s.peace()
			s.want(with(whole, `image: nginx:1.28`))
			s.peace()
		}})
	}
	return append(list, incident{"admission/mutated/at-creation-only", func(s *scene) {
		s.label("mutate-at-creation")
		ensure(s, mutatingPolicy("at-creation", "apps", "deployments", graced, admissionv1.Create))
		s.mutates("deployments")
		s.start()
		s.want(whole)
		s.peace()
		s.keepsGrace()
		s.drop("Service") // something is repaired
		s.peace()
		s.keepsGrace()
	}})
}

// graced gives pods another grace period than is rendered.
const graced = `Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{terminationGracePeriodSeconds: 31}}}}`

// keepsGrace checks that the Deployment has that grace period.
func (s *scene) keepsGrace() {
	s.Helper()
	deployment := s.object("Deployment")
	if err := cluster.Client.Get(s.Context(), client.ObjectKeyFromObject(deployment), deployment); err != nil {
		s.Fatal(err)
	}
	if period, _, _ := unstructured.NestedInt64(deployment.Object, "spec", "template", "spec", "terminationGracePeriodSeconds"); period != 31 {
		s.Errorf("the grace period is %d: what admission changed at the creation was put back", period)
	}
}

// peace waits until the AppService is ready and no request is made any more, and checks that no two clients kept
// undoing each other's writes.
func (s *scene) peace() {
	s.Helper()
	s.settled(s.T, step{})
	objects := map[string]int{}
	for _, point := range s.line.Points() {
		if !point.DryRun && !strings.HasSuffix(point.Target, "/status") {
			objects[point.Target]++
		}
	}
	for object, times := range objects {
		if times > 3 {
			s.Errorf("%s was written %d times", object, times)
		}
	}
	s.line.Start()
}

// label selects a policy for the namespace.
func (s *scene) label(policy string) {
	s.Helper()
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, policyLabel, policy)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	if err := cluster.Client.Patch(s.Context(), namespace, client.RawPatch(types.MergePatchType, patch)); err != nil {
		s.Fatal(err)
	}
}

// refuse has the API server refuse new objects of a kind in the namespace, and waits until it does.
func (s *scene) refuse(group, resource string) {
	s.Helper()
	ensure(s, refusingPolicy(group, resource))
	s.label("refuse-" + resource)
	s.probe(resource, "refused by the test")
}

// allow removes that policy.
func (s *scene) allow() {
	s.Helper()
	s.label("none")
	s.fault()
}

// probe waits until dry runs of objects of a kind are refused with these words.
func (s *scene) probe(resource, words string) {
	s.Helper()
	harness.Eventually(s.T, "the API server refuses "+resource, func() error {
		for _, kind := range policed {
			if kind.resource != resource {
				continue
			}
			object := s.object(kind.what)
			if text := probes[resource]; text != "" {
				object = s.probed(resource, s.namespace)
			}
			object.SetName("probe")
			err := cluster.Client.Create(s.Context(), object, client.DryRunAll)
			if err == nil {
				return fmt.Errorf("it takes %s", kind.what)
			}
			if !strings.Contains(err.Error(), words) {
				return fmt.Errorf("it refuses %s for another reason: %w", kind.what, err)
			}
		}
		return nil
	})
}

// probes are the smallest valid objects.
var probes = map[string]string{
	"services":    `{apiVersion: v1, kind: Service, spec: {ports: [{port: 80}]}}`,
	"ingresses":   `{apiVersion: networking.k8s.io/v1, kind: Ingress, spec: {defaultBackend: {service: {name: x, port: {number: 80}}}}}`,
	"deployments": `{apiVersion: apps/v1, kind: Deployment, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: app, image: x:1}]}}}}`,
}

// mutates waits until the policy of the namespace changes new objects of a kind: a dry run there differs from one in
// another namespace.
func (s *scene) mutates(resource string) {
	s.Helper()
	made := func(namespace string) (string, error) {
		object := s.probed(resource, namespace)
		err := cluster.Client.Create(s.Context(), object, client.DryRunAll)
		object.SetManagedFields(nil)
		unstructured.RemoveNestedField(object.Object, "metadata", "creationTimestamp")
		unstructured.RemoveNestedField(object.Object, "metadata", "uid")
		unstructured.RemoveNestedField(object.Object, "metadata", "namespace")
		unstructured.RemoveNestedField(object.Object, "spec", "clusterIP")
		unstructured.RemoveNestedField(object.Object, "spec", "clusterIPs")
		return fmt.Sprint(object.Object), err
	}
	harness.Eventually(s.T, "the policy changes "+resource, func() error {
		here, err := made(s.namespace)
		if err != nil {
			return err
		}
		elsewhere, err := made("default")
		if err == nil && here == elsewhere {
			err = fmt.Errorf("it does not yet")
		}
		return err
	})
}

func (s *scene) probed(resource, namespace string) *unstructured.Unstructured {
	s.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(probes[resource]), &object.Object); err != nil {
		s.Fatal(err)
	}
	object.SetNamespace(namespace)
	object.SetName("probe")
	return object
}
