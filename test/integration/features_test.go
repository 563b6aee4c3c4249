//go:build cluster

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

func TestPausedLeavesEverythingAsItIs(t *testing.T) {
	t.Parallel()
	cluster.CollectsGarbage(t)
	app := withEverything(t)
	cluster.Change(t, app, func(app *v1.AppService) {
		app.Spec.Paused = true
		app.Spec.Image = "nginx:1.27"
	})
	cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionUnknown, v1.ReasonPaused)
	if app.Status.Phase != v1.PhasePaused {
		t.Errorf("phase: got %s, want Paused", app.Status.Phase)
	}
	cluster.Condition(t, app, v1.ConditionStalled, metav1.ConditionFalse, "")
	cluster.Condition(t, app, v1.ConditionReconciling, metav1.ConditionFalse, "")
	cluster.Condition(t, app, v1.ConditionAvailable, metav1.ConditionTrue, "")
	deployment := &appsv1.Deployment{}
	get(t, app, deployment)
	if got := deployment.Spec.Template.Spec.Containers[0].Image; got != "nginx:1.7.9" {
		t.Errorf("the Deployment runs %s although it is paused", got)
	}
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Paused = false })
	cluster.Ready(t, app)
	get(t, app, deployment)
	if got := deployment.Spec.Template.Spec.Containers[0].Image; got != "nginx:1.27" {
		t.Errorf("the Deployment runs %s after the pause", got)
	}
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Paused = true })
	cluster.Delete(t, app)
	harness.Eventually(t, "deletion goes on while paused", func() error {
		return gone(t, app.Namespace, "web", &v1.AppService{}, &appsv1.Deployment{})
	})
}

func TestARetainedClaimOutlivesItsAppServiceAndIsTakenAgain(t *testing.T) {
	t.Parallel()
	cluster.CollectsGarbage(t)
	namespace, _ := cluster.ManagedNamespace(t)
	withClaim := func(retain *bool) *v1.AppService {
		app := harness.Seed(namespace, "web")
		app.Spec.Size = ptr.To[int32](0) // the test cluster has no storage to bind the claim
		app.Spec.Persistence = &v1.Persistence{Size: resource.MustParse("1Gi"), MountPath: "/data", StorageClassName: ptr.To("none"), Retain: retain}
		return app
	}
	app := withClaim(nil)
	cluster.CreateReady(t, app)
	claim := &corev1.PersistentVolumeClaim{}
	get(t, app, claim)
	uid := claim.UID
	if len(claim.OwnerReferences) != 0 || claim.Annotations[v1.AnnotationRetainedFor] != "web" {
		t.Fatalf("the claim is not retained: %v %v", claim.OwnerReferences, claim.Annotations)
	}
	remove(t, app)
	get(t, app, claim)

	again := withClaim(ptr.To(false)) // the claim is adopted, and deleted with the AppService
	cluster.Create(t, again)
	refused := cluster.Condition(t, again, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonResourceExists)
	assert.Contains(t, refused.Message, `PersistentVolumeClaim "web" exists and is not its own (annotation app.example.com/adopt: "true" takes it over, with its data)`)
	get(t, app, claim)
	if claim.UID != uid || claim.Labels[v1.LabelOwner] != string(app.UID) {
		t.Errorf("the claim of another AppService was changed: %s %v", claim.UID, claim.Labels)
	}
	adopts(t, again)
	cluster.Ready(t, again)
	get(t, again, claim)
	if owner := metav1.GetControllerOf(claim); claim.UID != uid || owner == nil || owner.UID != again.UID {
		t.Errorf("the claim was not taken: %s %v, want %s controlled by %s", claim.UID, owner, uid, again.UID)
	}
	cluster.Change(t, again, func(app *v1.AppService) { app.Spec.Persistence.Retain = ptr.To(true) })
	cluster.Ready(t, again)
	get(t, again, claim)
	if len(claim.OwnerReferences) != 0 {
		t.Errorf("the claim still has an owner: %v", claim.OwnerReferences)
	}
	cluster.Change(t, again, func(app *v1.AppService) { app.Spec.Persistence = nil })
	cluster.Ready(t, again)
	get(t, again, claim) // leaving a field out deletes no data
	cluster.Change(t, again, func(app *v1.AppService) { app.Spec.Persistence = withClaim(ptr.To(false)).Spec.Persistence })
	cluster.Ready(t, again)
	remove(t, again)
	harness.Eventually(t, "a claim that is not retained goes", func() error {
		return gone(t, namespace, "web", &corev1.PersistentVolumeClaim{})
	})
}

func remove(t *testing.T, app *v1.AppService) {
	t.Helper()
	cluster.Delete(t, app)
	harness.Eventually(t, "the AppService and its Deployment are gone", func() error {
		return gone(t, app.Namespace, app.Name, &v1.AppService{}, &appsv1.Deployment{})
	})
}

func TestAutoscalingTakesAndGivesBackTheNumberOfReplicas(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Size, app.Spec.Resources = ptr.To[int32](4), cpuRequest()
	cluster.CreateReady(t, app)

	least := watchReplicas(t, app)
	cluster.Change(t, app, func(app *v1.AppService) {
		app.Spec.Autoscaling = &v1.Autoscaling{MinReplicas: ptr.To[int32](2), MaxReplicas: 9, Behavior: noScaleDown()}
	})
	cluster.Ready(t, app)
	get(t, app, &autoscalingv2.HorizontalPodAutoscaler{})
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 7}} // as an autoscaler does
	deployment := &appsv1.Deployment{}
	get(t, app, deployment)
	require.NoError(t, cluster.Client.SubResource("scale").Update(t.Context(), deployment, client.WithSubResourceBody(scale)))
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:1.27" })
	cluster.Ready(t, app)
	manager.Rest(t)
	get(t, app, deployment)
	if got := *deployment.Spec.Replicas; got != 7 {
		t.Errorf("replicas: got %d, want the autoscaler's 7", got)
	}
	if got := least(); got < 4 {
		t.Errorf("the number of replicas fell to %d while autoscaling took over from 4", got)
	}
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Autoscaling = nil })
	cluster.Ready(t, app)
	get(t, app, deployment)
	if got := *deployment.Spec.Replicas; got != 4 {
		t.Errorf("replicas: got %d, want the spec's 4 again", got)
	}
	assert.NoError(t, gone(t, namespace, "web", &autoscalingv2.HorizontalPodAutoscaler{}))
}

func TestAutoscalingStartsWithTheSize(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Size, app.Spec.Resources = ptr.To[int32](3), cpuRequest()
	app.Spec.Autoscaling = &v1.Autoscaling{MaxReplicas: 9, Behavior: noScaleDown()}
	cluster.CreateReady(t, app)
	deployment := &appsv1.Deployment{}
	get(t, app, deployment)
	if got := *deployment.Spec.Replicas; got != 3 {
		t.Errorf("replicas: got %d, want 3 to start with", got)
	}
}

func TestASizeThatIsChangedUnderAutoscalingIsToldToHaveNoEffect(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Size, app.Spec.Resources = ptr.To[int32](2), cpuRequest()
	app.Spec.Autoscaling = &v1.Autoscaling{MaxReplicas: 9, Behavior: noScaleDown()}
	cluster.Create(t, app)
	steps := []struct {
		change   func(spec *v1.AppServiceSpec)
		replicas int32
		problem  string // the end of the message, "" for none
	}{
		{func(*v1.AppServiceSpec) {}, 2, ""},
		{func(spec *v1.AppServiceSpec) { spec.Size = ptr.To[int32](5) }, 2, "autoscaling started with 2"},
		{func(spec *v1.AppServiceSpec) { spec.Size = ptr.To[int32](2) }, 2, ""},
		{func(spec *v1.AppServiceSpec) { spec.Size = ptr.To[int32](5) }, 2, "autoscaling started with 2"},
		{func(spec *v1.AppServiceSpec) { spec.Autoscaling = nil }, 5, ""},
		{func(spec *v1.AppServiceSpec) {
			spec.Autoscaling = &v1.Autoscaling{MaxReplicas: 9, Behavior: noScaleDown()}
		}, 5, ""},
		{func(spec *v1.AppServiceSpec) { spec.Size = ptr.To[int32](2) }, 5, "autoscaling started with 5"},
	}
	for i, step := range steps {
		cluster.Change(t, app, func(app *v1.AppService) { step.change(&app.Spec) })
		cluster.Ready(t, app)
		deployment := &appsv1.Deployment{}
		get(t, app, deployment)
		if got := *deployment.Spec.Replicas; got != step.replicas {
			t.Errorf("step %d: got %d replicas, want %d", i, got, step.replicas)
		}
		problems := app.Status.Problems
		switch {
		case step.problem == "" && len(problems) == 0:
		case step.problem != "" && len(problems) == 1 && problems[0].Reason == v1.ReasonSizeIgnored && strings.HasSuffix(problems[0].Message, step.problem):
		default:
			t.Errorf("step %d: got the problems %+v, want %q", i, problems, step.problem)
		}
	}
	manager.Rest(t)
}

// watchReplicas records the least number of replicas of a Deployment from now on.
func watchReplicas(t *testing.T, app *v1.AppService) (least func() int32) {
	t.Helper()
	var seen atomic.Int32
	seen.Store(1000)
	followDeployments(t, app.Namespace, func(deployment *appsv1.Deployment) {
		seen.Store(min(seen.Load(), *deployment.Spec.Replicas))
	})
	return seen.Load
}

// followDeployments calls see with every version of the Deployments of a namespace, one after the other.
func followDeployments(t *testing.T, namespace string, see func(*appsv1.Deployment)) {
	t.Helper()
	watcher, err := client.NewWithWatch(cluster.Config, client.Options{Scheme: cluster.Client.Scheme()})
	require.NoError(t, err)
	events, err := watcher.Watch(t.Context(), &appsv1.DeploymentList{}, client.InNamespace(namespace))
	require.NoError(t, err)
	t.Cleanup(events.Stop)
	go func() {
		for event := range events.ResultChan() {
			if deployment, ok := event.Object.(*appsv1.Deployment); ok {
				see(deployment)
			}
		}
	}()
}

func TestANewChartVersionRestartsNoPod(t *testing.T) {
	t.Parallel()
	const count = 12
	namespace, first := cluster.ManagedNamespace(t)
	createMany(t, namespace, count)
	waitForAll(t, namespace, count, func(app *v1.AppService) error { return want("phase", app.Status.Phase, v1.PhaseRunning) })
	first.Stop(t)

	cluster.Manager(t, namespace, withChart(t, "Chart.yaml", "version: 0.1.0", "version: 0.2.0"))
	waitForAll(t, namespace, count, func(app *v1.AppService) error {
		return want("chart", app.Status.Release.ChartVersion+" "+string(app.Status.Phase), "0.2.0 Running")
	})
	if sets := replicaSets(t, namespace); sets != count {
		t.Errorf("got %d ReplicaSets for %d AppServices: pods were restarted", sets, count)
	}
}

func TestANewPodTemplateRollsAFewAppServicesAtATime(t *testing.T) {
	t.Parallel()
	const count, most = 4, 2
	namespace, first := cluster.ManagedNamespace(t)
	createMany(t, namespace, count)
	waitForAll(t, namespace, count, func(app *v1.AppService) error { return want("phase", app.Status.Phase, v1.PhaseRunning) })
	first.Stop(t)

	var mu sync.Mutex
	greatest, rolling, rolled := 0, map[string]bool{}, map[string]bool{}
	followDeployments(t, namespace, func(deployment *appsv1.Deployment) {
		mu.Lock()
		defer mu.Unlock()
		status := deployment.Status
		changed := *deployment.Spec.Template.Spec.TerminationGracePeriodSeconds == 31
		over := status.ObservedGeneration == deployment.Generation && status.AvailableReplicas-(status.Replicas-status.UpdatedReplicas) >= 2
		if rolling[deployment.Name], rolled[deployment.Name] = changed && !over, changed && over; !rolling[deployment.Name] {
			delete(rolling, deployment.Name)
		}
		greatest = max(greatest, len(rolling))
	})
	// A rollout takes at least minReadySeconds, so that several could be under way at the same time.
	cluster.Manager(t, namespace, withChart(t, "values.yaml", "minReadySeconds: 0", "minReadySeconds: 2"), func(options *operator.Options, _ *harness.Requests) {
		options.ChartDir = chartChanged(t, options.ChartDir, "values.yaml", "terminationGracePeriodSeconds: 30", "terminationGracePeriodSeconds: 31")
		options.MaxConcurrentRollouts = most
	})
	harness.Eventually(t, "all are rolled", func() error {
		mu.Lock()
		defer mu.Unlock()
		for i := range count {
			if name := nameOf(i); !rolled[name] {
				return fmt.Errorf("%s is not rolled", name)
			}
		}
		return nil
	})
	mu.Lock()
	defer mu.Unlock()
	if greatest > most || greatest == 0 {
		t.Errorf("%d AppServices rolled at the same time, want at most %d", greatest, most)
	}
}

func TestAnAPIThatAppearsIsNoticed(t *testing.T) {
	// It has a cluster-wide manager, and a CRD that comes and goes, so no other test may run at the same time.
	namespace := cluster.Namespace(t)
	monitors := monitorCRD()
	_ = cluster.Client.Delete(t.Context(), monitors)
	harness.Eventually(t, "there are no ServiceMonitors", func() error {
		if err := present(t, monitors); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the CRD is there: %w", err)
		}
		return nil
	})
	cluster.Manager(t, "", func(options *operator.Options, _ *harness.Requests) { options.WatchNamespaces = nil })
	app := harness.Seed(namespace, "web")
	app.Spec.Monitoring = &v1.Monitoring{Enabled: true}
	cluster.CreateReady(t, app)
	if len(app.Status.Problems) != 1 || app.Status.Problems[0].Reason != v1.ReasonAPIAbsent || app.Status.Problems[0].Source != "ServiceMonitor" {
		t.Fatalf("problems: got %+v, want one about ServiceMonitor", app.Status.Problems)
	}
	cluster.Install(t, monitorCRD())
	begin := time.Now()
	cluster.Becomes(t, "the ServiceMonitor is made", app, func() error {
		if len(app.Status.Problems) > 0 {
			return fmt.Errorf("problems: %v", app.Status.Problems)
		}
		return present(t, newMonitor(namespace, "web"))
	})
	t.Logf("noticed after %.1f s", time.Since(begin).Seconds())
}

func createMany(t *testing.T, namespace string, count int) {
	t.Helper()
	for i := range count {
		cluster.Create(t, harness.Seed(namespace, nameOf(i)))
	}
}

func nameOf(i int) string { return fmt.Sprintf("web-%02d", i) }

// waitForAll waits until a check holds for all AppServices of a namespace.
func waitForAll(t *testing.T, namespace string, count int, check func(*v1.AppService) error) {
	t.Helper()
	harness.Eventually(t, "all are as wanted", func() error {
		list := &v1.AppServiceList{}
		if err := cluster.Client.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
			return err
		}
		for i := range list.Items {
			if err := check(&list.Items[i]); err != nil {
				return fmt.Errorf("%s: %w", list.Items[i].Name, err)
			}
		}
		return want("AppServices", len(list.Items), count)
	})
}

func replicaSets(t *testing.T, namespace string) int {
	t.Helper()
	list := &appsv1.ReplicaSetList{}
	cluster.List(t, list, client.InNamespace(namespace))
	return len(list.Items)
}

// withChart runs the operator with a changed copy of the chart.
func withChart(t *testing.T, file, before, after string) func(*operator.Options, *harness.Requests) {
	t.Helper()
	return func(options *operator.Options, _ *harness.Requests) {
		options.ChartDir = chartChanged(t, chartWith(t, "templates/empty.yaml", ""), file, before, after)
	}
}

func chartChanged(t *testing.T, dir, file, before, after string) string {
	t.Helper()
	path := filepath.Join(dir, "helm-charts/appservice", file)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	if !strings.Contains(string(text), before) {
		t.Fatalf("%s does not contain %q", file, before)
	}
	files.Write(t, path, strings.Replace(string(text), before, after, 1))
	return dir
}

// cpuRequest is what the target of an autoscaler refers to.
func cpuRequest() *corev1.ResourceRequirements {
	return &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m")}}
}

// noScaleDown keeps an autoscaler from reducing the replicas, however little they use.
func noScaleDown() *autoscalingv2.HorizontalPodAutoscalerBehavior {
	return &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleDown: &autoscalingv2.HPAScalingRules{SelectPolicy: ptr.To(autoscalingv2.DisabledPolicySelect)}}
}
