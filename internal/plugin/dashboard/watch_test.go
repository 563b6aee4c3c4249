package dashboard

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/plugin/tree"
)

// never is a cache of a cluster that does not answer.
type never struct{ ctrlcache.Cache }

func (never) Start(ctx context.Context) error { <-ctx.Done(); return nil }

func (never) WaitForCacheSync(ctx context.Context) bool { <-ctx.Done(); return false }

func TestThePageDoesNotWaitForAClusterThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		require.NoError(t, (&Server{}).Watch(t.Context(), never{}))
		assert.Equal(t, patience, time.Since(began))

		interrupted, interrupt := context.WithCancel(t.Context())
		interrupt()
		require.ErrorIs(t, (&Server{}).Watch(interrupted, never{}), context.Canceled)
	})
}

// answers is a transport with given answers.
type answers struct {
	code int
	body string
	err  error
}

func (a *answers) RoundTrip(*http.Request) (*http.Response, error) {
	if a.err != nil {
		return nil, a.err
	}
	return &http.Response{StatusCode: a.code, Status: "503 Service Unavailable", Body: io.NopCloser(strings.NewReader(a.body))}, nil
}

func TestTroubleIsStreamed(t *testing.T) {
	server, _ := pageOf(t)
	event := events(t, server)
	require.Contains(t, event(), "event: rows\n")
	ask := func(path string, a answers) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://cluster/"+path+"?watch=true", nil)
		require.NoError(t, err)
		response, err := server.Observed(&a).RoundTrip(r)
		if a.err != nil {
			require.ErrorIs(t, err, a.err)
			return ""
		}
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return string(body)
	}
	refused := answers{err: errors.New("connection\nrefused \u202e")}
	ask("appservices", refused)
	assert.Equal(t, "event: trouble\ndata: \"connection refused \\\\u202e\"\n", event())
	ask("appjobs", refused) // the same once more is no news
	forbidden := answers{code: http.StatusForbidden, body: `{"kind":"Status","message":"appjobs is forbidden"}`}
	assert.Equal(t, forbidden.body, ask("appjobs", forbidden), "the watch reads it, too")
	assert.Equal(t, "event: trouble\ndata: \"appjobs is forbidden; connection refused \\\\u202e\"\n", event())
	assert.Equal(t, "watched", ask("appservices", answers{code: http.StatusOK, body: "watched"}))
	assert.Equal(t, "event: trouble\ndata: \"appjobs is forbidden\"\n", event())
	assert.Contains(t, events(t, server)(), `"trouble":"appjobs is forbidden"`, "a new listener gets it")
	ask("appjobs", answers{code: http.StatusServiceUnavailable, body: "<html>"})
	assert.Equal(t, "event: trouble\ndata: \"503 Service Unavailable\"\n", event())
	ask("appjobs", answers{code: http.StatusNotFound, body: `{"message":"` + strings.Repeat("x", longest) + `y"}`})
	assert.Equal(t, "event: trouble\ndata: \""+strings.Repeat("x", longest-1)+"…\"\n", event())
	ask("appjobs", answers{code: http.StatusOK})
	assert.Equal(t, "event: trouble\ndata: \"\"\n", event())
	assert.NotContains(t, events(t, server)(), "trouble")
}

func TestNoStepOfAStalledResourceLooksLikeSuccess(t *testing.T) {
	conditions := func(stalled metav1.ConditionStatus) []metav1.Condition {
		return []metav1.Condition{{Type: v1.ConditionReady, Status: metav1.ConditionFalse}, {Type: v1.ConditionAvailable, Status: metav1.ConditionTrue},
			{Type: v1.ConditionProgressing, Status: metav1.ConditionTrue}, {Type: v1.ConditionDeployed, Status: metav1.ConditionTrue},
			{Type: v1.ConditionStalled, Status: stalled}}
	}
	steps := func(stalled metav1.ConditionStatus) []tree.Node {
		return rolloutOf(&tree.Findings{Now: now, Status: &v1.AppServiceStatus{Conditions: conditions(stalled)}}).Steps
	}
	assert.Equal(t, []tree.Node{{Name: "Deployed", State: tree.StateReady}, {Name: "Progressing", State: tree.StateReady}, {Name: "Available", State: tree.StateReady}, {Name: "Ready", State: tree.StateWaiting}},
		steps(metav1.ConditionFalse))
	assert.Equal(t, []tree.Node{{Name: "Deployed", State: ""}, {Name: "Progressing", State: tree.StateFailed}, {Name: "Available", State: ""}, {Name: "Ready", State: tree.StateFailed}},
		steps(metav1.ConditionTrue))
}
