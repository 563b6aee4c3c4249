//go:build cluster

package integration

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// takes waits until the pods of an AppService have the termination grace period of a chart.
func takes(t *testing.T, app *v1.AppService, seconds int64) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("%s/%s takes the chart with %d s", app.Namespace, app.Name, seconds), func() error {
		return want("seconds", *deployment(t, app).Spec.Template.Spec.TerminationGracePeriodSeconds, seconds)
	})
}

// heldBack waits until an AppService says that a new chart is held back, or waits.
func heldBack(t *testing.T, app *v1.AppService, why string) {
	t.Helper()
	harness.Eventually(t, app.Name+" is held back: "+why, func() error {
		if err := present(t, app); err != nil {
			return err
		}
		if !slices.ContainsFunc(app.Status.Problems, func(p v1.Problem) bool {
			return p.Reason == v1.ReasonRolloutHeldBack && strings.Contains(p.Message, why)
		}) {
			return fmt.Errorf("got the problems %+v", app.Status.Problems)
		}
		return nil
	})
}

// charts are a folder of charts in use, with a new version of them whenever it is asked for.
type charts struct {
	dir     string
	seconds int64
}

// next changes both charts; that of AppService restarts pods.
func (c *charts) next(t *testing.T) {
	t.Helper()
	seconds := c.seconds + 1
	if c.seconds == 0 {
		c.seconds, seconds = 30, 31
	}
	chartChanged(t, c.dir, "values.yaml", fmt.Sprintf("terminationGracePeriodSeconds: %d", c.seconds), fmt.Sprintf("terminationGracePeriodSeconds: %d", seconds))
	files.Write(t, filepath.Join(c.dir, "helm-charts/appjob/templates/note.yaml"), fmt.Sprintf(
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-note, labels: {chart: \"%d\"}}\n", seconds))
	c.seconds = seconds
}

// A rollout that never ends keeps no place: several charts in a row reach everybody in time.
func TestNobodyHoldsUpAChart(t *testing.T) {
	t.Parallel()
	cases := map[string]func(namespace string) client.Object{
		"a suspended job": func(namespace string) client.Object {
			return appJob(namespace, map[string]any{"image": "busybox:1.36", "suspend": true})
		},
		"pods that are never available": func(namespace string) client.Object {
			app := harness.Seed(namespace, "never")
			app.Spec.MinReadySeconds, app.Spec.ProgressDeadlineSeconds = ptr.To[int32](2147483645), ptr.To[int32](2147483646)
			return app
		},
	}
	for name, object := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := cluster.Namespace(t)
			in := &charts{dir: files.Charts(t)}
			cluster.Manager(t, namespace, func(options *operator.Options, _ *harness.Requests) {
				options.ChartDir, options.MaxConcurrentRollouts = in.dir, 1
			})
			blocks := object(namespace)
			cluster.Create(t, blocks)
			apps := []*v1.AppService{harness.Seed(namespace, "one"), harness.Seed(namespace, "two")}
			for _, app := range apps {
				cluster.CreateReady(t, app)
			}
			for range 3 {
				in.next(t)
				for _, app := range apps {
					takes(t, app, in.seconds)
					cluster.Ready(t, app)
				}
			}
		})
	}
}

// One tenant's applications that fail with a chart halt that tenant alone.
func TestOneTenantDoesNotHoldUpAChart(t *testing.T) {
	t.Parallel()
	const count = 4
	tenant, other := cluster.Namespace(t), cluster.Namespace(t)
	both := func(options *operator.Options, _ *harness.Requests) {
		options.WatchNamespaces = []string{tenant, other}
	}
	first := cluster.Manager(t, tenant, both)
	createMany(t, tenant, count)
	waitForAll(t, tenant, count, func(app *v1.AppService) error { return want("phase", app.Status.Phase, v1.PhaseRunning) })
	app := harness.Seed(other, "web")
	cluster.CreateReady(t, app)
	first.Stop(t)

	broken := fmt.Sprintf("merge (ternary (dict %q `%s`) (dict) (eq .Release.Namespace %q))", "script.kwok.x-k8s.io/status",
		waits("ImagePullBackOff", "Back-off pulling image", "", 0), tenant)
	cluster.Manager(t, tenant, both, withChart(t, "templates/_pod.tpl", "merge (dict)", broken), func(options *operator.Options, _ *harness.Requests) {
		options.ChartDir = chartChanged(t, options.ChartDir, "values.yaml", "terminationGracePeriodSeconds: 30", "terminationGracePeriodSeconds: 31")
		options.MaxConcurrentRollouts, options.MaxFailedRollouts, options.RolloutDeadline = 1, 1, 10*time.Second
	})
	takes(t, app, 31)
	cluster.Ready(t, app)
	heldBack(t, notTouched(t, tenant, count), "is halted: ")
}

// notTouched returns an AppService of several that has its first release, once two others have not.
func notTouched(t *testing.T, namespace string, count int) (found *v1.AppService) {
	t.Helper()
	harness.Eventually(t, "two are touched", func() error {
		touched := 0
		for i := range count {
			app := harness.Seed(namespace, nameOf(i))
			if err := present(t, app); err != nil {
				return err
			}
			if app.Status.Release.Revision > 1 {
				touched++
			} else {
				found = app
			}
		}
		return want("touched", touched, 2)
	})
	return found
}

// A Secret that one tenant deletes is that tenant's matter: the chart reaches everybody else.
func TestAMissingSecretHoldsBackNoChart(t *testing.T) {
	t.Parallel()
	tenant, other := cluster.Namespace(t), cluster.Namespace(t)
	both := func(options *operator.Options, _ *harness.Requests) {
		options.WatchNamespaces = []string{tenant, other}
	}
	first := cluster.Manager(t, tenant, both)
	database := secret(tenant, "database", "url")
	cluster.Create(t, database)
	lacking, app := harness.Seed(tenant, "web"), harness.Seed(other, "web")
	lacking.Spec.Config = fromSecret("database")
	cluster.CreateReady(t, lacking)
	cluster.CreateReady(t, app)
	first.Stop(t)
	cluster.Delete(t, database)

	cluster.Manager(t, tenant, both, withChart(t, "values.yaml", "terminationGracePeriodSeconds: 30", "terminationGracePeriodSeconds: 31"))
	takes(t, app, 31)
	cluster.Condition(t, lacking, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonDependencyMissing)
}

// A chart that is held back holds back nothing that users do, and what users do does not bring it.
func TestWhatIsHeldBackIsRestartedByItsUser(t *testing.T) {
	t.Parallel()
	namespace, first := cluster.ManagedNamespace(t)
	database := secret(namespace, "database", "url")
	cluster.Create(t, database)
	app, unfit := harness.Seed(namespace, "web"), harness.Seed(namespace, "unfit")
	app.Spec.Config, unfit.Spec.Config = fromSecret("database"), fromSecret("database")
	cluster.CreateReady(t, app)
	cluster.CreateReady(t, unfit)
	first.Stop(t)

	in := &charts{dir: chartWith(t, "templates/refused.yaml", `{{ if eq .Release.Name "unfit" }}{{ fail "no more" }}{{ end }}`)}
	in.next(t)
	cluster.Manager(t, namespace, func(options *operator.Options, _ *harness.Requests) {
		options.ChartDir, options.MaxFailedRollouts = in.dir, 0
	})
	heldBack(t, app, "is halted: ")
	heldBack(t, unfit, "no more")
	apps := []*v1.AppService{app, unfit}
	restarted := func(what string, generations map[string]int64) {
		t.Helper()
		for _, app := range apps {
			harness.Eventually(t, app.Name+": "+what, func() error { return want("generation", deployment(t, app).Generation, generations[app.Name]+1) })
			takes(t, app, 30)
			cluster.Ready(t, app)
		}
	}
	generations := func() map[string]int64 {
		out := map[string]int64{}
		for _, app := range apps {
			out[app.Name] = deployment(t, app).Generation
		}
		return out
	}

	before := generations()
	cluster.Edit(t, database, func() { database.StringData = map[string]string{"url": "rotated"} })
	restarted("a rotated Secret restarts pods", before)
	if a, b := references(t, app), references(t, unfit); a != b || a == "" {
		t.Errorf("pods have the content %q and %q", a, b)
	}

	before = generations()
	for _, app := range apps {
		cluster.Change(t, app, func(app *v1.AppService) { app.Annotations = map[string]string{v1.AnnotationRestartedAt: "now"} })
	}
	restarted("pods restart on request", before)

	cluster.Delete(t, database)
	for _, app := range apps {
		cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonDependencyMissing)
	}
	before = generations()
	again := secret(namespace, "database", "url")
	again.StringData = map[string]string{"url": "other"}
	cluster.Create(t, again)
	restarted("a Secret that is made again restarts pods", before)
	for _, app := range apps {
		heldBack(t, app, "")
	}

	before = generations()
	files.Write(t, filepath.Join(in.dir, "helm-charts/appservice/templates/refused.yaml"), "")
	for _, app := range apps {
		takes(t, app, 31)
		cluster.Ready(t, app)
		harness.Eventually(t, app.Name+" has no problem", func() error {
			if err := present(t, app); err != nil {
				return err
			}
			return want("problems", len(app.Status.Problems), 0)
		})
		if got := deployment(t, app); got.Generation != before[app.Name]+1 || got.Spec.Template.Annotations[v1.AnnotationRestartedAt] != "now" {
			t.Errorf("%s is at generation %d with the annotations %v, want one restart by the chart", app.Name, got.Generation, got.Spec.Template.Annotations)
		}
	}
}

// references returns the version of the content that pods take.
func references(t *testing.T, app *v1.AppService) string {
	t.Helper()
	return deployment(t, app).Spec.Template.Annotations[postrender.AnnotationReferences]
}

// A rollout that has begun is known to the next process: it has a place, and its deadline.
func TestARolloutIsKnownAfterARestart(t *testing.T) {
	t.Parallel()
	const count = 3
	namespace, first := cluster.ManagedNamespace(t)
	createMany(t, namespace, count)
	waitForAll(t, namespace, count, func(app *v1.AppService) error { return want("phase", app.Status.Phase, v1.PhaseRunning) })
	first.Stop(t)
	refused := fmt.Sprintf("merge (dict %q `%s`)", "script.kwok.x-k8s.io/status", waits("ImagePullBackOff", "Back-off pulling image", "", 0))
	chart := withChart(t, "templates/_pod.tpl", "merge (dict)", refused)
	dir := ""
	same := func(options *operator.Options, requests *harness.Requests) {
		if dir == "" {
			chart(options, requests)
			dir = options.ChartDir
		}
		options.ChartDir, options.MaxConcurrentRollouts = dir, 1
	}
	touched := func() (names []string) {
		for i := range count {
			app := harness.Seed(namespace, nameOf(i))
			if err := present(t, app); err == nil && app.Status.Release.Revision > 1 {
				names = append(names, app.Name)
			}
		}
		return names
	}
	second := cluster.Manager(t, namespace, same)
	harness.Eventually(t, "one is touched", func() error { return want("touched", len(touched()), 1) })
	begun := touched()[0]
	records := &corev1.SecretList{}
	harness.Eventually(t, "its record says so", func() error {
		cluster.List(t, records, client.InNamespace(namespace), client.MatchingLabels{"name": begun, "status": "deployed"})
		for _, record := range records.Items {
			if record.Labels["version"] == "2" && strings.Count(record.Labels[v1.LabelRollout], ".") == 4 {
				return nil
			}
		}
		return fmt.Errorf("got %d records", len(records.Items))
	})
	second.Stop(t)
	third := cluster.Manager(t, namespace, same)
	waitForAll(t, namespace, count, func(app *v1.AppService) error {
		waits := slices.ContainsFunc(app.Status.Problems, func(p v1.Problem) bool { return p.Reason == v1.ReasonRolloutHeldBack })
		if waits == (app.Name == begun) {
			return fmt.Errorf("it waits: %t", waits)
		}
		return nil
	})
	third.Rest(t)
	if got := touched(); !slices.Equal(got, []string{begun}) {
		t.Errorf("%v are touched, want %s alone", got, begun)
	}
}

// A chart that is halted reaches nobody whose pods are gone for a moment: they come back as they were.
func TestAHaltedChartReachesNobodyWhosePodsAreGone(t *testing.T) {
	t.Parallel()
	evicted := func(t *testing.T, app *v1.AppService, _ func(func())) {
		pods := podsFor(t, app)
		for i := range pods {
			cluster.Delete(t, &pods[i])
		}
	}
	for name, test := range map[string]struct {
		change func(*v1.AppServiceSpec)
		// lose loses something of a resource, or has it lost while no operator runs.
		lose func(t *testing.T, app *v1.AppService, down func(func()))
		// restarts is how often the release of before is applied again with other contents of its pods.
		restarts int
	}{
		"pods of a Deployment": {func(*v1.AppServiceSpec) {}, evicted, 0},
		"pods of a Deployment that is recreated": {func(s *v1.AppServiceSpec) {
			s.Strategy = &appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
		}, evicted, 0},
		"pods of a StatefulSet": {func(s *v1.AppServiceSpec) { s.StatefulSet = &v1.StatefulSet{} }, evicted, 0},
		"a whole Deployment": {func(*v1.AppServiceSpec) {}, func(t *testing.T, app *v1.AppService, _ func(func())) {
			cluster.Delete(t, deployment(t, app))
		}, 0},
		"replicas of a Deployment, while no operator runs": {func(*v1.AppServiceSpec) {}, func(t *testing.T, app *v1.AppService, down func(func())) {
			down(func() {
				cluster.Patch(t, deployment(t, app), client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":0}}`)))
				harness.Eventually(t, "no pod runs", func() error { return want("pods", len(podsFor(t, app)), 0) })
			})
		}, 0},
		"a key that the new chart does not render": {func(s *v1.AppServiceSpec) { s.Config = generating("").Spec.Config },
			func(t *testing.T, app *v1.AppService, _ func(func())) { deleteKey(t, generatedOf(t, app), "KEY") }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const count = 3
			namespace, first := cluster.ManagedNamespace(t)
			for i := range count {
				app := harness.Seed(namespace, nameOf(i))
				app.Spec.Ports[0].NodePort, app.Spec.Size, app.Spec.MinReadySeconds = nil, ptr.To[int32](1), ptr.To[int32](5)
				test.change(&app.Spec)
				cluster.CreateReady(t, app)
			}
			first.Stop(t)
			// its digest is that of no other test, which may request that its chart continues
			broken := fmt.Sprintf("merge (dict %q `%s`)", "script.kwok.x-k8s.io/status", waits("ImagePullBackOff", "Back-off pulling image: evicted", "", 0))
			options := func(options *operator.Options, _ *harness.Requests) {
				options.ChartDir = chartChanged(t, chartWith(t, "templates/secret_generated.yaml", ""), "templates/_pod.tpl", "merge (dict)", broken)
				options.MaxConcurrentRollouts, options.MaxFailedRollouts, options.RolloutDeadline = 1, 0, 10*time.Second
			}
			second := cluster.Manager(t, namespace, options)
			var held []*v1.AppService
			harness.Eventually(t, "the chart is halted for all but one", func() error {
				held = nil
				for i := range count {
					app := harness.Seed(namespace, nameOf(i))
					if err := present(t, app); err != nil {
						return err
					}
					if slices.ContainsFunc(app.Status.Problems, func(p v1.Problem) bool { return strings.Contains(p.Message, "is halted: ") }) {
						held = append(held, app)
					}
				}
				return want("held back", len(held), count-1)
			})
			for _, app := range held {
				before := podsFor(t, app)
				test.lose(t, app, func(then func()) {
					second.Stop(t)
					then()
					second = cluster.Manager(t, namespace, options)
				})
				harness.Eventually(t, app.Name+" is as it was", func() error {
					pods := podsFor(t, app)
					if len(pods) != 1 || pods[0].UID == before[0].UID || pods[0].Annotations["script.kwok.x-k8s.io/status"] != "" {
						return fmt.Errorf("it has %d pods, or that of before, or one of the new chart", len(pods))
					}
					if err := present(t, app); err != nil {
						return err
					}
					if app.Spec.Config != nil {
						if err := want("keys", len(generatedOf(t, app).Data), len(app.Spec.Config.Generated)); err != nil {
							return err
						}
					}
					return errors.Join(want("available", app.Status.AvailableReplicas, 1), want("revision", app.Status.Release.Revision, 1+test.restarts))
				})
			}
			second.Rest(t)
			for _, app := range held {
				cluster.Refresh(t, app)
				if app.Status.Release.Revision != 1+test.restarts {
					t.Errorf("%s has release %d", app.Name, app.Status.Release.Revision)
				}
			}
		})
	}
}

// podsFor returns the pods of an AppService.
func podsFor(t *testing.T, app *v1.AppService) []corev1.Pod {
	t.Helper()
	pods := &corev1.PodList{}
	cluster.List(t, pods, client.InNamespace(app.Namespace), client.MatchingLabels{"app.kubernetes.io/instance": app.Name})
	return pods.Items
}

// A chart that only takes something away from pods, or changes an order in them, restarts them, and says so.
func TestAChartThatTakesALineAwayRestartsPods(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ before, after string }{
		"a line is taken away":         {"terminationMessagePolicy: FallbackToLogsOnError, ", ""},
		"a label is taken away":        {"more: label, ", ""},
		"a volume is taken away":       {"{name: tmp, emptyDir: {}}, ", ""},
		"variables have another order": {"{name: A, value: a}, {name: B, value: b}", "{name: B, value: b}, {name: A, value: a}"},
		"volumes have another order":   {"{name: tmp, emptyDir: {}}, {name: run, emptyDir: {}}", "{name: run, emptyDir: {}}, {name: tmp, emptyDir: {}}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := cluster.Namespace(t)
			dir := stagedCharts(t)
			main := filepath.Join(dir, "helm-charts/appjob/templates/main.yaml")
			replaceIn(t, main, "labels: {app:", "labels: {more: label, app:")
			replaceIn(t, main, "containers: [{name: app,", `volumes: [{name: tmp, emptyDir: {}}, {name: run, emptyDir: {}}]
      containers: [{name: app, terminationMessagePolicy: FallbackToLogsOnError, env: [{name: A, value: a}, {name: B, value: b}],`)
			cluster.Manager(t, namespace, func(options *operator.Options, _ *harness.Requests) { options.ChartDir = dir })
			shop := inStages(namespace, "shop")
			cluster.Create(t, shop)
			becomesReady(t, shop)
			before := mainOf(t, shop).Generation
			replaceIn(t, main, test.before, test.after)
			eventually(t, harness.Seed(namespace, "shop"), v1.ReasonUpgraded, "restarts pods)")
			becomesReady(t, shop)
			require.Equal(t, before+1, mainOf(t, shop).Generation)
		})
	}
}
