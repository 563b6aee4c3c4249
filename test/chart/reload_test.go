//go:build cluster

package chart

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// changing is the template that the tests change, and what is wrong with the other one.
const (
	changing = "templates/extra.yaml"
	unsound  = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-extra}\ndata: {version: {{ now | quote }}}\n"
)

// versioned is a sound template of a version.
func versioned(version string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-extra}\ndata: {version: " + strconv.Quote(version) + "}\n"
}

// A changed chart takes effect at once; one that cannot be used does not, and everything else continues.
func TestChartsAreFollowedWithoutARestart(t *testing.T) {
	cluster := controlPlane(t)
	namespace := cluster.Namespace(t)
	dir := files.Charts(t)
	cluster.Manager(t, namespace, from(dir))
	apps := []*v1.AppService{small(namespace, "one"), small(namespace, "two"), small(namespace, "three")}
	for _, app := range apps {
		cluster.Create(t, app)
	}
	for _, app := range apps {
		cluster.Ready(t, app)
	}

	began := time.Now()
	save(t, dir, versioned("1"))
	follow(t, cluster, apps, "1")
	show("reload_ms", strconv.FormatInt(time.Since(began).Milliseconds(), 10))

	save(t, dir, unsound)
	refused(t, 1)
	cluster.Change(t, apps[0], func(app *v1.AppService) { app.Spec.Image = "nginx:1.27" })
	cluster.Ready(t, apps[0])
	follow(t, cluster, apps, "1")

	save(t, dir, versioned("2"))
	follow(t, cluster, apps, "2")
	refused(t, 0)

	remove(t, dir)
	harness.Eventually(t, "what is no longer rendered goes", func() error {
		var list corev1.ConfigMapList
		if err := cluster.Client.List(t.Context(), &list, client.InNamespace(namespace), client.MatchingLabels{v1.LabelManaged: "true"}); err != nil {
			return err
		}
		if len(list.Items) > 0 {
			return fmt.Errorf("%d ConfigMaps are there", len(list.Items))
		}
		return nil
	})
}

// If the first chart cannot be used, there is none before it: running objects stay as they are, and everything
// continues when the chart is fixed.
func TestAManagerThatStartsWithAChartThatCannotBeUsedWaitsForIt(t *testing.T) {
	cluster := controlPlane(t)
	namespace := cluster.Namespace(t)
	dir := files.Charts(t)
	save(t, dir, versioned("1"))
	first := cluster.Manager(t, namespace, from(dir))
	app := small(namespace, "one")
	cluster.CreateReady(t, app)
	first.Stop(t)

	save(t, dir, unsound)
	cluster.Manager(t, namespace, from(dir))
	late := small(namespace, "late")
	cluster.Create(t, late)
	condition := cluster.Condition(t, late, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonRenderFailed)
	if want := changing + ":4 uses now"; !strings.Contains(condition.Message, want) {
		t.Errorf("got %q, want that it names %s", condition.Message, want)
	}
	follow(t, cluster, []*v1.AppService{app}, "1")

	save(t, dir, versioned("2"))
	cluster.Ready(t, late)
	follow(t, cluster, []*v1.AppService{app, late}, "2")
	untouched(t, cluster, app)
}

// untouched fails if the operator repaired anything for an AppService without drift.
func untouched(t *testing.T, cluster *harness.Cluster, app *v1.AppService) {
	t.Helper()
	var events corev1.EventList
	cluster.List(t, &events, client.InNamespace(app.Namespace))
	for _, event := range events.Items {
		if event.InvolvedObject.Name == app.Name && event.Reason == v1.ReasonDriftCorrected {
			t.Errorf("the operator put back what was there: %s", event.Message)
		}
	}
}

// small is an AppService without pods.
func small(namespace, name string) *v1.AppService {
	app := harness.Seed(namespace, name)
	app.Spec.Size = new(int32)
	return app
}

func from(dir string) func(*operator.Options, *harness.Requests) {
	return func(options *operator.Options, _ *harness.Requests) { options.ChartDir = dir }
}

func extra(dir string) string { return filepath.Join(dir, "helm-charts/appservice", changing) }

func save(t *testing.T, dir, text string) {
	t.Helper()
	files.Write(t, extra(dir), text)
}

func remove(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, os.Remove(extra(dir)))
}

// follow waits until the objects of all AppServices are of a version of the template.
func follow(t *testing.T, cluster *harness.Cluster, apps []*v1.AppService, version string) {
	t.Helper()
	for _, app := range apps {
		harness.Eventually(t, app.Name+" follows version "+version, func() error {
			var object corev1.ConfigMap
			key := client.ObjectKey{Namespace: app.Namespace, Name: app.Name + "-extra"}
			if err := cluster.Client.Get(t.Context(), key, &object); err != nil {
				return err
			}
			if got := object.Data["version"]; got != version {
				return fmt.Errorf("it is of version %s", got)
			}
			return nil
		})
	}
}

// refused waits until the metric reports whether the files of the chart can be used.
func refused(t *testing.T, want float64) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("appservice_chart_load_failed becomes %v", want), func() error {
		families, err := ctrlmetrics.Registry.Gather()
		if err != nil {
			return err
		}
		for _, family := range families {
			if family.GetName() != "appservice_chart_load_failed" {
				continue
			}
			for _, metric := range family.GetMetric() {
				for _, label := range metric.GetLabel() {
					if label.GetValue() == v1.Kind && metric.GetGauge().GetValue() == want {
						return nil
					}
				}
			}
		}
		return fmt.Errorf("it is not")
	})
}
