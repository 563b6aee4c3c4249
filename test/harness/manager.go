package harness

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/example/appservice-operator/internal/operator"
)

// Manager is an operator that runs in the test's process.
type Manager struct {
	// Requests that it has made.
	Requests *Requests

	cancel context.CancelFunc
	done   chan error
	synced func(context.Context) bool
	killed bool
}

// Manager starts an operator that serves one namespace, and waits until its caches are filled. It ends with the test, or
// when Stop is called.
func (c *Cluster) Manager(t *testing.T, namespace string, change ...func(*operator.Options, *Requests)) *Manager {
	t.Helper()
	running := c.Launch(t, namespace, change...)
	running.Synced(t)
	return running
}

// ManagedNamespace makes a namespace and starts an operator that serves it, as Namespace and Manager do.
func (c *Cluster) ManagedNamespace(t *testing.T, change ...func(*operator.Options, *Requests)) (string, *Manager) {
	t.Helper()
	namespace := c.Namespace(t)
	return namespace, c.Manager(t, namespace, change...)
}

// Synced waits until the caches of an operator are filled. Without a right to list or watch they never are.
func (m *Manager) Synced(t *testing.T) {
	t.Helper()
	patience, enough := context.WithTimeout(t.Context(), Patience)
	defer enough()
	require.True(t, m.synced(patience), "the caches of the operator did not fill; forbidden were %v", m.Requests.Forbidden())
}

// Launch starts an operator that serves one namespace and does not wait. It has the rights of config/rbac; one with other charts, Unbound.
func (c *Cluster) Launch(t *testing.T, namespace string, change ...func(*operator.Options, *Requests)) *Manager {
	t.Helper()
	requests := &Requests{}
	options := operator.Options{
		WatchNamespaces:         []string{namespace},
		MaxConcurrentReconciles: 16,
		ReconcileTimeout:        2 * time.Minute,
		MaxConcurrentRollouts:   10,
		MaxFailedRollouts:       3,
		RolloutDeadline:         15 * time.Minute,
		HistoryMax:              5,
		MetricsAddress:          "0",
		ProbeAddress:            "0",
	}
	for _, apply := range change {
		apply(&options, requests)
	}
	config := rest.CopyConfig(c.identity())
	config.WrapTransport = requests.Wrap
	mgr, err := operator.New(config, options)
	require.NoError(t, err, "cannot assemble the operator")
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	running := &Manager{Requests: requests, cancel: cancel, done: make(chan error, 1), synced: mgr.GetCache().WaitForCacheSync}
	go func() { running.done <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		running.Stop(t)
		assert.Empty(t, requests.WholeSecrets(), "Secrets are listed or watched with what is in them")
	})
	return running
}

// Kill ends an operator whose requests fail from now on, without waiting: as of a process that is gone, nothing of it arrives any more.
func (m *Manager) Kill() {
	m.killed = true
	m.cancel()
}

// Stop ends the operator and waits for it.
func (m *Manager) Stop(t *testing.T) {
	t.Helper()
	m.cancel()
	if m.killed {
		return
	}
	select {
	case err, open := <-m.done:
		if !open {
			return
		}
		close(m.done)
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("the operator ended with: %v", err)
		}
	case <-time.After(Patience):
		t.Error("the operator did not end")
	}
}

// Log sends the operator's log to the test binary's output. It is called once, from TestMain.
func Log() {
	log.SetLogger(zap.New())
}
