//go:build cluster

package integration

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// theirs are a Deployment and a Service that were made by hand, with another selector.
type theirs struct {
	deployment *appsv1.Deployment
	service    *corev1.Service
}

// seedToAdopt is an AppService that asks to adopt the objects of its names.
func seedToAdopt(namespace string) *v1.AppService {
	app := harness.Seed(namespace, "web")
	app.Annotations = map[string]string{v1.AnnotationAdopt: "true"}
	return app
}

// byHand creates what an AppService renders by hand: its pods have the same containers, and other labels.
func byHand(t *testing.T, namespace string, label map[string]string, meta metav1.ObjectMeta) theirs {
	t.Helper()
	elsewhere := cluster.Namespace(t)
	manager := cluster.Manager(t, elsewhere)
	like := harness.Seed(elsewhere, "web")
	cluster.CreateReady(t, like)
	made := &appsv1.Deployment{}
	get(t, like, made)
	manager.Stop(t)
	meta.Namespace, meta.Name = namespace, "web"
	deployment := &appsv1.Deployment{ObjectMeta: *meta.DeepCopy(), Spec: appsv1.DeploymentSpec{
		Replicas: ptr.To[int32](2), Selector: &metav1.LabelSelector{MatchLabels: label}, Template: *made.Spec.Template.DeepCopy(),
	}}
	deployment.Spec.Template.ObjectMeta = metav1.ObjectMeta{Labels: label, Annotations: made.Spec.Template.Annotations}
	swapInSpread(&deployment.Spec.Template.Spec, label)
	service := &corev1.Service{ObjectMeta: *meta.DeepCopy(), Spec: corev1.ServiceSpec{Selector: label, Ports: []corev1.ServicePort{{Name: "mine", Port: 80}}}}
	cluster.Create(t, deployment)
	cluster.Create(t, service)
	cluster.Becomes(t, "its pods run", deployment, func() error { return want("available", deployment.Status.AvailableReplicas, 2) })
	return theirs{deployment, service}
}

// swapInSpread has pods spread by their own labels.
func swapInSpread(pods *corev1.PodSpec, label map[string]string) {
	for i := range pods.TopologySpreadConstraints {
		pods.TopologySpreadConstraints[i].LabelSelector = &metav1.LabelSelector{MatchLabels: label}
	}
	if pods.Affinity == nil || pods.Affinity.PodAntiAffinity == nil {
		return
	}
	for i := range pods.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
		pods.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution[i].PodAffinityTerm.LabelSelector = &metav1.LabelSelector{MatchLabels: label}
	}
}

// whatRuns lists the UIDs of pods and ReplicaSets of a namespace.
func whatRuns(t *testing.T, namespace string) []string {
	t.Helper()
	pods, sets := &corev1.PodList{}, &appsv1.ReplicaSetList{}
	for _, list := range []client.ObjectList{pods, sets} {
		cluster.List(t, list, client.InNamespace(namespace))
	}
	var all []string
	for _, pod := range pods.Items {
		all = append(all, "Pod "+string(pod.UID))
	}
	for _, set := range sets.Items {
		all = append(all, "ReplicaSet "+string(set.UID))
	}
	slices.Sort(all)
	return all
}

// adopted checks that the AppService owns these objects completely, and that they still select the same pods.
func adopted(t *testing.T, app *v1.AppService, was theirs, label map[string]string) {
	t.Helper()
	deployment, service := &appsv1.Deployment{}, &corev1.Service{}
	for before, now := range map[client.Object]client.Object{was.deployment: deployment, was.service: service} {
		get(t, app, now)
		if now.GetUID() != before.GetUID() {
			t.Errorf("%T is another object", now)
		}
		if !metav1.IsControlledBy(now, app) || now.GetLabels()[v1.LabelManaged] != "true" || now.GetAnnotations()[v1.AnnotationStamp] == "" {
			t.Errorf("%T is not the AppService's: %v", now, now.GetOwnerReferences())
		}
		for _, entry := range now.GetManagedFields() {
			if entry.Subresource == "" && entry.Manager != "appservice-operator" {
				t.Errorf("%s still manages %T: %s", entry.Manager, now, entry.FieldsV1)
			}
		}
	}
	if !maps.Equal(deployment.Spec.Selector.MatchLabels, label) || !maps.Equal(service.Spec.Selector, label) {
		t.Errorf("the selectors are %v and %v, want %v", deployment.Spec.Selector.MatchLabels, service.Spec.Selector, label)
	}
}

func TestAPlainDeploymentIsAdoptedWithoutARestart(t *testing.T) {
	t.Parallel()
	namespace, label := cluster.Namespace(t), map[string]string{"app": "web"}
	was := byHand(t, namespace, label, metav1.ObjectMeta{})
	pods := whatRuns(t, namespace)
	manager := cluster.Manager(t, namespace)
	app := seedToAdopt(namespace)
	cluster.CreateReady(t, app)
	adopted(t, app, was, label)
	eventually(t, app, v1.ReasonAdopted, "Deployment web")
	installedWith(t, app, 1)

	// The selector stays in every later version, also of a process that knows of none.
	manager.Stop(t)
	cluster.Manager(t, namespace)
	cluster.Change(t, app, func(app *v1.AppService) {
		delete(app.Annotations, v1.AnnotationAdopt)
		app.Spec.MinReadySeconds = ptr.To[int32](1)
	})
	cluster.Ready(t, app)
	adopted(t, app, was, label)
	if now := whatRuns(t, namespace); !slices.Equal(now, pods) {
		t.Errorf("pods or ReplicaSets were replaced: %v, want %v", now, pods)
	}
}

// installedWith waits until Helm's storage has the first revisions of an AppService, and nothing else.
func installedWith(t *testing.T, app *v1.AppService, revisions int) {
	t.Helper()
	harness.Eventually(t, "the records are the AppService's own", func() error {
		list := &corev1.SecretList{}
		if err := cluster.Client.List(t.Context(), list, client.InNamespace(app.Namespace), client.MatchingLabels{"owner": "helm"}); err != nil {
			return err
		}
		var names, wanted []string
		for i := range list.Items {
			if metav1.IsControlledBy(&list.Items[i], app) {
				names = append(names, list.Items[i].Name)
			}
		}
		for revision := range revisions {
			wanted = append(wanted, fmt.Sprintf("sh.helm.release.v1.%s.v%d", app.Name, revision+1))
		}
		if err := want("records", len(list.Items), revisions); err != nil {
			return err
		}
		return want("records of its own", fmt.Sprint(names), fmt.Sprint(wanted))
	})
}

func TestAnAdoptionThatIsRefusedNamesTheFieldsAndWritesNothing(t *testing.T) {
	t.Parallel()
	label := map[string]string{"app": "web"}
	cases := map[string]struct {
		prepare func(t *testing.T, was theirs)
		spec    func(*v1.AppService)
		says    []string
	}{
		"pods would restart, of several fields": {
			prepare: func(t *testing.T, was theirs) {
				t.Helper()
				cluster.Edit(t, was.deployment, func() {
					container := &was.deployment.Spec.Template.Spec.Containers[0]
					container.Env = append(container.Env, corev1.EnvVar{Name: "EXTRA", Value: "secret"})
				})
			},
			spec: func(app *v1.AppService) { app.Spec.Image = "nginx:1.8" },
			says: []string{"containers[app].env", "containers[app].image nginx:1.7.9 → nginx:1.8: ", v1.AnnotationAdoptRestart},
		},
		"pods would end": {
			spec: func(app *v1.AppService) { app.Spec.Size = ptr.To[int32](1) },
			says: []string{"Deployment web: 1 of its pods would end: spec.replicas 2 → 1"},
		},
		"two objects are somebody else's": {
			prepare: func(t *testing.T, was theirs) {
				t.Helper()
				boss := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: was.service.Namespace, Name: "boss"}}
				cluster.Create(t, boss)
				reference := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "boss", UID: boss.UID, Controller: ptr.To(true)}
				cluster.Edit(t, was.service, func() { was.service.OwnerReferences = []metav1.OwnerReference{reference} })
				cluster.Edit(t, was.deployment, func() {
					was.deployment.Annotations = map[string]string{"meta.helm.sh/release-name": "other", "meta.helm.sh/release-namespace": was.service.Namespace}
				})
			},
			says: []string{`Service web is controlled by ConfigMap "boss"`, `Deployment web is part of Helm release "other"`, v1.AnnotationAdoptRelease},
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := cluster.Namespace(t)
			was := byHand(t, namespace, label, metav1.ObjectMeta{})
			if test.prepare != nil {
				test.prepare(t, was)
			}
			app := seedToAdopt(namespace)
			if test.spec != nil {
				test.spec(app)
			}
			manager := cluster.Manager(t, namespace)
			mark := manager.Requests.Mark()
			cluster.Create(t, app)
			condition := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonAdoptionRefused)
			said := condition.Message
			for _, problem := range app.Status.Problems {
				said += "\n" + problem.Message
			}
			for _, part := range test.says {
				if !strings.Contains(said, part) {
					t.Errorf("nobody says %q: %s", part, said)
				}
			}
			if strings.Contains(said, "secret") {
				t.Errorf("a value is shown: %s", said)
			}
			for _, write := range manager.Requests.WritesSince(mark) {
				if !strings.HasSuffix(write.Path, "/status") && !strings.HasSuffix(write.Path, "/events") {
					t.Errorf("something was written: %s", write)
				}
			}
			now := &corev1.Service{}
			get(t, app, now)
			if now.ResourceVersion != was.service.ResourceVersion {
				t.Error("the Service was written")
			}
		})
	}
}

// A selector by expressions cannot be kept, since a Service has none.
func TestASelectorThatCannotBeKeptIsRefused(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpExists}}},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "x"}}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "x"}}}},
	}}
	cluster.Create(t, deployment)
	cluster.Manager(t, namespace)
	app := seedToAdopt(namespace)
	app.Annotations[v1.AnnotationAdoptRestart] = "true"
	cluster.Create(t, app)
	condition := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonAdoptionRefused)
	if !strings.Contains(condition.Message, "spec.selector") {
		t.Errorf("the message does not name the field: %s", condition.Message)
	}
	assert.NoError(t, gone(t, namespace, "web", &corev1.Service{}, &networkingv1.Ingress{}))
}

func TestAnAdoptionMayRestartPodsIfAllowed(t *testing.T) {
	t.Parallel()
	namespace, label := cluster.Namespace(t), map[string]string{"app": "web"}
	was := byHand(t, namespace, label, metav1.ObjectMeta{})
	cluster.Manager(t, namespace)
	app := seedToAdopt(namespace)
	app.Spec.Image = "nginx:1.8"
	cluster.Create(t, app)
	cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonAdoptionRefused)
	cluster.Change(t, app, func(app *v1.AppService) { app.Annotations[v1.AnnotationAdoptRestart] = "true" })
	cluster.Ready(t, app)
	adopted(t, app, was, label)
	sets := &appsv1.ReplicaSetList{}
	cluster.List(t, sets, client.InNamespace(namespace))
	if len(sets.Items) != 2 {
		t.Errorf("there are %d ReplicaSets, want 2: one rollout, not two", len(sets.Items))
	}
}

// Objects of an AppService that was deleted with --cascade=orphan are adopted again by the next one of its name, record included.
func TestWhatWasOrphanedIsTakenBack(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Ports[0].NodePort = nil
	cluster.CreateReady(t, app)
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.MinReadySeconds = ptr.To[int32](1) })
	cluster.Ready(t, app)
	installedWith(t, app, 2)
	was := theirs{&appsv1.Deployment{}, &corev1.Service{}}
	get(t, app, was.deployment)
	get(t, app, was.service)
	pods := whatRuns(t, namespace)
	cluster.Delete(t, app, client.PropagationPolicy(metav1.DeletePropagationOrphan))
	harness.Eventually(t, "the AppService is gone", func() error { return gone(t, namespace, "web", &v1.AppService{}) })
	again := harness.Seed(namespace, "web")
	again.Spec.MinReadySeconds = ptr.To[int32](1)
	cluster.Create(t, again)
	refused := cluster.Condition(t, again, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonResourceExists)
	assert.Contains(t, refused.Message, `left by an earlier resource of this name (annotation app.example.com/adopt: "true" takes it over)`)
	adopts(t, again)
	cluster.Ready(t, again)
	adopted(t, again, was, was.deployment.Spec.Selector.MatchLabels)
	installedWith(t, again, 1)
	if now := whatRuns(t, namespace); !slices.Equal(now, pods) {
		t.Errorf("pods or ReplicaSets were replaced: %v, want %v", now, pods)
	}
}

// adopts has an AppService ask to take over what exists under its names.
func adopts(t *testing.T, app *v1.AppService) {
	t.Helper()
	cluster.Change(t, app, func(app *v1.AppService) { metav1.SetMetaDataAnnotation(&app.ObjectMeta, v1.AnnotationAdopt, "true") })
}

// An adoption takes over an object that the stage before a release needs, too, before its task runs, and nothing of one that is refused.
func TestAnObjectOfTheStageBeforeIsAdopted(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "shop-release"}, Data: map[string]string{"VERSION": "shop:0", "OLD": "x"}}
	cluster.Create(t, config)
	uid := config.UID
	app := migrated(namespace)
	cluster.Create(t, app)
	cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonResourceExists)
	cluster.Change(t, app, func(app *v1.AppService) { app.Annotations = map[string]string{v1.AnnotationAdopt: "true"} })
	cluster.Ready(t, app)
	cluster.Refresh(t, config)
	if !metav1.IsControlledBy(config, app) || config.UID != uid || config.Data["VERSION"] != "shop:1" {
		t.Errorf("got %+v", config)
	}
	eventually(t, app, v1.ReasonAdopted, "ConfigMap shop-release")
	manager.Rest(t)
}
