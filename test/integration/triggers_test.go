//go:build cluster

package integration

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// scalerCRD is KEDA's.
func scalerCRD(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	return files.CRD(t, filepath.Join(fixtures, "crds", "keda.sh_scaledobjects.yaml"))
}

func newScaler(app *v1.AppService) *unstructured.Unstructured {
	scaler := &unstructured.Unstructured{}
	scaler.SetAPIVersion("keda.sh/v1alpha1")
	scaler.SetKind("ScaledObject")
	scaler.SetNamespace(app.Namespace)
	scaler.SetName(app.Name)
	return scaler
}

func triggered(namespace string) *v1.AppService {
	app := harness.Seed(namespace, "web")
	app.Spec.Autoscaling = &v1.Autoscaling{MinReplicas: ptr.To[int32](0), MaxReplicas: 9, Triggers: []v1.Trigger{{Type: "cron"}}}
	return app
}

// removeScalerCRD deletes KEDA's kind from the cluster, with all of its objects, and waits until it is gone.
func removeScalerCRD(t *testing.T) {
	t.Helper()
	if err := cluster.Client.Delete(t.Context(), scalerCRD(t)); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "there are no ScaledObjects", func() error {
		if err := present(t, scalerCRD(t)); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the CRD is there: %w", err)
		}
		return nil
	})
}

// Without KEDA, triggers would never start the first replica. That is refused, and nothing is written until KEDA is installed.
func TestTriggersNeedKEDA(t *testing.T) {
	// It has a cluster-wide manager, and a CRD that is created and deleted, so no other test may run at the same time.
	namespace := cluster.Namespace(t)
	removeScalerCRD(t)
	cluster.Manager(t, "", func(options *operator.Options, _ *harness.Requests) { options.WatchNamespaces = nil })
	refused := func(app *v1.AppService, phase v1.Phase) {
		t.Helper()
		cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonAPIUnavailable)
		cluster.Condition(t, app, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonAPIUnavailable)
		if app.Status.Phase != phase {
			t.Errorf("phase: got %s, want %s", app.Status.Phase, phase)
		}
		const message = "the cluster does not serve ScaledObject in group keda.sh, which spec.autoscaling.triggers needs"
		if problems := app.Status.Problems; len(problems) != 1 || problems[0].Type != v1.ProblemError || !strings.HasPrefix(problems[0].Message, message) {
			t.Errorf("got problems %+v, want one that says %q", problems, message)
		}
	}
	app := triggered(namespace)
	cluster.Create(t, app)
	refused(app, v1.PhaseFailed)
	if err := gone(t, namespace, app.Name, &appsv1.Deployment{}, &corev1.Service{}); err != nil {
		t.Errorf("something was written although the AppService is refused: %v", err)
	}

	cluster.Install(t, scalerCRD(t))
	cluster.Ready(t, app)
	require.NoError(t, present(t, newScaler(app)))

	removeScalerCRD(t)
	refused(app, v1.PhaseDegraded)
	service := &corev1.Service{}
	get(t, app, service)
	cluster.Delete(t, service)
	harness.Eventually(t, "what runs is repaired meanwhile", func() error { return present(t, service) })

	cluster.Install(t, scalerCRD(t))
	cluster.Ready(t, app)
	assert.NoError(t, present(t, newScaler(app)))
}

func TestKEDATakesAndGivesBackTheNumberOfReplicas(t *testing.T) {
	t.Parallel()
	withForeignKinds(t)
	namespace, manager := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Size, app.Spec.Resources = ptr.To[int32](2), cpuRequest()
	app.Spec.Autoscaling = &v1.Autoscaling{MinReplicas: ptr.To[int32](2), MaxReplicas: 9, Behavior: noScaleDown()}
	cluster.CreateReady(t, app)

	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Autoscaling = triggered(namespace).Spec.Autoscaling })
	cluster.Ready(t, app)
	assert.NoError(t, present(t, newScaler(app)))
	if err := gone(t, namespace, app.Name, &autoscalingv2.HorizontalPodAutoscaler{}); err != nil {
		t.Errorf("there is another autoscaler beside KEDA: %v", err)
	}
	scale := func(replicas int32) {
		t.Helper()
		deployment := &appsv1.Deployment{}
		get(t, app, deployment)
		body := client.WithSubResourceBody(&autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: replicas}})
		require.NoError(t, cluster.Client.SubResource("scale").Update(t.Context(), deployment, body))
	}
	scale(0) // as KEDA does without load
	cluster.Becomes(t, "it is ready without a replica", app, func() error {
		return want("reason of Ready", meta.FindStatusCondition(app.Status.Conditions, v1.ConditionReady).Reason, v1.ReasonScaledToZero)
	})
	if app.Status.Phase != v1.PhaseRunning || len(app.Status.Problems) > 0 {
		t.Errorf("got phase %s, problems %+v, want Running and none", app.Status.Phase, app.Status.Problems)
	}
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:1.27" })
	cluster.Ready(t, app)
	manager.Rest(t)
	deployment := &appsv1.Deployment{}
	get(t, app, deployment)
	if got := *deployment.Spec.Replicas; got != 0 {
		t.Errorf("replicas: got %d, want KEDA's 0", got)
	}
	scale(3)
	cluster.Ready(t, app)
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Autoscaling = nil })
	cluster.Ready(t, app)
	get(t, app, deployment)
	if got := *deployment.Spec.Replicas; got != 2 {
		t.Errorf("replicas: got %d, want the 2 of the spec", got)
	}
	harness.Eventually(t, "the ScaledObject is gone", func() error {
		if err := present(t, newScaler(app)); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it is there: %w", err)
		}
		return nil
	})
}
