//go:build cluster

package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/harness"
)

const (
	serviceLabels = `include "appservice.labels" . | nindent 4 }}`
	podSettings   = "terminationGracePeriodSeconds: {{ int64 .Values.terminationGracePeriodSeconds }}"
)

// The event of an upgrade counts the fields that it does not list, and reports whether pods restart.
func TestANewChartSaysWhatItChanges(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		file, before, after string
		event               string
		restarts            bool
	}{
		"a label of the Service": {
			"templates/service.yaml", serviceLabels, serviceLabels + "\n    example.com/tier: web",
			"apply Service web: metadata.labels.example.com/tier (none) → web", false,
		},
		"two fields of pods": {
			"templates/_pod.tpl", podSettings, "terminationGracePeriodSeconds: 31\n  hostname: here",
			"apply Deployment web: spec.template.spec.hostname (none) → here (and 1 more; restarts pods)", true,
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace, first := cluster.ManagedNamespace(t)
			app := harness.Seed(namespace, "web")
			cluster.CreateReady(t, app)
			first.Stop(t)
			deployment := &appsv1.Deployment{}
			get(t, app, deployment)
			generation := deployment.Generation

			cluster.Manager(t, namespace, withChart(t, test.file, test.before, test.after))
			eventually(t, app, v1.ReasonUpgraded, test.event)
			harness.Eventually(t, "the status says so", func() error { // after the event
				cluster.Refresh(t, app)
				return want("revision", app.Status.Release.Revision, 2)
			})
			cluster.Ready(t, app)
			get(t, app, deployment)
			if restarted := deployment.Generation != generation; restarted != test.restarts {
				t.Errorf("pods were restarted: %t", restarted)
			}
			if got := app.Status.Release; got.Revision != 2 || len(got.ChartDigest) != 12 {
				t.Errorf("got the release %+v", got)
			}
		})
	}
}

// The rollout of a chart whose pods never become ready stops automatically, and continues when the CRD allows it.
func TestAHaltedChartGoesOnOnRequest(t *testing.T) {
	t.Parallel()
	const count = 5
	namespace, first := cluster.ManagedNamespace(t)
	createMany(t, namespace, count)
	waitForAll(t, namespace, count, func(app *v1.AppService) error { return want("phase", app.Status.Phase, v1.PhaseRunning) })
	first.Stop(t)

	refused := fmt.Sprintf("merge (dict %q `%s`)", "script.kwok.x-k8s.io/status", waits("ImagePullBackOff", "Back-off pulling image", "", 0))
	cluster.Manager(t, namespace, withChart(t, "templates/_pod.tpl", "merge (dict)", refused), func(options *operator.Options, _ *harness.Requests) {
		options.MaxConcurrentRollouts, options.MaxFailedRollouts, options.RolloutDeadline = 1, 1, 10*time.Second
	})
	digest := ""
	harness.Eventually(t, "the chart is halted", func() error {
		touched, held := 0, 0
		for i := range count {
			app := harness.Seed(namespace, nameOf(i))
			if err := present(t, app); err != nil {
				return err
			}
			if app.Status.Release.Revision > 1 {
				touched, digest = touched+1, app.Status.Release.ChartDigest
			}
			for _, problem := range app.Status.Problems {
				if problem.Reason == v1.ReasonRolloutHeldBack && strings.Contains(problem.Message, "is halted: ") {
					held++
				}
			}
		}
		if touched != 2 || held != count-2 {
			return fmt.Errorf("%d are touched and %d held back", touched, held)
		}
		return nil
	})
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "appservices.app.example.com"}}
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, v1.AnnotationContinue, digest)
	cluster.Patch(t, crd, client.RawPatch(types.MergePatchType, []byte(patch)))
	waitForAll(t, namespace, count, func(app *v1.AppService) error { return want("revision", app.Status.Release.Revision, 2) })
}

// A resource that is held back is repaired from its record.
func TestWhatIsHeldBackIsRepaired(t *testing.T) {
	t.Parallel()
	namespace, first := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	cluster.CreateReady(t, app)
	first.Stop(t)
	cluster.Manager(t, namespace, func(options *operator.Options, _ *harness.Requests) {
		options.ChartDir = chartWith(t, "templates/refused.yaml", `{{ fail "no more" }}`)
	})
	eventually(t, app, v1.ReasonRenderFailed, "the previous release stays")
	cluster.Delete(t, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}})
	eventually(t, app, v1.ReasonDriftCorrected, "create Service web")
	cluster.Ready(t, app)
	if problems := app.Status.Problems; len(problems) != 1 || problems[0].Reason != v1.ReasonRolloutHeldBack || !strings.Contains(problems[0].Message, "no more") {
		t.Errorf("got the problems %+v", problems)
	}
}
