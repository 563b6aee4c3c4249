//go:build cluster

package chart

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

const (
	fleet       = 300
	concurrent  = 10 // --max-concurrent-rollouts
	mayFail     = 3  // --max-failed-rollouts
	deadline    = 30 * time.Second
	refusedBy   = `{{ if has .Release.Name (list "web-041" "web-207") }}{{ fail "no room for it" }}{{ end }}`
	annotations = "merge (dict) $checksum .Values.podAnnotations"
	script      = "script.kwok.x-k8s.io/status"
	// neverReady is a script for simulated pods: their image cannot be pulled.
	neverReady = "merge (dict \"" + script + "\" `{phase: Pending, " +
		"conditions: [{type: Initialized, status: \"True\"}, {type: Ready, status: \"False\", lastTransitionTime: NOW}, {type: ContainersReady, status: \"False\"}], " +
		"containerStatuses: [{name: app, image: x, imageID: \"\", ready: false, started: false, restartCount: 0, " +
		"state: {waiting: {reason: ImagePullBackOff, message: \"Back-off pulling image\"}}}]}`) $checksum .Values.podAnnotations"
	labels = `include "appservice.labels" . | nindent 4`
)

// TestAChartCannotTakeDownAFleet applies one chart after the other to 300 AppServices: one that cannot be rendered for two of them, one whose pods
// never become ready, and one that is mended. While the second is halted, a Secret is rotated that all of them use.
func TestAChartCannotTakeDownAFleet(t *testing.T) {
	f := newFleet(t)
	manager := f.start()
	shared := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: "shared"}, StringData: map[string]string{"KEY": "first"}}
	f.cluster.Create(t, shared)
	for i := range fleet {
		app := harness.Seed(f.namespace, nameOf(i))
		app.Spec.Size, app.Spec.Ports = ptr.To[int32](1), nil // a cluster has addresses for 254 Services
		app.Spec.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: shared.Name}}}}
		f.cluster.Create(t, app)
	}
	f.wait("the fleet is ready", func(app *v1.AppService) error { return f.standing(app, false) })
	before := f.generations()

	refused := []string{"web-041", "web-207"}
	f.write("templates/refused.yaml", refusedBy)
	f.wait("two are held back", func(app *v1.AppService) error { return f.standing(app, slices.Contains(refused, app.Name)) })
	if got := f.blamed(); !slices.Equal(got, refused) {
		t.Errorf("events name %v, want the two that it cannot be rendered for", got)
	}
	f.shown(map[string]float64{"failed": 2, "held": 0})

	f.replace("templates/_pod.tpl", annotations, neverReady)
	f.remove("templates/refused.yaml")
	harness.Eventually(t, "the chart comes to some", func() error {
		if touched := differing(before, f.generations()); len(touched) < mayFail {
			return fmt.Errorf("it came to %d", len(touched))
		}
		return nil
	})
	manager.Stop(t) // in the middle
	f.start()
	var touched []string
	harness.Eventually(t, "the chart is halted", func() error {
		touched = differing(before, f.generations())
		if held, failed := f.state("held"), f.state("failed"); int(held) != fleet-len(touched) || int(failed) != len(touched) {
			return fmt.Errorf("%v are held back and %v failed of %d that were touched", held, failed, len(touched))
		}
		return nil
	})
	if len(touched) > concurrent+mayFail {
		t.Errorf("%d were touched by a chart whose pods never become ready, want at most %d + %d", len(touched), concurrent, mayFail)
	}
	othersServe := func(app *v1.AppService) error {
		if slices.Contains(touched, app.Name) {
			return nil
		}
		return f.standing(app, true)
	}
	f.wait("all others serve, and say why", othersServe)
	if again := differing(before, f.generations()); !slices.Equal(again, touched) {
		t.Errorf("%d were touched after the halt: %v, then %v", len(again)-len(touched), touched, again)
	}

	halted := f.generations()
	f.cluster.Edit(t, shared, func() { shared.StringData = map[string]string{"KEY": "second"} })
	harness.Eventually(t, "all pods restart", func() error {
		if restarted := differing(halted, f.generations()); len(restarted) < fleet {
			return fmt.Errorf("those of %d do", len(restarted))
		}
		return nil
	})
	f.wait("all others serve again", othersServe)
	for name, deployment := range f.deployments() {
		if deployment.Generation != halted[name]+1 {
			t.Errorf("%s is at generation %d, want %d: its pods restart once", name, deployment.Generation, halted[name]+1)
		}
		if broken := deployment.Spec.Template.Annotations[script] != ""; broken != slices.Contains(touched, name) {
			t.Errorf("%s has the chart that is halted: %t", name, broken)
		}
	}

	f.replace("templates/_pod.tpl", neverReady, annotations)
	f.replace("templates/deployment.yaml", labels, labels+" }}\n    example.com/mended: {{ \"here\"")
	for home := fleet / 3; home <= fleet; home += fleet / 3 { // a slow machine needs time
		harness.Eventually(t, fmt.Sprintf("the mended chart comes to %d", home), func() error {
			mended := 0
			for _, deployment := range f.deployments() {
				if deployment.Labels["example.com/mended"] != "" {
					mended++
				}
			}
			if mended < home {
				return fmt.Errorf("it came to %d", mended)
			}
			return nil
		})
	}
	f.wait("the mended chart brings all home", func(app *v1.AppService) error { return f.standing(app, false) })
	for name, deployment := range f.deployments() {
		assert.EqualValues(t, "here", deployment.Labels["example.com/mended"], "%s has not the mended chart", name)
	}
	show("fleet_untouched", strconv.Itoa(fleet-len(touched)))
}

func nameOf(i int) string { return fmt.Sprintf("web-%03d", i) }

// served is a fleet, and the folder of the chart that it is served from.
type served struct {
	t         *testing.T
	cluster   *harness.Cluster
	namespace string
	dir       string
	reader    func() client.Reader
}

func newFleet(t *testing.T) *served {
	t.Helper()
	f := &served{t: t, cluster: controlPlane(t), dir: files.Charts(t)}
	f.namespace = f.cluster.Namespace(t)
	f.reader = sync.OnceValue(func() client.Reader { return f.cluster.Cache(t, f.namespace) })
	return f
}

// start starts an operator.
func (f *served) start() *harness.Manager {
	f.t.Helper()
	return f.cluster.Manager(f.t, f.namespace, func(options *operator.Options, _ *harness.Requests) {
		options.ChartDir, options.MaxConcurrentRollouts, options.MaxFailedRollouts, options.RolloutDeadline = f.dir, concurrent, mayFail, deadline
	})
}

func (f *served) file(name string) string {
	return filepath.Join(f.dir, "helm-charts/appservice", name)
}

func (f *served) write(name, text string) {
	f.t.Helper()
	files.Write(f.t, f.file(name), text)
}

func (f *served) remove(name string) {
	f.t.Helper()
	if err := os.Remove(f.file(name)); err != nil {
		f.t.Fatal(err)
	}
}

// replace changes a template.
func (f *served) replace(name, before, after string) {
	f.t.Helper()
	text, err := os.ReadFile(f.file(name))
	if err != nil {
		f.t.Fatal(err)
	}
	if !strings.Contains(string(text), before) {
		f.t.Fatalf("%s does not contain %q", name, before)
	}
	f.write(name, strings.Replace(string(text), before, after, 1))
}

// list reads all objects of the namespace.
func (f *served) list(into client.ObjectList) error {
	return f.reader().List(f.t.Context(), into, client.InNamespace(f.namespace))
}

// wait waits until a check holds for all AppServices.
func (f *served) wait(what string, check func(*v1.AppService) error) {
	f.t.Helper()
	harness.Eventually(f.t, what, func() error {
		list := &v1.AppServiceList{}
		if err := f.list(list); err != nil {
			return err
		}
		missing, first := fleet-len(list.Items), error(nil)
		for i := range list.Items {
			if err := check(&list.Items[i]); err != nil {
				missing++
				first = fmt.Errorf("%s: %w", list.Items[i].Name, err)
			}
		}
		if missing > 0 {
			return fmt.Errorf("not so for %d: %w", missing, first)
		}
		return nil
	})
}

// standing returns an error unless an AppService is ready, and held back or not.
func (f *served) standing(app *v1.AppService, held bool) error {
	ready := meta.FindStatusCondition(app.Status.Conditions, v1.ConditionReady)
	if ready == nil || ready.Status != "True" || ready.ObservedGeneration != app.Generation {
		return fmt.Errorf("it is not ready: %+v", ready)
	}
	is := slices.ContainsFunc(app.Status.Problems, func(p v1.Problem) bool { return p.Reason == v1.ReasonRolloutHeldBack })
	if is != held {
		return fmt.Errorf("held back: %t", is)
	}
	return nil
}

func (f *served) deployments() map[string]appsv1.Deployment {
	f.t.Helper()
	list := &appsv1.DeploymentList{}
	if err := f.list(list); err != nil {
		f.t.Fatal(err)
	}
	out := map[string]appsv1.Deployment{}
	for _, deployment := range list.Items {
		out[deployment.Name] = deployment
	}
	return out
}

// generations are those of all Deployments: one that is touched has another.
func (f *served) generations() map[string]int64 {
	f.t.Helper()
	out := map[string]int64{}
	for name, deployment := range f.deployments() {
		out[name] = deployment.Generation
	}
	return out
}

// differing lists what is another value than before.
func differing(before, now map[string]int64) (names []string) {
	for name, value := range before {
		if now[name] != value {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// blamed are the AppServices with a Warning event that the chart cannot be rendered.
func (f *served) blamed() (names []string) {
	f.t.Helper()
	harness.Eventually(f.t, "events name who is at fault", func() error {
		list := &eventsv1.EventList{}
		if err := f.cluster.Client.List(f.t.Context(), list, client.InNamespace(f.namespace)); err != nil {
			return err
		}
		names = nil
		for _, event := range list.Items {
			if event.Type == "Warning" && strings.Contains(event.Note, "cannot be rendered") {
				names = append(names, event.Regarding.Name)
			}
		}
		slices.Sort(names)
		if names = slices.Compact(names); len(names) < 2 {
			return fmt.Errorf("they name %v", names)
		}
		return nil
	})
	return names
}

// state is what a metric says of how many resources are in a state.
func (f *served) state(state string) float64 {
	f.t.Helper()
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		f.t.Fatal(err)
	}
	return value(families, prometheus.Labels{"kind": v1.Kind, "state": state})
}

func value(families []*dto.MetricFamily, labels prometheus.Labels) float64 {
	for _, family := range families {
		if family.GetName() != "appservice_rollout_resources" {
			continue
		}
		for _, metric := range family.GetMetric() {
			matches := 0
			for _, label := range metric.GetLabel() {
				if labels[label.GetName()] == label.GetValue() {
					matches++
				}
			}
			if matches == len(labels) {
				return metric.GetGauge().GetValue()
			}
		}
	}
	return -1
}

// shown fails the test unless the metric says so.
func (f *served) shown(want map[string]float64) {
	f.t.Helper()
	for state, resources := range want {
		if got := f.state(state); got != resources {
			f.t.Errorf("the metric says that %v are %s, want %v", got, state, resources)
		}
	}
}
