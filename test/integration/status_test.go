//go:build cluster

package integration

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// A rolling update goes through many pod counts, and has two meanings: it makes progress, and it is complete.
func TestARollingUpdateWritesFewStatuses(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Size = ptr.To[int32](8)
	cluster.CreateReady(t, app)
	manager.Rest(t)
	mark, begin := manager.Requests.Mark(), time.Now()
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:1.27" })
	harness.Eventually(t, "the new image everywhere", func() error {
		get(t, app, app)
		if app.Status.ObservedGeneration != app.Generation || app.Status.Phase != v1.PhaseRunning {
			return fmt.Errorf("phase %s, %s", app.Status.Phase, app.Status.Readiness)
		}
		return nil
	})
	manager.Rest(t)
	// One at its begin, one while it continues, one at its end; and counters are written every 5 s at most.
	got, most := statusWrites(manager.Requests.WritesSince(mark)), 3+int(time.Since(begin)/(5*time.Second))
	if got > most || got == 0 {
		t.Errorf("%d writes of the status, want %d at most", got, most)
	}
	t.Logf("%d writes of the status", got)
	if app.Status.Readiness != "8/8" || len(app.Status.Resources) != 3 {
		t.Errorf("the status says %s of %v", app.Status.Readiness, app.Status.Resources)
	}
	for _, resource := range app.Status.Resources {
		if !resource.Ready || resource.Message != "" {
			t.Errorf("%s %s is not ready: %s", resource.Kind, resource.Name, resource.Message)
		}
	}
}

func TestKubectlWaitAndKstatusFollowAnAppService(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	cluster.Create(t, app)
	if output, err := kubectlWait(t, app, harness.Patience.String()); err != nil {
		t.Fatalf("kubectl does not see that it is ready: %v: %s", err, output)
	}
	computes(t, app, kstatus.CurrentStatus)

	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Paused = true })
	cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionUnknown, v1.ReasonPaused)
	notReady(t, app)
	computes(t, app, kstatus.InProgressStatus)
	eventually(t, app, v1.ReasonPaused, "spec.paused")

	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Paused = false })
	cluster.Ready(t, app)
	eventually(t, app, v1.ReasonResumed, "no longer paused")

	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Config = fromSecret("absent") })
	cluster.Condition(t, app, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonDependencyMissing)
	notReady(t, app)
	computes(t, app, kstatus.FailedStatus)
	eventually(t, app, v1.ReasonDependencyMissing, "absent")

	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Config = nil })
	cluster.Ready(t, app)
	computes(t, app, kstatus.CurrentStatus)
	eventually(t, app, v1.ReasonRecovered, "2 of 2")
}

func kubectlWait(t *testing.T, app *v1.AppService, timeout string) (string, error) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	output, err := exec.CommandContext(ctx, cluster.Kubectl, "--kubeconfig", cluster.Kubeconfig, "--namespace", app.Namespace, "wait",
		"--for=condition=Ready", "--timeout="+timeout, "appservice/"+app.Name).CombinedOutput()
	return string(output), err
}

func notReady(t *testing.T, app *v1.AppService) {
	t.Helper()
	if output, err := kubectlWait(t, app, "0s"); err == nil || !strings.Contains(output, "not met") {
		t.Errorf("kubectl takes it for ready: %v: %s", err, output)
	}
}

func computes(t *testing.T, app *v1.AppService, want kstatus.Status) {
	t.Helper()
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(v1.GroupVersion.WithKind(v1.Kind))
	cluster.Get(t, client.ObjectKeyFromObject(app), live)
	result, err := kstatus.Compute(live)
	if err != nil || result.Status != want {
		t.Errorf("kstatus computes %v (%v), want %s", result, err, want)
	}
}
