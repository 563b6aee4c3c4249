//go:build cluster

package fault

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/example/appservice-operator/test/harness"
)

// rendered is an object that the chart renders, with an AppService that has it and an edit of a rendered field.
type rendered struct{ what, spec, edit string }

const relabeled = `{"metadata":{"labels":{"app.kubernetes.io/instance":"other"}}}`

var renderedKinds = []rendered{
	{"Deployment", whole, `{"spec":{"template":{"spec":{"containers":[{"name":"app","image":"nginx:evil"}]}}}}`},
	{"Service", whole, `{"spec":{"ports":[{"name":"http","port":81,"targetPort":81,"protocol":"TCP"}]}}`},
	{"ConfigMap/web-config", whole, `{"data":{"GREETING":"evil"}}`},
	{"Secret/web-config", whole, `{"data":{"DATABASE_URL":"ZXZpbA=="}}`},
	{"Ingress", whole, `{"spec":{"rules":[{"host":"evil.example.com"}]}}`},
	{"NetworkPolicy", whole, `{"spec":{"ingress":[{"from":[{"podSelector":{}}]}]}}`},
	{"PodDisruptionBudget", whole, `{"spec":{"maxUnavailable":7}}`},
	{"ServiceAccount", whole, relabeled},
	{"HorizontalPodAutoscaler", with(small, autoscaled), `{"spec":{"maxReplicas":9}}`},
	{"PersistentVolumeClaim", with(small, letGo), relabeled},
	{"PersistentVolumeClaim", with(small, kept), relabeled},
}

// drift are the scenarios of T6 in which another client changes objects of the operator.
func drift() []scenario {
	var list []scenario
	for i, kind := range renderedKinds {
		name := fmt.Sprintf("T6/%02d-%s/", i+1, kind.what)
		for what, step := range map[string]step{
			"deleted":   {remove: []string{kind.what}},
			"edited":    {edit: map[string]string{kind.what: kind.edit}},
			"unlabeled": {edit: map[string]string{kind.what: `{"metadata":{"labels":{"app.example.com/managed":null}}}`}},
			"disowned":  {edit: map[string]string{kind.what: `{"metadata":{"ownerReferences":null}}`}},
		} {
			list = append(list, scenario{name + what, func(s *scene) { drifts(s, kind, step) }})
		}
	}
	return append(list,
		scenario{"T6/replicas-of-the-autoscaler", replicasOfTheAutoscaler},
		scenario{"T6/rollout-restart", rolloutRestart},
	)
}

func drifts(s *scene, kind rendered, step step) {
	s.with(kind.spec)
	uid := s.uid(kind.what)
	s.line.Start()
	s.fault()
	s.do(s.T, step)
	s.endsAs(kind.spec)
	if deleted := len(step.remove) > 0; deleted == (s.uid(kind.what) == uid) {
		s.Errorf("%s had the UID %s and has %s", kind.what, uid, s.uid(kind.what))
	}
}

// replicasOfTheAutoscaler is owned by another controller: neither a repair nor an upgrade changes it.
func replicasOfTheAutoscaler(s *scene) {
	// Without load it would scale down again after five minutes, which a slow machine needs for this test.
	scaled := with(autoscaled, `autoscaling: {behavior: {scaleDown: {selectPolicy: Disabled}}}`)
	s.with(with(small, scaled))
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: appName}}
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 4}}
	if err := cluster.Client.SubResource("scale").Update(s.Context(), deployment, client.WithSubResourceBody(scale)); err != nil {
		s.Fatal(err)
	}
	s.still()
	s.drop("Service")
	s.want(with(with(small, scaled), `image: nginx:1.28`))
	s.ends(deployment, func() error {
		if *deployment.Spec.Replicas != 4 || deployment.Status.UpdatedReplicas != 4 || deployment.Spec.Template.Spec.Containers[0].Image != "nginx:1.28" {
			return fmt.Errorf("%d replicas, %d updated, want 4 of the new image", *deployment.Spec.Replicas, deployment.Status.UpdatedReplicas)
		}
		return nil
	})
}

// rolloutRestart is what kubectl writes into the pod template: it is left as it is.
func rolloutRestart(s *scene) {
	const key = "kubectl.kubernetes.io/restartedAt"
	s.with(small)
	s.do(s.T, step{edit: map[string]string{"Deployment": `{"spec":{"template":{"metadata":{"annotations":{"` + key + `":"2026-01-01T00:00:00Z"}}}}}`}})
	s.still()
	s.want(changed)
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: appName}}
	s.ends(deployment, func() error {
		if deployment.Spec.Template.Annotations[key] == "" || deployment.Spec.Template.Spec.Containers[0].Image != "nginx:1.28" {
			return fmt.Errorf("the pod template is %+v", deployment.Spec.Template)
		}
		return nil
	})
}

// ends waits until an object is as desired, no request is made any more, and the status is true.
func (s *scene) ends(object client.Object, check func() error) {
	s.Helper()
	kind, err := apiutil.GVKForObject(object, cluster.Client.Scheme())
	if err != nil {
		s.Fatal(err)
	}
	harness.Eventually(s.T, kind.Kind+" is as it is to be", func() error {
		if err := cluster.Client.Get(s.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		if err := check(); err != nil {
			return err
		}
		var objects map[string]*unstructured.Unstructured
		if objects, err = seen.objects(s.Context(), s.namespace); err != nil {
			return err
		}
		return s.over(step{}, objects)
	})
	s.still()
	if err := check(); err != nil {
		s.Error(err)
	}
}
