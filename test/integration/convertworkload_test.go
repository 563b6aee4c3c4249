//go:build cluster

package integration

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/cli"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// convertible is an AppService of two replicas, and of a folder for its volume if it has one.
func convertible(namespace string) *v1.AppService {
	app := harness.Seed(namespace, "web")
	app.Spec.Ports[0].NodePort = nil
	return app
}

// storing has all replicas, or each of them, store in a claim.
func storing(app *v1.AppService, perReplica bool) {
	app.Spec.Persistence = &v1.Persistence{Size: resource.MustParse("1Gi"), MountPath: "/data", PerReplica: perReplica,
		StorageClassName: ptr.To(harness.StaticVolumes)}
}

// convert runs convert-workload for an AppService in a file, and returns the exit code and what was printed.
func convert(t *testing.T, app *v1.AppService, flags ...string) (code int, printed string) {
	t.Helper()
	text, err := yaml.Marshal(map[string]any{"apiVersion": v1.GroupVersion.String(), "kind": v1.Kind,
		"metadata": map[string]any{"name": app.Name}, "spec": app.Spec})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "web.yaml")
	files.Write(t, file, string(text))
	streams, _, stdout, stderr := genericiooptions.NewTestIOStreams()
	args := append([]string{"convert-workload", "-f", file, "--kubeconfig", cluster.Kubeconfig, "--namespace", app.Namespace}, flags...)
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	code = cli.Run(ctx, args, streams)
	return code, stdout.String() + stderr.String()
}

// converts has a conversion succeed.
func converts(t *testing.T, app *v1.AppService, flags ...string) string {
	t.Helper()
	code, printed := convert(t, app, append(flags, "--yes")...)
	require.Equal(t, 0, code, printed)
	return printed
}

// refusesConversion has a conversion be refused in these words, and nothing be written.
func refusesConversion(t *testing.T, app *v1.AppService, words string, flags ...string) {
	t.Helper()
	live := &v1.AppService{}
	get(t, app, live)
	code, printed := convert(t, app, append(flags, "--yes")...)
	assert.Equal(t, 1, code, printed)
	assert.Contains(t, printed, words)
	now := &v1.AppService{}
	get(t, app, now)
	assert.Equal(t, live.UID, now.UID)
	assert.Nil(t, now.DeletionTimestamp)
}

// outages counts how often the Service of a namespace has no ready endpoint, from the first one on.
func outages(t *testing.T, namespace string) *atomic.Int32 {
	t.Helper()
	watcher, err := client.NewWithWatch(cluster.Config, client.Options{Scheme: cluster.Client.Scheme()})
	require.NoError(t, err)
	events, err := watcher.Watch(t.Context(), &discoveryv1.EndpointSliceList{}, client.InNamespace(namespace),
		client.MatchingLabels{discoveryv1.LabelServiceName: "web"})
	require.NoError(t, err)
	t.Cleanup(events.Stop)
	count := &atomic.Int32{}
	go func() {
		for event := range events.ResultChan() {
			if slice, is := event.Object.(*discoveryv1.EndpointSlice); is && !anyReady(slice) {
				count.Add(1)
			}
		}
	}()
	return count
}

func anyReady(slice *discoveryv1.EndpointSlice) bool {
	for _, endpoint := range slice.Endpoints {
		if ptr.Deref(endpoint.Conditions.Ready, true) {
			return true
		}
	}
	return false
}

// has one workload of a kind, controlled by the AppService, and none of the other kind.
func runsAs(t *testing.T, app *v1.AppService, workload, other client.Object) {
	t.Helper()
	cluster.Ready(t, app)
	get(t, app, workload)
	assert.True(t, metav1.IsControlledBy(workload, app), "%T is not the AppService's", workload)
	assert.NoError(t, gone(t, app.Namespace, app.Name, other))
}

func TestADeploymentBecomesAStatefulSetWhileItServes(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := generating(namespace)
	app.Spec.Resources, app.Spec.Autoscaling = cpuRequest(), &v1.Autoscaling{MinReplicas: ptr.To[int32](2), MaxReplicas: 3}
	cluster.CreateReady(t, app)
	service := &corev1.Service{}
	get(t, app, service)
	was, missed, generated, pods := service.UID, outages(t, namespace), generatedOf(t, app).Data, whatRuns(t, namespace)

	app.Spec.StatefulSet = &v1.StatefulSet{PodManagementPolicy: appsv1.ParallelPodManagement}
	code, printed := convert(t, app)
	require.Equal(t, 0, code, printed)
	for _, line := range []string{"Deployment web becomes a StatefulSet", "  + StatefulSet web\n", "  + Service web-headless\n",
		"  - Deployment web\n", "Service web, HorizontalPodAutoscaler web\n", "undo does not lead back", "nothing was written"} {
		assert.Contains(t, printed, line)
	}
	assert.NoError(t, gone(t, namespace, "web", &appsv1.StatefulSet{}))

	converts(t, app, "--keep-old")
	set := app.Spec.StatefulSet
	app.Spec.StatefulSet = nil // the former file leads back
	converts(t, app)
	runsAs(t, app, &appsv1.Deployment{}, &appsv1.StatefulSet{})
	assert.Equal(t, pods, whatRuns(t, namespace))

	app.Spec.StatefulSet = set
	converts(t, app)
	runsAs(t, app, &appsv1.StatefulSet{}, &appsv1.Deployment{})
	get(t, app, service)
	assert.Equal(t, was, service.UID)
	assert.Equal(t, generated, generatedOf(t, app).Data)
	assert.Zero(t, missed.Load(), "the Service had no endpoint")
	scaler := &autoscalingv2.HorizontalPodAutoscaler{}
	get(t, app, scaler)
	assert.Equal(t, "StatefulSet", scaler.Spec.ScaleTargetRef.Kind)
	installedWith(t, app, 1)
	manager.Rest(t)
	code, printed = convert(t, app, "--yes")
	assert.Equal(t, 0, code)
	assert.Contains(t, printed, "nothing to convert")
}

// There and back: no claim is deleted, data that would be left behind is named, and what has the same name is mounted again.
func TestReplicasGetVolumesOfTheirOwnAndBack(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := convertible(namespace)
	storing(app, false)
	cluster.CreateReady(t, app)
	shared := claims(t, namespace, "web 1Gi")

	storing(app, true)
	refusesConversion(t, app, "PersistentVolumeClaim web, 1Gi: the new StatefulSet does not mount it")
	printed := converts(t, app, "--leave-data", "--keep-old")
	assert.Contains(t, printed, "--container=app -- tar -C /data -cf - . | kubectl exec --namespace="+namespace+" -i web-0 ")
	old := &appsv1.Deployment{}
	get(t, app, old)
	assert.Equal(t, int32(2), old.Status.ReadyReplicas, "both run side by side")
	printed = converts(t, app, "--leave-data")
	assert.Contains(t, printed, "PersistentVolumeClaim web, 1Gi stays")
	runsAs(t, app, &appsv1.StatefulSet{}, &appsv1.Deployment{})
	all := claims(t, namespace, "data-web-0 1Gi", "data-web-1 1Gi", "web 1Gi")
	assert.Equal(t, shared[0], all[2])
	manager.Rest(t)

	storing(app, false)
	refusesConversion(t, app, "PersistentVolumeClaim data-web-1, 1Gi: the new Deployment does not mount it")
	converts(t, app, "--leave-data")
	runsAs(t, app, &appsv1.Deployment{}, &appsv1.StatefulSet{})
	assert.NoError(t, gone(t, namespace, "web-headless", &corev1.Service{}))
	assert.Equal(t, all, claims(t, namespace, "data-web-0 1Gi", "data-web-1 1Gi", "web 1Gi"))
	manager.Rest(t)
}

// A volume that one node mounts at a time goes from pod to pod only if the old ones are gone.
func TestAClaimThatBothWouldMount(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := convertible(namespace)
	app.Spec.Size = ptr.To[int32](1)
	storing(app, false)
	cluster.CreateReady(t, app)
	before := claims(t, namespace, "web 1Gi")
	app.Spec.StatefulSet = &v1.StatefulSet{}
	refusesConversion(t, app, "PersistentVolumeClaim web, 1Gi: the pods of both workloads would mount it")
	converts(t, app, "--stop-first")
	runsAs(t, app, &appsv1.StatefulSet{}, &appsv1.Deployment{})
	assert.Equal(t, before, claims(t, namespace, "web 1Gi"))
}

// The pods of a StatefulSet keep running until each gets the claim that it lacks.
func TestAStatefulSetGetsAnotherClaimForEachReplica(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := withClaims(namespace, "pgdata")
	app.Spec.Size = ptr.To[int32](3)
	cluster.CreateReady(t, app)
	before, missed := claims(t, namespace, "pgdata-web-0 1Gi", "pgdata-web-1 1Gi", "pgdata-web-2 1Gi"), outages(t, namespace)
	app.Spec.Claims = append(app.Spec.Claims, perReplicaClaim("wal", harness.StaticVolumes))
	printed := converts(t, app)
	assert.Contains(t, printed, "StatefulSet web is created again with other claims")
	runsAs(t, app, &appsv1.StatefulSet{}, &appsv1.Deployment{})
	after := claims(t, namespace, "pgdata-web-0 1Gi", "pgdata-web-1 1Gi", "pgdata-web-2 1Gi", "wal-web-0 1Gi", "wal-web-1 1Gi", "wal-web-2 1Gi")
	assert.Equal(t, before, after[:3])
	assert.Zero(t, missed.Load(), "the Service had no endpoint")
	manager.Rest(t)
}

// Whenever the command ends too early, the next one continues.
func TestAConversionThatIsInterruptedGoesOn(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := convertible(namespace)
	cluster.CreateReady(t, app)
	service, missed := &corev1.Service{}, outages(t, namespace)
	get(t, app, service)
	was := service.UID
	cluster.Delete(t, app, client.PropagationPolicy(metav1.DeletePropagationOrphan))
	harness.Eventually(t, "the AppService is gone", func() error { return gone(t, namespace, "web", &v1.AppService{}) })
	app = convertible(namespace)
	app.Spec.StatefulSet = &v1.StatefulSet{}
	runs := 0
	harness.Eventually(t, "it is converted", func() error {
		runs++
		if code, printed := convert(t, app, "--yes", "--timeout="+(time.Duration(runs)*200*time.Millisecond).String()); code != 0 {
			return fmt.Errorf("ends with %d: %s", code, printed)
		}
		return nil
	})
	assert.Greater(t, runs, 1, "it was never interrupted")
	runsAs(t, app, &appsv1.StatefulSet{}, &appsv1.Deployment{})
	get(t, app, service)
	assert.Equal(t, was, service.UID)
	assert.Zero(t, missed.Load(), "the Service had no endpoint")
	manager.Rest(t)
}

// The release task does not run again for the same version.
func TestAConversionDoesNotRunTheReleaseTaskAgain(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	counted := countRuns(t, namespace)
	app := migrated(namespace)
	cluster.CreateReady(t, app)
	app.Spec.StatefulSet = &v1.StatefulSet{}
	printed := converts(t, app)
	assert.Contains(t, printed, "the release task does not run again")
	runsAs(t, app, &appsv1.StatefulSet{}, &appsv1.Deployment{})
	require.NoError(t, noted(t, app, v1.RunSkipped))
	require.NoError(t, counted.are("shop:1"))
	manager.Rest(t)
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "shop:2" })
	cluster.Ready(t, app)
	require.NoError(t, counted.are("shop:1", "shop:2"))
}
