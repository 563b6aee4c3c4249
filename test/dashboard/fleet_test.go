//go:build cluster

package dashboard

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// fleet is how many resources the list has.
const fleet = 1000

// judged creates an AppService with a status, in a namespace that no operator serves.
func judged(ctx context.Context, namespace, name string, status v1.AppServiceStatus) error {
	app := harness.Seed(namespace, name)
	if err := cluster.Client.Create(ctx, app); err != nil {
		return err
	}
	return judge(ctx, app, status)
}

func judge(ctx context.Context, app *v1.AppService, status v1.AppServiceStatus) error {
	app.Status = status
	app.Status.ObservedGeneration = app.Generation
	for i := range app.Status.Conditions {
		app.Status.Conditions[i].ObservedGeneration = app.Generation
	}
	return cluster.Client.Status().Update(ctx, app)
}

// failing is the status of an AppService that is not ready.
func failing(message, hint string) v1.AppServiceStatus {
	return v1.AppServiceStatus{
		Phase: v1.PhaseDegraded, Replicas: 2, UpdatedReplicas: 1, Readiness: "1/2",
		Conditions: []metav1.Condition{{Type: v1.ConditionReady, Status: metav1.ConditionFalse, Reason: "ContainerCrashed", Message: message,
			LastTransitionTime: metav1.NewTime(time.Now())}},
		Problems: []v1.Problem{{Type: v1.ProblemError, Reason: "ContainerCrashed", Source: "Deployment", Message: message, Hint: hint}},
	}
}

func TestAChangeSendsAndDrawsOneRow(t *testing.T) {
	namespace := cluster.Namespace(t)
	message := `container "app" crashes with exit code 1: django.db.utils.OperationalError: could not connect to server`
	hint := "see the log: kubectl logs --namespace=shop web-5b8b4c7d9-abcde --container=app --previous"
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(16)
	for i := range fleet {
		group.Go(func() error { return judged(ctx, namespace, fmt.Sprintf("web-%04d", i), failing(message, hint)) })
	}
	require.NoError(t, group.Wait())

	address := dashboard(t, namespace)
	var b *tab
	t.Logf("the list of %d is there after %s", fleet, takes(func() {
		b = open(t, address)
		b.becomes(t, fmt.Sprintf("document.querySelectorAll('#rows tr').length === %d", fleet))
	}))
	b.mu.Lock()
	received := b.received
	b.mu.Unlock()
	_, events := b.messages(0)
	t.Logf("it takes %d bytes, %d of them events", received, events)
	assert.LessOrEqual(t, max(received, int64(events)), int64(500_000), "bytes of the first view")

	before := value[int](t, b, "redrawn")
	earlier, _ := b.messages(0)
	app := harness.Seed(namespace, "web-0500")
	cluster.Refresh(t, app)
	t.Logf("a change is drawn after %s", takes(func() {
		require.NoError(t, judge(t.Context(), app, failing("the other cause", "")))
		b.becomes(t, `document.querySelector('[data-id$="/web-0500"]').textContent.includes('the other cause')`)
	}))
	assert.Equal(t, before+1, value[int](t, b, "redrawn"))
	names, _ := b.messages(len(earlier))
	assert.Equal(t, []string{"row"}, names)
}
