//go:build cluster

package integration

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// defaultsOf returns the ConfigMap with the defaults of a namespace.
func defaultsOf(namespace, text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "appservice-defaults"}, Data: map[string]string{"appservice.yaml": text},
	}
}

// says changes the defaults of a namespace.
func says(t *testing.T, namespace, text string) {
	t.Helper()
	defaults := defaultsOf(namespace, "")
	cluster.Edit(t, defaults, func() { *defaults = *defaultsOf(namespace, text) })
}

// grace waits until an AppService is ready, without a problem, and its pods have a termination grace period.
func grace(t *testing.T, app *v1.AppService, seconds int64) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("%s has %d s to end", app.Name, seconds), func() error {
		if err := present(t, app); err != nil {
			return err
		}
		if app.Status.Phase != v1.PhaseRunning || len(app.Status.Problems) > 0 {
			return fmt.Errorf("it is %s: %+v", app.Status.Phase, app.Status.Problems)
		}
		return want("seconds", *deployment(t, app).Spec.Template.Spec.TerminationGracePeriodSeconds, seconds)
	})
}

func TestDefaultsLieBeneathTheSpec(t *testing.T) {
	t.Parallel()
	namespace, other := cluster.Namespace(t), cluster.Namespace(t)
	cluster.Create(t, defaultsOf(namespace, "terminationGracePeriodSeconds: 7\nresources: {requests: {cpu: 10m, memory: 8Mi}}\n"))
	manager := cluster.Manager(t, namespace, func(options *operator.Options, _ *harness.Requests) {
		options.WatchNamespaces = append(options.WatchNamespaces, other)
	})
	web, own, elsewhere := harness.Seed(namespace, "web"), harness.Seed(namespace, "own"), harness.Seed(other, "web")
	own.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("16Mi")}}
	for _, app := range []*v1.AppService{web, own, elsewhere} {
		cluster.CreateReady(t, app)
	}
	for app, cases := range map[*v1.AppService]struct {
		memory string
		fields []string
	}{
		web: {"8Mi", []string{"resources", "terminationGracePeriodSeconds"}}, own: {"16Mi", []string{"resources.requests.cpu", "terminationGracePeriodSeconds"}},
		elsewhere: {"", nil},
	} {
		grace(t, app, map[bool]int64{true: 7, false: 30}[cases.fields != nil])
		requests := deployment(t, app).Spec.Template.Spec.Containers[0].Resources.Requests
		if got := requests.Memory().String(); cases.memory != "" && (got != cases.memory || requests.Cpu().String() != "10m") {
			t.Errorf("%s/%s requests %v", app.Namespace, app.Name, requests)
		}
		var fields []string
		for _, source := range app.Status.Defaults {
			if source.Source != "ConfigMap appservice-defaults" {
				t.Errorf("got the source %q", source.Source)
			}
			fields = append(fields, source.Fields...)
		}
		if !slices.Equal(fields, cases.fields) {
			t.Errorf("%s/%s has the defaults %v, want %v", app.Namespace, app.Name, fields, cases.fields)
		}
	}

	before := manager.Requests.Mark()
	says(t, namespace, "# of the platform team\nterminationGracePeriodSeconds: 8\n")
	grace(t, web, 8)
	grace(t, own, 8)
	for _, request := range manager.Requests.Since(before) {
		if strings.Contains(request.Path, "appservice-defaults") {
			t.Errorf("it asks for what its informer shows: %s", request)
		}
		if strings.Contains(request.Path, other) {
			t.Errorf("it looks at another namespace: %s", request)
		}
	}
	cluster.Delete(t, defaultsOf(namespace, ""))
	grace(t, web, 30)
	grace(t, own, 30)
	harness.Eventually(t, "no default applies", func() error {
		if err := present(t, web); err != nil {
			return err
		}
		return want("sources of defaults", len(web.Status.Defaults), 0)
	})
}

func TestDefaultsThatDoNotFitChangeNothing(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	cluster.Create(t, defaultsOf(namespace, "terminationGracePeriodSeconds: 7\n"))
	first := cluster.Manager(t, namespace)
	web := harness.Seed(namespace, "web")
	cluster.Create(t, web)
	grace(t, web, 7)
	generation := deployment(t, web).Generation

	heldBack := func(text string) {
		t.Helper()
		harness.Eventually(t, "the defaults are held back: "+text, func() error {
			if err := present(t, web); err != nil {
				return err
			}
			if len(web.Status.Problems) != 1 || !strings.Contains(web.Status.Problems[0].Message, text) {
				return fmt.Errorf("got %+v", web.Status.Problems)
			}
			return want("phase", web.Status.Phase, v1.PhaseRunning)
		})
	}
	says(t, namespace, "resources: {limit: {cpu: 1}}\n")
	heldBack("resources.limit: there is no such field: did you mean limits?")
	says(t, namespace, "image: nginx:evil\n")
	heldBack("image: a namespace may not set it")
	first.Stop(t)
	cluster.Manager(t, namespace)
	cluster.Delete(t, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}})
	eventually(t, web, v1.ReasonDriftCorrected, "create Service web") // the recorded release is kept alive
	heldBack("image: a namespace may not set it")

	later := harness.Seed(namespace, "later")
	cluster.Create(t, later)
	harness.Eventually(t, "what is new is refused", func() error {
		if err := present(t, later); err != nil {
			return err
		}
		ready := meta.FindStatusCondition(later.Status.Conditions, v1.ConditionReady)
		if ready == nil || ready.Reason != v1.ReasonDefaultsInvalid {
			return fmt.Errorf("got %+v", ready)
		}
		return nil
	})
	if got := deployment(t, web).Generation; got != generation {
		t.Errorf("the Deployment was changed: generation %d, before %d", got, generation)
	}
	says(t, namespace, "terminationGracePeriodSeconds: 9\n")
	grace(t, web, 9)
	grace(t, later, 9)
}

// Defaults with which pods do not become ready are stopped after a few AppServices.
func TestAChangeOfDefaultsGoesInTurnsAndIsHalted(t *testing.T) {
	t.Parallel()
	const count = 5
	namespace := cluster.Namespace(t)
	refused := fmt.Sprintf("merge (ternary (dict %q `%s`) (dict) (eq (int .Values.terminationGracePeriodSeconds) 7))", "script.kwok.x-k8s.io/status",
		waits("ImagePullBackOff", "Back-off pulling image", "", 0))
	cluster.Manager(t, namespace, withChart(t, "templates/_pod.tpl", "merge (dict)", refused), func(options *operator.Options, _ *harness.Requests) {
		options.MaxConcurrentRollouts, options.MaxFailedRollouts, options.RolloutDeadline = 1, 1, 10*time.Second
	})
	createMany(t, namespace, count)
	waitForAll(t, namespace, count, func(app *v1.AppService) error { return want("phase", app.Status.Phase, v1.PhaseRunning) })
	cluster.Create(t, defaultsOf(namespace, "terminationGracePeriodSeconds: 7\n"))
	harness.Eventually(t, "the change is halted", func() error {
		touched, held := 0, 0
		for i := range count {
			app := harness.Seed(namespace, nameOf(i))
			if err := present(t, app); err != nil {
				return err
			}
			if app.Status.Release.Revision > 1 {
				touched++
			}
			for _, problem := range app.Status.Problems {
				if problem.Reason == v1.ReasonRolloutHeldBack && strings.Contains(problem.Message, "is halted: ") && strings.Contains(problem.Message, "appservice-defaults") {
					held++
				}
			}
		}
		if touched != 2 || held != count-2 {
			return fmt.Errorf("%d are touched and %d held back", touched, held)
		}
		return nil
	})
	says(t, namespace, "terminationGracePeriodSeconds: 8\n")
	waitForAll(t, namespace, count, func(app *v1.AppService) error { return want("phase", app.Status.Phase, v1.PhaseRunning) })
	for i := range count {
		grace(t, harness.Seed(namespace, nameOf(i)), 8)
	}
}

// watchesWith writes a watches file with more in the entry of AppService.
func watchesWith(t *testing.T, more string) func(*operator.Options, *harness.Requests) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "watches.yaml")
	text := "- group: app.example.com\n  version: v1\n  kind: AppService\n  chart: helm-charts/appservice\n  namespaceDefaults: [terminationGracePeriodSeconds]\n" + more
	files.Write(t, file, text)
	return func(options *operator.Options, _ *harness.Requests) {
		options.WatchesFile, options.ChartDir = file, files.Root(t)
	}
}

func TestEachLayerWinsOverThoseBelow(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	web := harness.Seed(namespace, "web")
	web.Spec.Size = ptr.To[int32](0)
	cluster.Create(t, web)
	var running *harness.Manager
	restart := func(more string) {
		t.Helper()
		if running != nil {
			running.Rest(t) // else the release before is unfinished
			running.Stop(t)
		}
		running = cluster.Manager(t, namespace, watchesWith(t, more))
	}
	restart("  defaultValues: {terminationGracePeriodSeconds: 11, ingress: {className: nginx}}\n")
	grace(t, web, 11)
	if got := web.Status.Defaults; len(got) != 1 || got[0].Source != "defaultValues of watches.yaml" || len(got[0].Fields) != 1 {
		t.Errorf("got the defaults %+v: an Ingress needs hosts", got)
	}
	restart("  defaultValues: {terminationGracePeriodSeconds: 12}\n")
	grace(t, web, 12)
	cluster.Create(t, defaultsOf(namespace, "terminationGracePeriodSeconds: 13"))
	grace(t, web, 13)
	cluster.Change(t, web, func(app *v1.AppService) { app.Spec.TerminationGracePeriodSeconds = ptr.To[int64](14) })
	grace(t, web, 14)
	restart("  defaultValues: {terminationGracePeriodSeconds: 12}\n  overrideValues: {terminationGracePeriodSeconds: 15}\n")
	grace(t, web, 15)

	generation := deployment(t, web).Generation
	restart("  defaultValues: {terminationGraceSeconds: 16}\n")
	harness.Eventually(t, "what the platform says is held back", func() error {
		if err := present(t, web); err != nil {
			return err
		}
		const says = "defaultValues of watches.yaml: terminationGraceSeconds: there is no such field"
		if problems := web.Status.Problems; len(problems) != 1 || !strings.Contains(problems[0].Message, says) {
			return fmt.Errorf("got %+v", problems)
		}
		return want("phase", web.Status.Phase, v1.PhaseRunning)
	})
	if got := deployment(t, web).Generation; got != generation {
		t.Errorf("the Deployment was changed: generation %d, before %d", got, generation)
	}
	restart("")
	grace(t, web, 14)
}

// The defaults of a namespace are cached: neither an install nor a change without effect reads them.
func TestDefaultsCostNoRequests(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	cluster.Create(t, defaultsOf(namespace, "terminationGracePeriodSeconds: 7\n"))
	manager := cluster.Manager(t, namespace)
	cluster.Create(t, harness.Seed(namespace, "warm"))
	grace(t, harness.Seed(namespace, "warm"), 7)
	manager.Rest(t)

	web := harness.Seed(namespace, "web")
	web.Spec.Size = ptr.To[int32](0) // pods that are slow would be read for a diagnosis
	install := requests(t, manager, func() { cluster.Create(t, web); cluster.Ready(t, web) })
	if got := withoutStatus(install); len(got) != 3 {
		t.Errorf("an install of two objects took %d requests besides status, want 3: %v", len(got), got)
	}
	grace(t, web, 7)
	noop := requests(t, manager, func() {
		says(t, namespace, "{terminationGracePeriodSeconds: 7} # as it was\n")
		cluster.Change(t, web, func(app *v1.AppService) { app.Annotations = map[string]string{"example.com/note": "x"} })
	})
	if len(noop) != 0 {
		t.Errorf("nothing is new, and it asks: %v", noop)
	}
}
