package operator

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	helmchart "helm.sh/helm/v3/pkg/chart"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/operator/metrics"
)

// following is a chart of AppServices in a folder, and the queue of their controller.
type following struct {
	*kindChart
	dir   string
	queue priorityqueue.PriorityQueue[reconcile.Request]
}

func follow(t *testing.T, template string) *following {
	t.Helper()
	f := &following{dir: chartFiles(t, map[string]string{"helm-charts/appservice/templates/extra.yaml": template})}
	options := byDefault()
	options.ChartDir = f.dir
	loaded, err := options.charts()
	require.NoError(t, err)
	scheme := runtime.NewScheme()
	require.NoError(t, v1.AddToScheme(scheme))
	named := func(name string) *v1.AppService {
		return &v1.AppService{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: name}}
	}
	cluster := fake.NewClientBuilder().WithScheme(scheme).WithObjects(named("one"), named("two")).Build()
	entry := loaded.list[0]
	f.kindChart = loaded.serve(entry, cluster, metrics.New().Kind(entry.Kind, entry.Chart.Metadata), func(c *helmchart.Chart) *render.Renderer {
		return &render.Renderer{Chart: c}
	})
	f.queue = priorityqueue.New[reconcile.Request]("test", func(o *priorityqueue.Opts[reconcile.Request]) {
		o.RateLimiter = workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]()
	})
	t.Cleanup(f.queue.ShutDown)
	require.NoError(t, f.wake().Start(t.Context(), f.queue))
	return f
}

// becomes changes the template and looks at it.
func (f *following) becomes(t *testing.T, template string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(f.dir, "helm-charts/appservice/templates/extra.yaml"), []byte(template), 0o600))
	f.load(context.Background())
}

// asked takes all requests from the queue.
func (f *following) asked() []string {
	var names []string
	for f.queue.Len() > 0 {
		request, _ := f.queue.Get()
		f.queue.Done(request)
		names = append(names, request.Name)
	}
	slices.Sort(names)
	return names
}

func TestASoundChartIsPutToUseAndABrokenOneIsNot(t *testing.T) {
	f := follow(t, "# one\n")
	first := f.current.Get()
	f.becomes(t, "# one\n")
	if f.current.Get() != first || f.queue.Len() != 0 {
		t.Error("a chart that is the same was put to use again")
	}
	f.becomes(t, "# {{ now }}\n")
	if f.current.Get() != first || f.queue.Len() != 0 || f.told == "" {
		t.Error("a broken chart was put to use, or nobody was told")
	}
	f.becomes(t, "# one\n")
	if f.current.Get() != first || f.told != "" {
		t.Error("the chart that is in use is not known again")
	}
	f.becomes(t, "# two\n")
	second := f.current.Get()
	if second == first || second.Identity().Digest == first.Identity().Digest {
		t.Fatal("a sound chart was not put to use")
	}
	if got := f.asked(); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("asked for are %v", got)
	}
}

func TestABrokenChartAtTheStartRendersNothingUntilItIsMended(t *testing.T) {
	f := follow(t, "# {{ now }}\n")
	var fault *render.ChartError
	if _, err := f.current.Get().Draft(t.Context(), render.Input{}); !errors.As(err, &fault) {
		t.Errorf("got %v, want a mistake of the chart", err)
	}
	f.becomes(t, "# one\n")
	if f.current.Get().Broken != nil {
		t.Error("the mended chart is not in use")
	}
	if got := f.asked(); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("asked for are %v", got)
	}
}
