//go:build cluster

package walk

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/test/endstate"
	"github.com/example/appservice-operator/test/try"
)

// writer is a client other than the operator that writes objects.
type writer struct {
	name string
	// do writes, as a field manager of its own, and says what. It says nothing where there is nothing to write to.
	do func(ctx context.Context, w *walker, choice uint64) (string, error)
	// alone means that the operator puts it right before anything else happens: docs/drift.md says why.
	alone bool
}

// writers are the ones found in real clusters.
var writers = []writer{
	{name: "kubectl edit of the pod template", do: onDeployment("kubectl-edit", editTemplate)},
	{name: "kubectl set image", do: onDeployment("kubectl-set", setImage)},
	{name: "kubectl rollout restart", do: onDeployment("kubectl-rollout", restart)},
	{name: "kubectl rollout undo", do: undo},
	{name: "kubectl scale deployment", do: func(ctx context.Context, w *walker, choice uint64) (string, error) {
		return w.scale(ctx, "kubectl", int32(choice%5))
	}},
	{name: "an autoscaler scales", do: autoscale},
	{name: "an autoscaler of resources sets requests", do: onDeployment("vpa-updater", setRequests)},
	{name: "kubectl apply --server-side --force-conflicts", do: forceApply},
	{name: "somebody edits a rendered field", do: editLeaf},
	{name: "somebody deletes an object", do: deleteObject},
	{name: "somebody adds labels and annotations", do: addNotes},
	{name: "somebody takes off the owner reference", do: strip(`{"metadata":{"ownerReferences":null}}`), alone: true},
	{name: "somebody takes off the label that the caches select by", do: strip(fmt.Sprintf(`{"metadata":{"labels":{%q:null}}}`, v1.LabelManaged)), alone: true},
	{name: "somebody takes off the stamp", do: strip(fmt.Sprintf(`{"metadata":{"annotations":{%q:null}}}`, postrender.AnnotationStamp))},
	{name: "kubectl delete --cascade=orphan, and it is made again", do: orphan, alone: true},
	{name: "somebody overwrites the status", do: overwriteStatus},
	{name: "somebody deletes the release record", do: deleteRecord},
	{name: "somebody deletes a generated value", do: deleteKey, alone: true},
	{name: "somebody deletes the Secret with generated values", do: loseSecret, alone: true},
	{name: "a release fails", do: failRelease, alone: true},
	{name: "the operator restarts", do: func(_ context.Context, w *walker, _ uint64) (string, error) {
		w.restartManager()
		return "a new manager", nil
	}},
}

// writersAmong are the writers whose names a regular expression finds.
func writersAmong(expression string) []writer {
	pattern := try.Get(regexp.Compile(expression))
	return slices.DeleteFunc(slices.Clone(writers), func(w writer) bool { return !pattern.MatchString(w.name) })
}

// workload is the AppService's Deployment or StatefulSet, without content.
func (w *walker) workload() client.Object {
	if w.role == ofReplicas {
		return &appsv1.StatefulSet{}
	}
	return &appsv1.Deployment{}
}

// onSet changes the pod template and the annotations of the StatefulSet as onDeployment does those of a Deployment.
func onSet(ctx context.Context, w *walker, manager string, change func(*appsv1.Deployment) string) (string, error) {
	set := &appsv1.StatefulSet{}
	if err := w.get(ctx, set); err != nil {
		return "", client.IgnoreNotFound(err)
	}
	before := set.DeepCopy()
	like := &appsv1.Deployment{ObjectMeta: set.ObjectMeta, Spec: appsv1.DeploymentSpec{Template: set.Spec.Template}}
	said := change(like)
	set.Annotations, set.Spec.Template = like.Annotations, like.Spec.Template
	return said, cluster.Client.Patch(ctx, set, client.StrategicMergeFrom(before), client.FieldOwner(manager))
}

// onDeployment changes the workload the way kubectl does: it reads, and patches the difference.
func onDeployment(manager string, change func(deployment *appsv1.Deployment, choice uint64) string) func(context.Context, *walker, uint64) (string, error) {
	return func(ctx context.Context, w *walker, choice uint64) (string, error) {
		if w.role == ofReplicas {
			return onSet(ctx, w, manager, func(like *appsv1.Deployment) string { return change(like, choice) })
		}
		deployment := &appsv1.Deployment{}
		if err := w.get(ctx, deployment); err != nil {
			return "", client.IgnoreNotFound(err)
		}
		before := deployment.DeepCopy()
		said := change(deployment, choice)
		return said, cluster.Client.Patch(ctx, deployment, client.StrategicMergeFrom(before), client.FieldOwner(manager))
	}
}

// editTemplate makes one of the changes that people make when they look for a fault.
func editTemplate(deployment *appsv1.Deployment, choice uint64) string {
	pod := &deployment.Spec.Template.Spec
	app := &pod.Containers[0]
	for i := range pod.Containers {
		if pod.Containers[i].Name == "app" {
			app = &pod.Containers[i]
		}
	}
	switch choice % 8 {
	case 0:
		app.Env = append(app.Env, corev1.EnvVar{Name: "FOREIGN", Value: "1"})
		return "a variable added"
	case 1:
		if len(app.Env) > 0 {
			app.Env = app.Env[1:]
		}
		return "the first variable gone"
	case 2:
		app.Args = append(app.Args, "--foreign")
		return "an argument added"
	case 3:
		pod.Containers = append(pod.Containers, corev1.Container{Name: "foreign", Image: "foreign:1"})
		return "a container added"
	case 4:
		pod.InitContainers = nil
		return "no init containers"
	case 5:
		pod.Volumes = append(pod.Volumes, corev1.Volume{Name: "foreign"})
		app.VolumeMounts = append(app.VolumeMounts, corev1.VolumeMount{Name: "foreign", MountPath: "/foreign"})
		return "a volume added"
	case 6:
		app.ReadinessProbe, app.LivenessProbe, app.StartupProbe = nil, nil, nil
		return "no probes"
	}
	pod.HostNetwork = false
	pod.NodeSelector = map[string]string{"kubernetes.io/os": "linux"}
	return "a node selector"
}

func setImage(deployment *appsv1.Deployment, choice uint64) string {
	deployment.Spec.Template.Spec.Containers[0].Image = fmt.Sprintf("foreign:%d", choice%3)
	return deployment.Spec.Template.Spec.Containers[0].Image
}

func setRequests(deployment *appsv1.Deployment, choice uint64) string {
	container := &deployment.Spec.Template.Spec.Containers[0]
	if container.Resources.Requests == nil {
		container.Resources.Requests = corev1.ResourceList{}
	}
	container.Resources.Requests[corev1.ResourceCPU] = *quantity(int64(1 + choice%5))
	if deployment.Annotations == nil {
		deployment.Annotations = map[string]string{}
	}
	deployment.Annotations[note+"vpa"] = "observed"
	return "requests and an annotation"
}

func restart(deployment *appsv1.Deployment, choice uint64) string {
	if deployment.Spec.Template.Annotations == nil {
		deployment.Spec.Template.Annotations = map[string]string{}
	}
	deployment.Spec.Template.Annotations["kubectl.kubernetes.io/restartedAt"] = fmt.Sprintf("2026-01-01T00:00:%02dZ", choice%60)
	return "the pod template annotated"
}

// autoscale is what the autoscaler's controller does.
func autoscale(ctx context.Context, w *walker, choice uint64) (string, error) {
	bounds, _ := w.spec["autoscaling"].(map[string]any)
	if bounds == nil || w.spec["paused"] == true {
		return "", nil
	}
	low, _ := bounds["minReplicas"].(int64)
	high, _ := bounds["maxReplicas"].(int64)
	low = max(low, 1)
	return w.scale(ctx, "kube-controller-manager", int32(low+int64(choice%uint64(max(high-low, 0)+1))))
}

func (w *walker) scale(ctx context.Context, manager string, replicas int32) (string, error) {
	workload := w.workload()
	if err := w.get(ctx, workload); err != nil {
		return "", client.IgnoreNotFound(err)
	}
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
	err := cluster.Client.SubResource("scale").Update(ctx, workload, client.WithSubResourceBody(scale), client.FieldOwner(manager))
	return fmt.Sprintf("%d replicas", replicas), err
}

// forceApply applies a manifest of a few fields over those that are rendered.
func forceApply(ctx context.Context, w *walker, choice uint64) (string, error) {
	if err := w.get(ctx, w.workload()); err != nil {
		return "", client.IgnoreNotFound(err)
	}
	kind := "Deployment"
	if w.role == ofReplicas {
		kind = "StatefulSet"
	}
	applied := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"replicas": int64(choice % 3),
		"template": map[string]any{"spec": map[string]any{"containers": []any{
			map[string]any{"name": "app", "image": "foreign:applied", "env": []any{map[string]any{"name": "FOREIGN", "value": "1"}}},
		}}},
	}}}
	applied.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind(kind))
	applied.SetNamespace(w.app.Namespace)
	applied.SetName(name)
	if w.spec["autoscaling"] != nil { // the number would stay as the last writer set it
		unstructured.RemoveNestedField(applied.Object, "spec", "replicas")
	}
	return "replicas, image and a variable",
		cluster.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner("kubectl"), client.ForceOwnership)
}

// addNotes adds what must stay.
func addNotes(ctx context.Context, w *walker, choice uint64) (string, error) {
	object, err := w.pick(ctx, choice)
	if object == nil || err != nil {
		return "", err
	}
	key := note + "note"
	patch := fmt.Sprintf(`{"metadata":{"labels":{%q:"mine"},"annotations":{%q:"mine"}}}`, key, key)
	err = cluster.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(patch)), client.FieldOwner("somebody"))
	if err == nil {
		w.noted = object
	}
	return "to " + object.GetKind(), client.IgnoreNotFound(err)
}

func strip(patch string) func(context.Context, *walker, uint64) (string, error) {
	return func(ctx context.Context, w *walker, choice uint64) (string, error) {
		if w.spec["paused"] == true || w.refused {
			return "", nil // an object that lost its owner and is rendered differently afterwards has no owner any more
		}
		object, err := w.pick(ctx, choice)
		if object == nil || err != nil {
			return "", err
		}
		err = cluster.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(patch)), client.FieldOwner("somebody"))
		return "from " + object.GetKind(), client.IgnoreNotFound(err)
	}
}

// orphan deletes the AppService, leaves its objects, and makes it again: it takes them back, since it says so.
func orphan(ctx context.Context, w *walker, _ uint64) (string, error) {
	if w.spec["paused"] == true || w.refused {
		return "", nil
	}
	app := inNamespace(w.app.Namespace, w.spec)
	app.SetAnnotations(map[string]string{v1.AnnotationAdopt: "true"})
	return "it is made again", deletedAndMade(ctx, app)
}

// deletedAndMade deletes a resource without its objects, and makes it again.
func deletedAndMade(ctx context.Context, resource *unstructured.Unstructured) error {
	if err := cluster.Client.Delete(ctx, resource.DeepCopy(), client.PropagationPolicy("Orphan")); err != nil {
		return err
	}
	return eventually(ctx, func() error {
		again := resource.DeepCopy()
		again.SetResourceVersion("")
		again.SetUID("")
		return cluster.Client.Create(ctx, again)
	})
}

func overwriteStatus(ctx context.Context, w *walker, choice uint64) (string, error) {
	patch := []string{
		`{"status":{"phase":"Failed","readiness":"9/9","conditions":[]}}`,
		`{"status":null}`,
		`{"status":{"url":"http://foreign.example.com","replicas":77,"observedGeneration":1}}`,
	}[choice%3]
	app := w.app.DeepCopy()
	err := cluster.Client.Status().Patch(ctx, app, client.RawPatch(types.MergePatchType, []byte(patch)), client.FieldOwner("somebody"))
	return patch, err
}

func deleteRecord(ctx context.Context, w *walker, _ uint64) (string, error) {
	err := cluster.Client.DeleteAllOf(ctx, &corev1.Secret{}, client.InNamespace(w.app.Namespace), client.MatchingLabels{"owner": "helm", "name": name})
	return "all of them", err
}

// pick picks one of the AppService's objects, except the Job of a release task: that is not made again, as the walks of AppJobs show.
func (w *walker) pick(ctx context.Context, choice uint64) (*unstructured.Unstructured, error) {
	objects, err := endstate.Objects(ctx, cluster.Client, w.app)
	objects = slices.DeleteFunc(objects, func(object *unstructured.Unstructured) bool { return object.GetKind() == "Job" })
	if err != nil || len(objects) == 0 {
		return nil, err
	}
	return objects[choice%uint64(len(objects))], nil
}

// deleteObject deletes any object but a claim, which stays for as long as a pod uses it, and a Secret with generated values: see loseSecret.
func deleteObject(ctx context.Context, w *walker, choice uint64) (string, error) {
	object, err := w.pick(ctx, choice)
	if object == nil || err != nil || object.GetKind() == "PersistentVolumeClaim" || object.GetAnnotations()[v1.AnnotationGenerate] != "" {
		return "", err
	}
	propagation := client.PropagationPolicy("Background")
	return object.GetKind(), client.IgnoreNotFound(cluster.Client.Delete(ctx, object, propagation))
}
