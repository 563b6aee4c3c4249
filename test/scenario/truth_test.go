//go:build cluster

package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
)

// lie returns what is untrue in the status of the AppService of a plan, if there is one.
func lie(objects map[string]*unstructured.Unstructured) error {
	app, err := appOf(objects)
	if err != nil {
		return err
	}
	if app != nil {
		err = untrue(app, objects)
	}
	return cmp.Or(err, untrueRuns(objects))
}

// untrue returns what is untrue in the status of an AppService, compared with the objects: oracle O4. It does not use the operator's code, only the
// documented meaning of the fields.
func untrue(app *v1.AppService, objects map[string]*unstructured.Unstructured) error {
	status := &app.Status
	if err := outdated(app); err != nil {
		return err
	}
	deployment := &appsv1.Deployment{}
	found := cmp.Or(objects["Deployment "+app.Name], objects["StatefulSet "+app.Name]) // it has the same fields
	if found != nil && metav1.IsControlledBy(found, app) {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, deployment); err != nil {
			return err
		}
	}
	live := deployment.Status
	counters := []int32{status.Replicas, status.UpdatedReplicas, status.ReadyReplicas, status.AvailableReplicas, status.UnavailableReplicas}
	want := []int32{live.Replicas, live.UpdatedReplicas, live.ReadyReplicas, live.AvailableReplicas, live.UnavailableReplicas}
	if !slices.Equal(counters, want) {
		return fmt.Errorf("replicas, updated, ready, available, unavailable: status has %v, the Deployment %v", counters, want)
	}
	if deployment.Name != "" {
		if err := repeats(status, deployment); err != nil {
			return err
		}
	}
	if err := untrueResources(status, objects); err != nil {
		return err
	}
	jobs, err := notedJobs(status.Runs, objects)
	if err != nil {
		return err
	}
	if err := miscounted(app, jobs); err != nil {
		return err
	}
	if err := untrulyReturned(app, deployment, objects); err != nil {
		return err
	}
	if meta.IsStatusConditionTrue(status.Conditions, v1.ConditionReady) {
		return untrulyReady(app, deployment, objects)
	}
	return nil
}

// outdated returns what in a status is about another generation.
func outdated(app *v1.AppService) error {
	if status := app.Status; status.ObservedGeneration != app.Generation {
		return fmt.Errorf("status speaks of generation %d, not %d", status.ObservedGeneration, app.Generation)
	}
	for _, condition := range app.Status.Conditions {
		if condition.ObservedGeneration != app.Generation {
			return fmt.Errorf("condition %s speaks of generation %d, not %d", condition.Type, condition.ObservedGeneration, app.Generation)
		}
	}
	return nil
}

// untrueResources returns what a status says that is ready and is not.
func untrueResources(status *v1.AppServiceStatus, objects map[string]*unstructured.Unstructured) error {
	for _, resource := range status.Resources {
		if objectOf(resource.Kind).GetKind() == "" || resource.Kind == "Job" {
			continue // one that has ended may be gone, or it is of another project; the plans that are about one check it themselves
		}
		if there := objects[resource.Kind+" "+resource.Name] != nil; resource.Ready && !there {
			return fmt.Errorf("status says that %s %s is ready, and it is not there", resource.Kind, resource.Name)
		}
		if resource.Ready && resource.Kind == "HorizontalPodAutoscaler" && !scales(objects[resource.Kind+" "+resource.Name]) {
			return fmt.Errorf("status says that the autoscaler is ready, and it says that it is not")
		}
	}
	return nil
}

// repeats returns the fields of a status that should equal those of the Deployment and do not.
func repeats(status *v1.AppServiceStatus, deployment *appsv1.Deployment) error {
	if want := fmt.Sprintf("%d/%d", deployment.Status.ReadyReplicas, ptr.Deref(deployment.Spec.Replicas, 1)); status.Readiness != want {
		return fmt.Errorf("status says that %s are ready, and it is %s", status.Readiness, want)
	}
	for _, condition := range deployment.Status.Conditions {
		if condition.Type != appsv1.DeploymentAvailable && condition.Type != appsv1.DeploymentProgressing {
			continue
		}
		said := meta.FindStatusCondition(status.Conditions, string(condition.Type))
		if said == nil || string(said.Status) != string(condition.Status) || said.Reason != condition.Reason || said.Message != condition.Message {
			return fmt.Errorf("status says %+v, and the Deployment %+v", said, condition)
		}
	}
	return nil
}

func untrulyReady(app *v1.AppService, deployment *appsv1.Deployment, objects map[string]*unstructured.Unstructured) error {
	replicas, live := ptr.Deref(deployment.Spec.Replicas, 0), deployment.Status
	switch {
	case deployment.Name == "":
		return fmt.Errorf("Ready without a Deployment")
	case live.ObservedGeneration < deployment.Generation, live.UpdatedReplicas != replicas, live.Replicas != replicas, live.AvailableReplicas != replicas:
		return fmt.Errorf("Ready while the Deployment wants %d replicas and has %+v", replicas, live)
	case app.Spec.Autoscaling == nil && replicas != ptr.Deref(app.Spec.Size, 1):
		return fmt.Errorf("Ready with %d replicas, the spec wants %d", replicas, ptr.Deref(app.Spec.Size, 1))
	case deployment.Spec.Template.Spec.Containers[0].Image != app.Spec.Image || app.Status.Image != app.Spec.Image:
		return fmt.Errorf("Ready with image %s, the spec wants %s", deployment.Spec.Template.Spec.Containers[0].Image, app.Spec.Image)
	}
	return unlisted(app, objects)
}

// unlisted returns in what the resources and the release in the status of something that is ready differ from the objects.
func unlisted(app *v1.AppService, objects map[string]*unstructured.Unstructured) error {
	listed := map[string]bool{}
	for _, resource := range app.Status.Resources {
		listed[resource.Kind+" "+resource.Name] = true
		if objectOf(resource.Kind).GetKind() != "" && resource.Kind != "Job" && objects[resource.Kind+" "+resource.Name] == nil {
			return fmt.Errorf("Ready, and %s %s is not there", resource.Kind, resource.Name)
		}
	}
	newest, statuses := 0, map[int]string{}
	for key, object := range objects {
		if labels := object.GetLabels(); labels["owner"] == "helm" {
			revision, _ := strconv.Atoi(labels["version"])
			newest, statuses[revision] = max(newest, revision), labels["status"]
			continue
		}
		for _, owner := range object.GetOwnerReferences() {
			if owner.UID == app.UID && !listed[key] && !strings.HasPrefix(key, "ReplicaSet ") {
				return fmt.Errorf("%s belongs to the AppService, and its status does not list it", key)
			}
		}
	}
	if app.Status.Release == nil || app.Status.Release.Revision != newest {
		return fmt.Errorf("status names release %+v, the newest record has revision %d", app.Status.Release, newest)
	}
	for revision, status := range statuses {
		if (status == "deployed") != (revision == newest) {
			return fmt.Errorf("Ready, and the record of revision %d is %s while the newest is %d", revision, status, newest)
		}
	}
	return nil
}

// scales reports whether an autoscaler has the conditions of one that works. One of a workload without replicas rests.
func scales(autoscaler *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(autoscaler.Object, "status", "conditions")
	return !slices.ContainsFunc(conditions, func(content any) bool {
		condition, _ := content.(map[string]any)
		reason, message := fmt.Sprint(condition["reason"]), fmt.Sprint(condition["message"])
		unmeasured := strings.HasPrefix(reason, "FailedGet") && !strings.Contains(message, "missing request") // metrics are for the cluster to provide
		return condition["type"] != "ScalingLimited" && condition["status"] == "False" && reason != "ScalingDisabled" && !unmeasured
	})
}

// appOf returns an AppService as it was seen.
func appOf(objects map[string]*unstructured.Unstructured) (*v1.AppService, error) {
	live := objects[v1.Kind+" "+appName]
	if live == nil {
		return nil, nil
	}
	app := &v1.AppService{}
	return app, runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, app)
}
