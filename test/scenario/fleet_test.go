//go:build cluster

package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// fleet is the number of AppServices in tests that need many.
const fleet = 20

// install creates a fleet of AppServices.
func (s *scene) install(size int) {
	s.Helper()
	for i := range size {
		cluster.Create(s.T, harness.Seed(s.namespace, fmt.Sprintf("app-%d", i)))
	}
}

// someAreInstalled waits until the Deployments of a part of a fleet exist. Records are written last: most of a fleet may be installed before the
// first ones are.
func (s *scene) someAreInstalled(size int) {
	s.Helper()
	harness.Eventually(s.T, "some are installed", func() error {
		deployments := &metav1.PartialObjectMetadataList{}
		deployments.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("DeploymentList"))
		if err := cluster.Client.List(s.Context(), deployments, client.InNamespace(s.namespace)); err != nil {
			return err
		}
		if there := len(deployments.Items); there < size/4 {
			return fmt.Errorf("%d of %d are", there, size)
		}
		return nil
	})
}

// installedOnce checks that each AppService has one release, the first.
func (s *scene) installedOnce() {
	s.Helper()
	for name, revisions := range s.revisions() {
		if revisions != "1" {
			s.Errorf("%s has revisions %s, want 1", name, revisions)
		}
	}
}

// disband deletes a fleet, and waits until nothing of it is left.
func (s *scene) disband() {
	s.Helper()
	if err := cluster.Client.DeleteAllOf(s.Context(), &v1.AppService{}, client.InNamespace(s.namespace)); err != nil {
		s.Fatal(err)
	}
	s.gone()
}

// revisions lists those of all release records, by release.
func (s *scene) revisions() map[string]string {
	s.Helper()
	list := &corev1.SecretList{}
	if err := cluster.Client.List(s.Context(), list, client.InNamespace(s.namespace), client.MatchingLabels{"owner": "helm"}); err != nil {
		s.Fatal(err)
	}
	found := map[string]string{}
	for _, record := range list.Items {
		name := record.Labels["name"]
		found[name] = strings.TrimPrefix(found[name]+","+record.Labels["version"], ",")
	}
	return found
}

// stands describes the state of an AppService and its pods: what the cluster itself did not do is no fault of the operator.
func (s *scene) stands(app *v1.AppService) string {
	text := "nothing was said of it"
	if ready := meta.FindStatusCondition(app.Status.Conditions, v1.ConditionReady); ready != nil {
		text = fmt.Sprintf("Ready %s, %s: %s", ready.Status, ready.Reason, ready.Message)
	}
	pods := &corev1.PodList{}
	if err := cluster.Client.List(s.Context(), pods, client.InNamespace(s.namespace)); err != nil {
		return text + "; " + err.Error()
	}
	for _, pod := range pods.Items {
		if strings.HasPrefix(pod.Name, app.Name+"-") {
			text += fmt.Sprintf("; pod %s is %s on node %q, ready: %t", pod.Name, pod.Status.Phase, pod.Spec.NodeName, ready(&pod))
		}
	}
	return text
}

// forgotten is how old a pod is that the simulated nodes have missed: they start pods within a second as a rule. After an outage they neither
// retry, nor make a pod ready again that the node controller marked as not ready meanwhile, as kubelets do.
const forgotten = 30 * time.Second

// ready reports whether a pod has the condition Ready.
func ready(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(condition corev1.PodCondition) bool {
		return condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue
	})
}

// replaceForgotten deletes pods that have a node and are not ready there: their ReplicaSets create others.
func (s *scene) replaceForgotten() error {
	pods := &corev1.PodList{}
	if err := cluster.Client.List(s.Context(), pods, client.InNamespace(s.namespace)); err != nil {
		return err
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if ready(pod) || pod.Spec.NodeName == "" || time.Since(pod.CreationTimestamp.Time) < forgotten {
			continue
		}
		if err := cluster.Client.Delete(s.Context(), pod, client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// fleetRuns waits until all AppServices are ready, rendered by a version of the chart, empty for any. It calls meanwhile before each look.
func (s *scene) fleetRuns(version string, meanwhile ...func() error) {
	s.Helper()
	harness.Eventually(s.T, "the fleet runs chart "+version, func() error {
		for _, do := range meanwhile {
			if err := do(); err != nil {
				return err
			}
		}
		list := &v1.AppServiceList{}
		if err := cluster.Client.List(s.Context(), list, client.InNamespace(s.namespace)); err != nil {
			return err
		}
		for i := range list.Items {
			app := &list.Items[i]
			made := app.Status.Release != nil && (version == "" || app.Status.Release.ChartVersion == version)
			if !made || !meta.IsStatusConditionTrue(app.Status.Conditions, v1.ConditionReady) {
				return fmt.Errorf("%s is not ready, or was not made by it: %s", app.Name, s.stands(app))
			}
		}
		return nil
	})
	s.recovered()
}

// podUIDs lists the pods, and the versions of their Deployments.
func (s *scene) podUIDs() map[string]bool {
	s.Helper()
	pods, deployments := &corev1.PodList{}, &appsv1.DeploymentList{}
	for _, list := range []client.ObjectList{pods, deployments} {
		if err := cluster.Client.List(s.Context(), list, client.InNamespace(s.namespace)); err != nil {
			s.Fatal(err)
		}
	}
	uids := map[string]bool{}
	for _, pod := range pods.Items {
		uids[string(pod.UID)] = true
	}
	for _, deployment := range deployments.Items {
		uids[fmt.Sprintf("%s at revision %s", deployment.Name, deployment.Annotations["deployment.kubernetes.io/revision"])] = true
	}
	return uids
}
