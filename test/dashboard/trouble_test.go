//go:build cluster

package dashboard

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/example/appservice-operator/api/v1"
)

// relay passes connections on to the API server, until it goes away.
type relay struct {
	to, at string

	mu   sync.Mutex
	open []io.Closer
}

func relayed(t *testing.T) *relay {
	t.Helper()
	api, err := url.Parse(cluster.Config.Host)
	require.NoError(t, err)
	r := &relay{to: api.Host, at: "127.0.0.1:0"}
	r.returns(t)
	t.Cleanup(r.goes)
	return r
}

// returns lets it listen, at the address of before.
func (r *relay) returns(t *testing.T) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", r.at)
	require.NoError(t, err)
	r.at = listener.Addr().String()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = append(r.open, listener)
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return // it went away
			}
			to, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", r.to)
			if err != nil {
				_ = from.Close()
				continue
			}
			r.mu.Lock()
			r.open = append(r.open, from, to)
			r.mu.Unlock()
			go func() { _, _ = io.Copy(to, from) }()
			go func() { _, _ = io.Copy(from, to) }()
		}
	}()
}

// goes ends it and all its connections.
func (r *relay) goes() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.open {
		_ = one.Close()
	}
	r.open = nil
}

const connection = `document.querySelector('#connection').textContent`

func TestThePageSaysThatTheClusterDoesNotAnswer(t *testing.T) {
	namespace := cluster.Namespace(t)
	require.NoError(t, judged(t.Context(), namespace, "web", failing("it crashes", "")))
	way := relayed(t)
	b := open(t, dashboard(t, namespace, "--server=https://"+way.at))
	b.becomes(t, "document.querySelectorAll('#rows tr').length === 1")
	assert.Empty(t, value[string](t, b, connection))

	way.goes()
	b.becomes(t, connection+`.includes('connection refused: this is what was seen last')`)
	assert.Contains(t, value[string](t, b, connection), "the cluster does not answer: ")
	b.do(t, chromedp.Reload())
	b.becomes(t, connection+`.includes('connection refused')`) // a new listener
	assert.Equal(t, 1, value[int](t, b, "document.querySelectorAll('#rows tr').length"))

	way.returns(t)
	b.becomes(t, connection+` === ''`)
}

func TestThePageSaysThatARightWasRevoked(t *testing.T) {
	namespace := cluster.Namespace(t)
	require.NoError(t, judged(t.Context(), namespace, "web", failing("it crashes", "")))
	user := "reader-of-" + namespace
	binding := reads(t, namespace, user)
	way := relayed(t)
	b := open(t, dashboard(t, namespace, "--server=https://"+way.at, "--as="+user))
	b.becomes(t, "document.querySelectorAll('#rows tr').length === 1")
	assert.Equal(t, "all,AppService", value[string](t, b, `[...document.querySelector('#kind').options].map(kind => kind.textContent).join()`))

	cluster.Delete(t, binding)
	way.goes() // an open watch is not asked for rights again
	way.returns(t)
	b.becomes(t, connection+`.includes('is forbidden: User "`+user+`" cannot ')`)
	reads(t, namespace, user)
	b.becomes(t, connection+` === ''`)
}

func TestNoStepOfAStalledResourceLooksLikeSuccess(t *testing.T) {
	namespace := cluster.Namespace(t)
	status := failing("it crashes", "")
	for _, kind := range []string{v1.ConditionDeployed, v1.ConditionProgressing, v1.ConditionAvailable, v1.ConditionStalled} {
		status.Conditions = append(status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: "AsExpected",
			LastTransitionTime: metav1.NewTime(time.Now())})
	}
	require.NoError(t, judged(t.Context(), namespace, "web", status))
	b := open(t, dashboard(t, namespace))
	b.show(t, namespace, "web")
	assert.Equal(t, "Deployed= Progressing=Failed Available= Ready=Failed",
		value[string](t, b, `[...document.querySelectorAll('.stages li')].map(step => step.textContent + '=' + step.className).join(' ')`))
}
