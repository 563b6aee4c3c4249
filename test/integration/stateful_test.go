//go:build cluster

package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// stateful is an AppService whose replicas have volumes of their own, of a class.
func stateful(namespace, class string) *v1.AppService {
	app := harness.Seed(namespace, "web")
	app.Spec.Persistence = &v1.Persistence{
		PerReplica: true, Size: resource.MustParse("1Gi"), StorageClassName: &class, MountPath: "/data",
		PodManagementPolicy: appsv1.ParallelPodManagement,
	}
	return app
}

// claims waits until claims of a namespace exist, each of a size, as in "data-web-0 1Gi", and returns their UIDs.
func claims(t *testing.T, namespace string, expected ...string) []types.UID {
	t.Helper()
	var uids []types.UID
	harness.Eventually(t, fmt.Sprintf("the claims are %q", expected), func() error {
		list := &corev1.PersistentVolumeClaimList{}
		if err := cluster.Client.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
			return err
		}
		var found []string
		uids = nil
		for i := range list.Items {
			found = append(found, list.Items[i].Name+" "+list.Items[i].Spec.Resources.Requests.Storage().String())
			uids = append(uids, list.Items[i].UID)
		}
		if !slices.Equal(found, expected) {
			return fmt.Errorf("there are %q", found)
		}
		return nil
	})
	return uids
}

// podsOf returns the UIDs of the pods of a namespace, by name.
func podsOf(t *testing.T, namespace string) map[string]types.UID {
	t.Helper()
	list := &corev1.PodList{}
	cluster.List(t, list, client.InNamespace(namespace))
	found := map[string]types.UID{}
	for i := range list.Items {
		found[list.Items[i].Name] = list.Items[i].UID
	}
	return found
}

func TestReplicasWithVolumesOfTheirOwn(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := stateful(namespace, harness.StaticVolumes)
	cluster.CreateReady(t, app)
	set, service := &appsv1.StatefulSet{}, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web-headless"}}
	get(t, app, set)
	require.NoError(t, present(t, service))
	if service.Spec.ClusterIP != corev1.ClusterIPNone || set.Spec.ServiceName != service.Name {
		t.Errorf("got serviceName %q, clusterIP %q", set.Spec.ServiceName, service.Spec.ClusterIP)
	}
	assert.NoError(t, gone(t, namespace, "web", &appsv1.Deployment{}, &corev1.PersistentVolumeClaim{}))
	uids := claims(t, namespace, "data-web-0 1Gi", "data-web-1 1Gi")
	if app.Status.Readiness != "2/2" || app.Status.Replicas != 2 || app.Status.UpdatedReplicas != 2 || app.Status.Selector == "" {
		t.Errorf("got status %+v", app.Status)
	}
	cluster.Condition(t, app, v1.ConditionAvailable, metav1.ConditionTrue, "MinimumReplicasAvailable")
	cluster.Condition(t, app, v1.ConditionProgressing, metav1.ConditionTrue, v1.ReasonRunning)
	manager.Rest(t)
	if repairs := repairsOf(t, namespace); len(repairs) > 0 {
		t.Errorf("something was repaired after the install: %q", repairs)
	}

	before := podsOf(t, namespace)
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:1.27" })
	cluster.Ready(t, app)
	cluster.Change(t, app, func(app *v1.AppService) { app.Annotations = map[string]string{v1.AnnotationRestartedAt: "now"} })
	harness.Eventually(t, "it was restarted", func() error {
		get(t, app, set)
		return want("annotation", set.Spec.Template.Annotations[v1.AnnotationRestartedAt], "now")
	})
	cluster.Ready(t, app)
	after := podsOf(t, namespace)
	for name, uid := range before {
		if after[name] == uid {
			t.Errorf("pod %s is the one from before", name)
		}
	}

	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 3}}
	require.NoError(t, cluster.Client.SubResource("scale").Update(t.Context(), app, client.WithSubResourceBody(scale)))
	claims(t, namespace, "data-web-0 1Gi", "data-web-1 1Gi", "data-web-2 1Gi")
	cluster.Ready(t, app)
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Size = ptr.To[int32](1) })
	harness.Eventually(t, "one pod is left", func() error { return want("pods", len(podsOf(t, namespace)), 1) })
	cluster.Ready(t, app)
	if kept := claims(t, namespace, "data-web-0 1Gi", "data-web-1 1Gi", "data-web-2 1Gi"); !slices.Equal(kept[:2], uids) {
		t.Errorf("got the claims %v, want %v kept", kept, uids)
	}

	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Paused, app.Spec.Size = true, ptr.To[int32](2) })
	cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionUnknown, v1.ReasonPaused)
	get(t, app, set)
	assert.NoError(t, want("replicas while it is paused", *set.Spec.Replicas, 1))
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Paused = false })
	cluster.Ready(t, app)
	get(t, app, set)
	assert.NoError(t, want("replicas after the pause", *set.Spec.Replicas, 2))
}

func TestWhatOthersChangeOfAStatefulSetIsPutBack(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := stateful(namespace, harness.StaticVolumes)
	cluster.CreateReady(t, app)
	set := &appsv1.StatefulSet{}
	for _, edit := range []struct{ patch, note string }{
		{`{"spec":{"replicas":5}}`, "spec.replicas 5 → 2"},
		{`{"spec":{"updateStrategy":{"rollingUpdate":{"partition":7}}}}`, "spec.updateStrategy.rollingUpdate.partition 7 → 0"},
		{`{"spec":{"template":{"metadata":{"annotations":{"added":"x"}}}}}`, "spec.template.metadata.annotations (object) → (none)"},
		{`{"spec":{"template":{"spec":{"containers":[{"name":"app","image":"evil"}]}}}}`, "image evil → nginx:1.7.9"},
		{`{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete"}}}`, "spec.persistentVolumeClaimRetentionPolicy.whenDeleted Delete → Retain"},
	} {
		get(t, app, set)
		cluster.Patch(t, set, client.RawPatch(types.StrategicMergePatchType, []byte(edit.patch)))
		eventually(t, app, v1.ReasonDriftCorrected, edit.note)
	}
	uids := claims(t, namespace, "data-web-0 1Gi", "data-web-1 1Gi", "data-web-2 1Gi", "data-web-3 1Gi", "data-web-4 1Gi")
	harness.Eventually(t, "no claim goes with the StatefulSet, as the last edit had it", func() error {
		list := &corev1.PersistentVolumeClaimList{}
		if err := cluster.Client.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
			return err
		}
		for i := range list.Items {
			if owners := list.Items[i].OwnerReferences; len(owners) > 0 {
				return fmt.Errorf("%s is owned by %v", list.Items[i].Name, owners)
			}
		}
		return nil
	})
	get(t, app, set)
	cluster.Delete(t, set, client.PropagationPolicy(metav1.DeletePropagationBackground))
	harness.Eventually(t, "the StatefulSet is made again", func() error {
		again := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
		if err := present(t, again); err != nil {
			return err
		}
		if again.UID == set.UID {
			return fmt.Errorf("it is the one from before")
		}
		return nil
	})
	cluster.Ready(t, app)
	if kept := claims(t, namespace, "data-web-0 1Gi", "data-web-1 1Gi", "data-web-2 1Gi", "data-web-3 1Gi", "data-web-4 1Gi"); !slices.Equal(kept, uids) {
		t.Errorf("got the claims %v, want %v kept", kept, uids)
	}
}

func TestClaimsOfReplicasGrow(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := stateful(namespace, harness.GrowingVolumes)
	cluster.CreateReady(t, app)
	claims(t, namespace, "data-web-0 1Gi", "data-web-1 1Gi")
	set := &appsv1.StatefulSet{}
	get(t, app, set)
	pods := podsOf(t, namespace)

	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Persistence.Size = resource.MustParse("2Gi") })
	claims(t, namespace, "data-web-0 2Gi", "data-web-1 2Gi")
	cluster.Ready(t, app)
	manager.Rest(t)
	after := &appsv1.StatefulSet{}
	get(t, app, after)
	if after.UID != set.UID {
		t.Error("the StatefulSet was made again")
	}
	for name, uid := range podsOf(t, namespace) {
		if pods[name] != uid {
			t.Errorf("pod %s was made again", name)
		}
	}
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Size = ptr.To[int32](3) })
	claims(t, namespace, "data-web-0 2Gi", "data-web-1 2Gi", "data-web-2 2Gi")
	cluster.Ready(t, app)

	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "data-web-0"}}
	cluster.Patch(t, claim, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"resources":{"requests":{"storage":"3Gi"}}}}`)))
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:1.27" })
	cluster.Ready(t, app)
	manager.Rest(t)
	claims(t, namespace, "data-web-0 3Gi", "data-web-1 2Gi", "data-web-2 2Gi") // a larger size by a user stays

	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Persistence.Size = resource.MustParse("1Gi") })
	condition := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonImmutableChange)
	if !strings.Contains(condition.Message, `PersistentVolumeClaim "data-web-`) || !strings.Contains(condition.Message, "set it back") {
		t.Errorf("got message %s", condition.Message)
	}
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Persistence.Size = resource.MustParse("2Gi") })
	cluster.Ready(t, app)
}

func TestWhatCannotBecomeOfClaimsIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*v1.Persistence)
		words  []string
	}{
		"a size that its class does not allow": {
			func(p *v1.Persistence) { p.Size = resource.MustParse("2Gi") },
			[]string{`spec.resources.requests.storage of PersistentVolumeClaim "data-web-0" cannot change from 1Gi to 2Gi, because its StorageClass does not allow expansion`},
		},
		"another class": {
			func(p *v1.Persistence) { p.StorageClassName = ptr.To("other") },
			[]string{`spec.volumeClaimTemplates[0].spec.storageClassName of StatefulSet "web" cannot change`, "--cascade=orphan"},
		},
		"another order": {
			func(p *v1.Persistence) { p.PodManagementPolicy = appsv1.OrderedReadyPodManagement },
			[]string{`spec.podManagementPolicy of StatefulSet "web" cannot change from Parallel to OrderedReady`, "--cascade=orphan"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace, _ := cluster.ManagedNamespace(t)
			app := stateful(namespace, harness.FixedVolumes)
			cluster.CreateReady(t, app)
			cluster.Change(t, app, func(app *v1.AppService) {
				app.Spec.Image = "nginx:1.27"
				test.change(app.Spec.Persistence)
			})
			condition := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonImmutableChange)
			for _, words := range test.words {
				if !strings.Contains(condition.Message, words) {
					t.Errorf("got message %s, want in it %s", condition.Message, words)
				}
			}
			set := &appsv1.StatefulSet{}
			get(t, app, set)
			assert.NoError(t, want("image", set.Spec.Template.Spec.Containers[0].Image, "nginx:1.7.9"))
			claims(t, namespace, "data-web-0 1Gi", "data-web-1 1Gi")
		})
	}
}

func TestClaimsOfReplicasStayOrGo(t *testing.T) {
	t.Parallel()
	cluster.CollectsGarbage(t)
	for name, test := range map[string]struct {
		retain     *bool
		whenScaled appsv1.PersistentVolumeClaimRetentionPolicyType
		scaled     []string
		deleted    []string
	}{
		"by default they stay": {nil, "", []string{"data-web-0 1Gi", "data-web-1 1Gi"}, []string{"data-web-0 1Gi", "data-web-1 1Gi"}},
		"they go with replicas": {
			nil, appsv1.DeletePersistentVolumeClaimRetentionPolicyType, []string{"data-web-0 1Gi"}, []string{"data-web-0 1Gi"},
		},
		"they go with the AppService": {ptr.To(false), "", []string{"data-web-0 1Gi", "data-web-1 1Gi"}, nil},
		"they go with both":           {ptr.To(false), appsv1.DeletePersistentVolumeClaimRetentionPolicyType, []string{"data-web-0 1Gi"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace, manager := cluster.ManagedNamespace(t)
			app := stateful(namespace, harness.StaticVolumes)
			app.Spec.Persistence.Retain, app.Spec.Persistence.WhenScaled = test.retain, test.whenScaled
			cluster.CreateReady(t, app)
			uids := claims(t, namespace, "data-web-0 1Gi", "data-web-1 1Gi")
			cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Size = ptr.To[int32](1) })
			claims(t, namespace, test.scaled...)
			cluster.Ready(t, app)
			manager.Rest(t)
			if repairs := repairsOf(t, namespace); len(repairs) > 0 {
				t.Errorf("something was repaired: %q", repairs)
			}
			cluster.Delete(t, app)
			harness.Eventually(t, "the AppService and its StatefulSet are gone", func() error {
				if err := gone(t, namespace, "web", &v1.AppService{}, &appsv1.StatefulSet{}); err != nil {
					return err
				}
				return want("pods", len(podsOf(t, namespace)), 0)
			})
			claims(t, namespace, test.deleted...)
			if len(test.deleted) == 0 {
				return
			}
			again := stateful(namespace, harness.StaticVolumes)
			cluster.Create(t, again)
			refused := cluster.Condition(t, again, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonResourceExists)
			assert.Contains(t, refused.Message, `PersistentVolumeClaim "data-web-0" exists and is not its own (annotation`)
			adopts(t, again)
			cluster.Ready(t, app)
			if again := claims(t, namespace, "data-web-0 1Gi", "data-web-1 1Gi"); again[0] != uids[0] {
				t.Error("the claim was not taken again")
			}
		})
	}
}

func TestAStatefulSetIsAutoscaled(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := stateful(namespace, harness.StaticVolumes)
	app.Spec.Size, app.Spec.Resources = ptr.To[int32](3), cpuRequest()
	app.Spec.Autoscaling = &v1.Autoscaling{MinReplicas: ptr.To[int32](2), MaxReplicas: 9, Behavior: noScaleDown()}
	cluster.CreateReady(t, app)
	set, scaler := &appsv1.StatefulSet{}, &autoscalingv2.HorizontalPodAutoscaler{}
	get(t, app, scaler)
	get(t, app, set)
	if scaler.Spec.ScaleTargetRef.Kind != "StatefulSet" || *set.Spec.Replicas < 3 {
		t.Errorf("got target %s, %d replicas", scaler.Spec.ScaleTargetRef.Kind, *set.Spec.Replicas)
	}
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 5}} // as an autoscaler does
	require.NoError(t, cluster.Client.SubResource("scale").Update(t.Context(), set, client.WithSubResourceBody(scale)))
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:1.27" })
	cluster.Ready(t, app)
	manager.Rest(t)
	get(t, app, set)
	assert.NoError(t, want("replicas", *set.Spec.Replicas, 5))
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Autoscaling, app.Spec.Size = nil, ptr.To[int32](1) })
	cluster.Ready(t, app)
	get(t, app, set)
	assert.NoError(t, want("replicas without an autoscaler", *set.Spec.Replicas, 1))
}

func TestAPodThatHoldsUpARolloutIsNamed(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := stateful(namespace, harness.StaticVolumes)
	app.Spec.Persistence.PodManagementPolicy = ""
	cluster.CreateReady(t, app)
	cluster.Change(t, app, func(app *v1.AppService) {
		app.Spec.PodAnnotations = map[string]v1.Annotation{"script.kwok.x-k8s.io/status": v1.Annotation(noImage)}
	})
	condition := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonImageNotFound)
	if !strings.Contains(condition.Message, "the previous version still serves") {
		t.Errorf("got message %s", condition.Message)
	}
	if app.Status.Phase != v1.PhaseDegraded {
		t.Errorf("got phase %s", app.Status.Phase)
	}
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.PodAnnotations = nil })
	harness.Eventually(t, "the pod is named", func() error {
		if err := present(t, app); err != nil {
			return err
		}
		for _, problem := range app.Status.Problems {
			if strings.Contains(problem.Hint, "delete pod web-1") {
				return nil
			}
		}
		return fmt.Errorf("the problems are %v", app.Status.Problems)
	})
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web-1"}}
	cluster.Delete(t, pod)
	cluster.Ready(t, app)
}
