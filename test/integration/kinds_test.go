//go:build cluster

package integration

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// widgetCharts has everything that a further kind needs besides its CRD: a watches file and a chart, no Go.
var widgetCharts = map[string]string{
	"charts/widget/Chart.yaml":  "apiVersion: v2\nname: widget\nversion: 1.0.0\n",
	"charts/widget/values.yaml": "message: none\nplace: default\n",
	"charts/widget/templates/configmap.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-message
data:
  message: {{ .Values.message | quote }}
  place: {{ .Values.place | quote }}
`,
	"charts/widget/templates/role.yaml": `{{- if .Values.global }}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ .Release.Namespace }}-{{ .Release.Name }}
rules: []
{{- end }}
`,
}

var widgetKind = schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Widget"}

func TestAFurtherKindIsServedWithoutGo(t *testing.T) {
	namespace := cluster.Namespace(t)
	t.Setenv("WIDGET_PLACE", "Paris") // overrideValues take it from the environment
	cluster.Unbound().Manager(t, namespace, watching(t, `overrideValues: {place: "{{ upper \"$WIDGET_PLACE\" }}"}`))
	widget := newWidget(namespace, "w", map[string]any{"message": "hello", "global": map[string]any{"on": true}})
	cluster.Create(t, widget)

	config := &corev1.ConfigMap{}
	role := &rbacv1.ClusterRole{}
	harness.Eventually(t, "the chart is rendered", func() error {
		if err := cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "w-message"}, config); err != nil {
			return err
		}
		if err := cluster.Client.Get(t.Context(), client.ObjectKey{Name: namespace + "-w"}, role); err != nil {
			return err
		}
		return want("data", config.Data["message"]+" "+config.Data["place"], "hello PARIS")
	})
	cluster.Becomes(t, "it is ready, and held because of the ClusterRole", widget, func() error {
		phase, _, _ := unstructured.NestedString(widget.Object, "status", "phase")
		return want("phase and finalizers", fmt.Sprint(phase, widget.GetFinalizers()), "Running["+v1.Finalizer+"]")
	})
	cluster.Delete(t, role)
	harness.Eventually(t, "a cluster-scoped object returns", func() error {
		return cluster.Client.Get(t.Context(), client.ObjectKey{Name: namespace + "-w"}, &rbacv1.ClusterRole{})
	})
	cluster.Delete(t, widget)
	harness.Eventually(t, "what the garbage collector does not delete goes, and the widget", func() error {
		for _, object := range []client.Object{widget, role} {
			if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); !apierrors.IsNotFound(err) {
				return fmt.Errorf("%T is there: %w", object, err)
			}
		}
		return nil
	})
}

func TestTheSelectorOfAWatchChoosesResources(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	cluster.Unbound().Manager(t, namespace, watching(t, "selector: {matchLabels: {team: a}}"))
	cluster.Unbound().Manager(t, namespace, watching(t, "selector: {matchExpressions: [{key: team, operator: NotIn, values: [a]}]}"))
	for _, team := range []string{"a", "b"} {
		widget := newWidget(namespace, team, map[string]any{"message": "team " + team})
		widget.SetLabels(map[string]string{"team": team})
		cluster.Create(t, widget)
	}
	harness.Eventually(t, "each manager serves its own", func() error {
		for _, team := range []string{"a", "b"} {
			if err := cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: team + "-message"}, &corev1.ConfigMap{}); err != nil {
				return err
			}
		}
		return nil
	})
	harness.Eventually(t, "each has its record", func() error { // written after the objects
		list := &corev1.SecretList{}
		if err := cluster.Client.List(t.Context(), list, client.InNamespace(namespace), client.MatchingLabels{"owner": "helm"}); err != nil {
			return err
		}
		return want("release records", len(list.Items), 2)
	})
}

func TestTheReconcilePeriodRepairsWhatIsNotWatched(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	cluster.Unbound().Manager(t, namespace, watching(t, "watchDependentResources: false\nreconcilePeriod: 1s"))
	cluster.Create(t, newWidget(namespace, "w", map[string]any{"message": "hello"}))
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "w-message"}}
	back := func() error { return cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(config), config) }
	harness.Eventually(t, "it is rendered", back)
	cluster.Delete(t, config)
	harness.Eventually(t, "it returns after the period", back)
}

func TestMaxConcurrentReconcilesOfAWatchHolds(t *testing.T) {
	t.Parallel()
	for _, most := range []int{1, 2} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			t.Parallel()
			namespace := cluster.Namespace(t)
			var mu sync.Mutex
			busy, seen := 0, 0
			second := make(chan struct{}) // closed when two run at the same time
			cluster.Unbound().Manager(t, namespace, watching(t, fmt.Sprintf("maxConcurrentReconciles: %d", most)),
				func(_ *operator.Options, requests *harness.Requests) {
					requests.Intercept = func(request harness.Request) error {
						if !request.Writes() || filepath.Base(filepath.Dir(request.Path)) != "configmaps" {
							return nil
						}
						mu.Lock()
						busy++
						seen = max(seen, busy)
						if busy == 2 {
							close(second)
						}
						mu.Unlock()
						patience := harness.Patience
						if most == 1 {
							patience = time.Second // there is no other
						}
						select {
						case <-second:
						case <-time.After(patience):
						}
						mu.Lock()
						busy--
						mu.Unlock()
						return nil
					}
				})
			for _, name := range []string{"a", "b"} {
				cluster.Create(t, newWidget(namespace, name, map[string]any{"message": name}))
			}
			harness.Eventually(t, "both are rendered", func() error {
				for _, name := range []string{"a-message", "b-message"} {
					if err := cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, &corev1.ConfigMap{}); err != nil {
						return err
					}
				}
				return nil
			})
			mu.Lock()
			defer mu.Unlock()
			if seen != most {
				t.Errorf("%d were at work at the same time, want %d", seen, most)
			}
		})
	}
}

// watching has a manager serve Widgets, and nothing else, with further lines in their entry of the watches file.
func watching(t *testing.T, lines string) func(*operator.Options, *harness.Requests) {
	t.Helper()
	return charted(t, widgetCharts, lines)
}

// charted has a manager serve Widgets by another chart.
func charted(t *testing.T, chart map[string]string, lines string) func(*operator.Options, *harness.Requests) {
	t.Helper()
	installWidgets(t)
	return serving(t, widgetKind, chart, lines)
}

// serving has a manager serve a kind by a chart, and nothing else, with further lines in its entry of the watches file.
func serving(t *testing.T, kind schema.GroupVersionKind, chart map[string]string, lines string) func(*operator.Options, *harness.Requests) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range chart {
		files.Write(t, filepath.Join(dir, name), text)
	}
	entry := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(lines), &entry))
	for key, value := range map[string]string{"group": kind.Group, "version": kind.Version, "kind": kind.Kind, "chart": "charts/widget"} {
		entry[key] = value
	}
	text, err := yaml.Marshal([]any{entry})
	require.NoError(t, err)
	file := filepath.Join(dir, "watches.yaml")
	files.Write(t, file, string(text))
	return func(options *operator.Options, _ *harness.Requests) { options.WatchesFile = file }
}

func installWidgets(t *testing.T) {
	t.Helper()
	cluster.Install(t, harness.WithStatus(harness.AnyCRD(widgetKind, "widgets")))
}

func newWidget(namespace, name string, spec map[string]any) *unstructured.Unstructured {
	widget := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	widget.SetGroupVersionKind(widgetKind)
	widget.SetNamespace(namespace)
	widget.SetName(name)
	return widget
}
