//go:build cluster

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// optionalCRD is a template with a kind that can never be watched, for an option that is off.
const optionalCRD = `{{- if eq .Values.image "never" }}
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: buckets.example.com}
{{- end }}
`

// An entry of watches.yaml that is wrong is refused alone, and stays so until the operator is restarted: all other kinds are served.
func TestAnEntryThatIsWrongIsRefusedAlone(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	dir := files.Charts(t)
	watches := filepath.Join(dir, "watches.yaml")
	files.Write(t, watches, `
- {group: app.example.com, version: v1, kind: AppService, chart: helm-charts/appservice}
- {group: app.example.com, version: v1, kind: AppJob, chart: helm-charts/appjob, unheardOf: true}
- {chart: helm-charts/appjob}
`)
	var options operator.Options
	manager := cluster.Manager(t, namespace, func(o *operator.Options, _ *harness.Requests) {
		o.ChartDir, o.WatchesFile = dir, watches
		options = *o
	})
	cluster.CreateReady(t, harness.Seed(namespace, "one"))
	eventOfCRD(t, "appjobs", v1.ReasonChartRefused, `entry 2 of watches: error unmarshaling JSON: while decoding JSON: json: unknown field "unheardOf"`)
	job := appJob(namespace, map[string]any{"image": "busybox"})
	cluster.Create(t, job)
	waits := func() {
		t.Helper()
		harness.Eventually(t, "the resource of the refused kind waits", func() error {
			cluster.Refresh(t, job)
			return stands(job, map[string]string{v1.ConditionReady: "False " + v1.ReasonRenderFailed})
		})
	}
	waits()
	files.Write(t, filepath.Join(dir, "helm-charts/appjob/templates/note.yaml"), "# another chart\n")
	cluster.CreateReady(t, withDatabase(namespace, "two"))
	waits()
	_, err := operator.CheckFiles(options, nil)
	require.ErrorContains(t, err, "AppJob cannot be served: entry 2 of watches: ")
	require.ErrorContains(t, err, "entry 3 of watches: version and kind are required")

	manager.Stop(t)
	files.Write(t, watches, "- {group: app.example.com, version: v1, kind: AppJob, chart: helm-charts/appjob}\n")
	cluster.Manager(t, namespace, func(o *operator.Options, _ *harness.Requests) { o.ChartDir, o.WatchesFile = dir, watches })
	becomesReady(t, job)
}

// A chart with a kind that can never be watched is refused alone, at the start and when it changes: all other kinds are
// served, and an event of the CRD names the template.
func TestAChartThatIsRefusedIsRefusedAlone(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	dir := files.Charts(t)
	template := func(name string) string {
		return filepath.Join(dir, "helm-charts/appjob/templates", name+"-"+namespace+".yaml")
	}
	files.Write(t, template("first"), optionalCRD)
	cluster.Manager(t, namespace, func(options *operator.Options, _ *harness.Requests) { options.ChartDir = dir })
	cluster.CreateReady(t, harness.Seed(namespace, "one"))
	eventOfCRD(t, "appjobs", v1.ReasonChartRefused, "templates/first-"+namespace+".yaml:3 renders a CustomResourceDefinition, which cannot be watched")
	job := appJob(namespace, map[string]any{"image": "busybox"})
	cluster.Create(t, job)
	harness.Eventually(t, "the resource of the refused chart waits", func() error {
		cluster.Refresh(t, job)
		return stands(job, map[string]string{v1.ConditionReady: "False " + v1.ReasonRenderFailed})
	})

	require.NoError(t, os.Remove(template("first")))
	becomesReady(t, job)
	files.Write(t, template("second"), optionalCRD)
	files.Write(t, filepath.Join(dir, "helm-charts/appjob/crds/bucket-"+namespace+".yaml"), "{}")
	eventOfCRD(t, "appjobs", v1.ReasonChartRefused, "cannot load chart helm-charts/appjob: templates/second-"+namespace+".yaml:3 renders")
	cluster.CreateReady(t, harness.Seed(namespace, "two"))
	becomesReady(t, job)

	require.NoError(t, os.Remove(template("second")))
	eventOfCRD(t, "appjobs", v1.ReasonChartWarning, "crds: is not installed (bucket-"+namespace+".yaml)")
	becomesReady(t, job)
}

// A chart for a later Kubernetes is refused alone as well. The releases that a kind has already are still served: an event
// of its CRD warns of it.
func TestAChartForALaterKubernetesIsRefusedAlone(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	dir, version := files.Charts(t), `">=1.99.0-`+namespace+`"` // it is of this test alone
	needsLater := func(chart string) {
		path := filepath.Join(dir, "helm-charts", chart, "Chart.yaml")
		text := strings.Replace(string(files.Text(t, path)), `">= 1.34.0-0"`, version, 1)
		require.Contains(t, text, version)
		files.Write(t, path, text)
	}
	needsLater("appjob")
	cluster.Manager(t, namespace, func(options *operator.Options, _ *harness.Requests) { options.ChartDir = dir })
	app, job := harness.Seed(namespace, "one"), appJob(namespace, map[string]any{"image": "busybox"})
	cluster.CreateReady(t, app)
	eventOfCRD(t, "appjobs", v1.ReasonChartRefused, "kubeVersion "+version+" does not include the cluster's version v1.")
	cluster.Create(t, job)
	harness.Eventually(t, "the resource of the refused chart waits", func() error {
		cluster.Refresh(t, job)
		return stands(job, map[string]string{v1.ConditionReady: "False " + v1.ReasonRenderFailed})
	})

	needsLater("appservice")
	eventOfCRD(t, "appservices", v1.ReasonChartWarning, "kubeVersion "+version+" does not include the cluster's version v1.")
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:1.27" })
	cluster.Ready(t, app)
}

// eventOfCRD waits for an event of a CRD.
func eventOfCRD(t *testing.T, plural, reason, note string) {
	t.Helper()
	harness.Eventually(t, "the CRD has an event "+reason, func() error {
		list := &corev1.EventList{}
		if err := cluster.Client.List(t.Context(), list, client.InNamespace("default")); err != nil {
			return err
		}
		var seen []string
		for _, event := range list.Items {
			about := event.InvolvedObject
			if about.Name != plural+".app.example.com" || about.UID == "" || event.Reason != reason {
				continue
			}
			if strings.Contains(event.Message, note) {
				return nil
			}
			seen = append(seen, event.Message)
		}
		return fmt.Errorf("want %q, there are %q", note, seen)
	})
}
