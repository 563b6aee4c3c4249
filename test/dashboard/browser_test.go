//go:build cluster

package dashboard

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/test/harness"
)

// dashboard starts the command for a namespace, and returns the address that it prints.
func dashboard(t *testing.T, namespace string, flags ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), program,
		append([]string{"dashboard", "--namespace=" + namespace, "--kubeconfig=" + cluster.Kubeconfig}, flags...)...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	lines := bufio.NewReader(out)
	var address string
	for address == "" {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		if strings.HasPrefix(line, "http://") {
			address = strings.TrimSpace(line)
		}
	}
	t.Cleanup(func() { // the context of the test has ended, and so the command is interrupted
		_, _ = io.Copy(io.Discard, lines)
		_ = command.Wait()
	})
	return address
}

// tab is a page of a browser, and what it did.
type tab struct {
	ctx context.Context

	mu sync.Mutex
	// complaints are errors in its console: exceptions, what its policy forbids, answers that are errors.
	complaints []string
	hosts      map[string]bool
	received   int64 // bytes of all answers that have ended
	events     []*network.EventEventSourceMessageReceived
}

// open opens an address in a browser of its own.
func open(t *testing.T, address string) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox,
		chromedp.WindowSize(1280, 800), chromedp.WSURLReadTimeout(harness.Patience))
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	b := &tab{ctx: ctx, hosts: map[string]bool{}}
	chromedp.ListenTarget(ctx, b.listen)
	require.NoError(t, chromedp.Run(ctx)) // starts the browser, which ends with this context
	b.do(t, network.Enable(), cdplog.Enable(), chromedp.Navigate(address))
	return b
}

func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, e.ExceptionDetails.Error())
	case *cdplog.EventEntryAdded:
		if e.Entry.Level == cdplog.LevelError {
			b.complaints = append(b.complaints, e.Entry.Text+" "+e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		if to, err := url.Parse(e.Request.URL); err == nil {
			b.hosts[to.Host] = true
		}
	case *network.EventDataReceived:
		b.received += e.DataLength
	case *network.EventEventSourceMessageReceived:
		b.events = append(b.events, e)
	}
}

// do runs actions, each with much patience.
func (b *tab) do(t *testing.T, actions ...chromedp.Action) {
	t.Helper()
	for _, action := range actions {
		ctx, cancel := context.WithTimeout(b.ctx, harness.Patience)
		err := chromedp.Run(ctx, action)
		cancel()
		require.NoError(t, err)
	}
}

// value returns the value of an expression of JavaScript.
func value[T any](t *testing.T, b *tab, expression string) T {
	t.Helper()
	var out T
	b.do(t, chromedp.Evaluate(expression, &out))
	return out
}

// becomes waits until an expression is true; if it does not, the error has the text of the page.
func (b *tab) becomes(t *testing.T, expression string) {
	t.Helper()
	harness.Eventually(t, expression, func() error {
		var is bool
		if err := chromedp.Run(b.ctx, chromedp.Evaluate("!!("+expression+")", &is)); err != nil {
			return err
		}
		if !is {
			var text string
			_ = chromedp.Run(b.ctx, chromedp.Evaluate(`JSON.stringify([document.activeElement.id, document.activeElement.value, document.body.innerText.slice(0, 2000)])`, &text))
			return notYet(text)
		}
		return nil
	})
}

type notYet string

func (n notYet) Error() string { return "the page says " + string(n) }

// show opens the page of a resource.
func (b *tab) show(t *testing.T, namespace, name string) {
	t.Helper()
	b.do(t, chromedp.Evaluate("location.hash = "+quoted("/AppService.app.example.com/"+namespace+"/"+name), nil))
	b.becomes(t, "document.querySelector('#resource h2')?.textContent.includes("+quoted("AppService "+name+" ")+")")
}

// quoted returns a text as JavaScript.
func quoted(text string) string {
	out, _ := json.Marshal(text) // a text
	return string(out)
}

// messages returns the server-sent events since a number of them.
func (b *tab) messages(from int) (names []string, bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, event := range b.events[from:] {
		names, bytes = append(names, event.EventName), bytes+len(event.Data)
	}
	return names, bytes
}

// takes returns how long something takes, for the log only.
func takes(do func()) time.Duration {
	began := time.Now()
	do()
	return time.Since(began).Round(time.Millisecond)
}

// awaited is an option of an expression that is a promise.
func awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }
