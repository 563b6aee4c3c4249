package controller

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator/status"
)

// mortal is a bench whose resource was created at the start and has this spec.ttl. Deletions are answered with an error, if there is one,
// and kept with their options.
type mortal struct {
	*bench
	answer    error
	deletions []client.DeleteOptions
	// refuseStatus has the API server refuse each status.
	refuseStatus bool
}

func newMortal(t *testing.T, ttl string) *mortal {
	t.Helper()
	m := &mortal{bench: newBench(t, "nginx")}
	m.Client = interceptor.NewClient(m.client.(client.WithWatch), interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			m.deletions = append(m.deletions, *(&client.DeleteOptions{}).ApplyOptions(options))
			if m.answer != nil {
				return m.answer
			}
			return c.Delete(ctx, object)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			if m.refuseStatus {
				return errors.New("no status is taken")
			}
			return c.SubResource(sub).Patch(ctx, object, patch, options...)
		},
	})
	m.spec(t, func(web *v1.AppService) {
		web.Spec.TTL = ttl
		web.CreationTimestamp = metav1.NewTime(start)
	})
	m.Status.Client = m.Client
	m.Period = 0
	m.installed(t)
	return m
}

func (m *mortal) spec(t *testing.T, change func(*v1.AppService)) {
	t.Helper()
	web := m.web(t)
	change(web)
	web.Generation++
	require.NoError(t, m.client.Update(t.Context(), web))
}

// at reconciles at a time since the creation and returns the events.
func (m *mortal) at(t *testing.T, age time.Duration) []string {
	t.Helper()
	m.clock.SetTime(start.Add(age))
	m.reconcile(t)
	return m.events()
}

// restart forgets what a process remembers.
func (m *mortal) restart() {
	m.memory.resources = nil
	m.Status = &status.Writer{Client: m.Client, Clock: m.clock}
}

func TestAResourceIsWarnedOfOnceAndThenDeleted(t *testing.T) {
	m := newMortal(t, "10m")
	expect := func(age time.Duration, want ...string) {
		t.Helper()
		if events := m.at(t, age); !slices.EqualFunc(events, want, strings.HasPrefix) {
			t.Errorf("at %s: got events %q, want %q", age, events, want)
		}
	}
	const warning = "Warning Expiring AppService web will be deleted at 2026-01-01T00:10:00Z (spec.ttl 10m): raise spec.ttl"
	expect(time.Minute)
	if ends := m.web(t).Status.ExpirationTime; ends == nil || !ends.Time.Equal(start.Add(10*time.Minute)) {
		t.Errorf("the status says that it ends at %v", ends)
	}
	expect(9*time.Minute, warning)
	expect(9*time.Minute + time.Second)
	m.restart()
	expect(9*time.Minute + 20*time.Second)

	m.spec(t, func(web *v1.AppService) { web.Spec.TTL = "1h" })
	expect(9*time.Minute + 40*time.Second)
	if web := m.web(t); status.Expiry(&web.Status) != nil || len(m.deletions) > 0 {
		t.Errorf("with more time, it has problems %v and deletions %v", web.Status.Problems, m.deletions)
	}
	expect(54*time.Minute, "Warning Expiring AppService web will be deleted at 2026-01-01T01:00:00Z")

	m.spec(t, func(web *v1.AppService) { web.Spec.TTL = "" })
	expect(55 * time.Minute)
	expect(2 * time.Hour)
	if web := m.web(t); web.Status.ExpirationTime != nil || len(m.deletions) > 0 {
		t.Errorf("without an end, the status says %v, and it has deletions %v", web.Status.ExpirationTime, m.deletions)
	}

	m.spec(t, func(web *v1.AppService) { web.Spec.TTL, web.Spec.Paused = "1m", true }) // paused or not
	expect(3*time.Hour, "Normal Paused", "Warning Expiring AppService web will be deleted at 2026-01-01T03:00:06Z")
	m.restart()
	expect(3*time.Hour + 5*time.Second)
	if len(m.deletions) > 0 {
		t.Errorf("before the announced time, it has deletions %v", m.deletions)
	}
	expect(3*time.Hour+6*time.Second, "Normal Expired deleted: spec.ttl (1m) expired")
	if err := m.client.Get(t.Context(), webName, &v1.AppService{}); !apierrors.IsNotFound(err) {
		t.Errorf("it is there still: %v", err)
	}
	if len(m.deletions) != 1 {
		t.Fatalf("got %d deletions, want 1", len(m.deletions))
	}
	got := m.deletions[0]
	if got.Preconditions == nil || *got.Preconditions.UID != "web-uid" || *got.Preconditions.ResourceVersion == "" || *got.PropagationPolicy != metav1.DeletePropagationBackground {
		t.Errorf("it was deleted with %+v", got)
	}
	expect(4 * time.Hour) // nothing is left to do
}

// A status that was not written announced nothing.
func TestNothingIsDeletedUnannounced(t *testing.T) {
	m := newMortal(t, "")
	m.at(t, 0)
	m.spec(t, func(web *v1.AppService) { web.Spec.TTL = "10m" })
	m.refuseStatus = true
	for age := time.Hour; age < 4*time.Hour; age += time.Hour {
		m.clock.SetTime(start.Add(age))
		_, _ = m.Reconcile(t.Context(), reconcile.Request{NamespacedName: webName})
	}
	if len(m.deletions) > 0 {
		t.Fatalf("it was deleted, and nothing had announced it")
	}
	m.refuseStatus = false
	m.at(t, 4*time.Hour)
	if ends := m.web(t).Status.ExpirationTime; ends == nil || !ends.Time.Equal(start.Add(4*time.Hour+time.Minute)) || len(m.deletions) > 0 {
		t.Errorf("it ends at %v, want a minute later, with deletions %v", ends, m.deletions)
	}
	m.at(t, 4*time.Hour+time.Minute)
	if len(m.deletions) != 1 {
		t.Errorf("at the announced time: got %d deletions", len(m.deletions))
	}
}

func TestADeletionThatIsRefused(t *testing.T) {
	kind := schema.GroupResource{Group: "app.example.com", Resource: "appservices"}
	cases := map[string]struct {
		answer error
		events []string
		cared  bool // looked after as before
	}{
		"somebody changed it meanwhile": {apierrors.NewConflict(kind, "web", errors.New("the version is another")), nil, false},
		"somebody deleted it":           {apierrors.NewNotFound(kind, "web"), nil, false},
		"a right is missing": {apierrors.NewForbidden(kind, "web", errors.New("no right")), []string{
			`Warning ExpirationFailed deletion at 2026-01-01T00:10:00Z (spec.ttl) failed: appservices.app.example.com "web" is forbidden: no right: change`,
		}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := newMortal(t, "10m")
			m.at(t, 0)
			m.answer = tc.answer
			events := m.at(t, time.Hour)
			if !slices.EqualFunc(events, tc.events, strings.HasPrefix) {
				t.Errorf("got events %q, want %q", events, tc.events)
			}
			web := m.web(t)
			if found := status.Expiry(&web.Status); (found != nil) != tc.cared {
				t.Errorf("got problem %v", found)
			}
			if !tc.cared {
				return
			}
			m.spec(t, func(web *v1.AppService) { web.Spec.Paused = true })
			if events := m.at(t, time.Hour+time.Minute); len(events) != 1 || !strings.HasPrefix(events[0], "Normal Paused") {
				t.Errorf("got events %q, want that its spec was seen, and nothing told again", events)
			}
			m.answer = nil
			if events := m.at(t, 2*time.Hour); len(events) != 1 || !strings.HasPrefix(events[0], "Normal Expired ") {
				t.Errorf("got events %q, want that it was deleted", events)
			}
		})
	}
}
