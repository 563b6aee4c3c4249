//go:build cluster

package dashboard

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// password is in the environment of an application, and must be on no page.
const password = "hunter2"

// names are those of the list, in their order.
const names = `[...document.querySelectorAll('#rows tr')].filter(row => !row.hidden).map(row => row.children[1].textContent)`

func TestThePageShowsWhatIsNotReadyAndWhy(t *testing.T) {
	const namespace = "shop" // which the pictures show
	cluster.Create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	cluster.Manager(t, namespace)
	web := harness.Seed(namespace, "web")
	web.Spec.Envs = []corev1.EnvVar{{Name: "PASSWORD", Value: password}}
	cluster.CreateReady(t, web)
	shop := harness.Seed(namespace, "shop")
	shop.Spec.Ports[0].NodePort, shop.Spec.Image = nil, "nginx:1.28"
	cluster.CreateReady(t, shop)
	cluster.Change(t, shop, func(shop *v1.AppService) { shop.Spec.Image = "nginx:1.29" })
	cluster.Ready(t, shop)
	cluster.Change(t, shop, func(shop *v1.AppService) {
		shop.Spec.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "database"}}}}
	})
	cluster.Condition(t, shop, v1.ConditionReady, "False", "")

	b := open(t, dashboard(t, namespace))
	b.becomes(t, names+".join() === 'shop,web'")
	assert.Equal(t, "/", value[string](t, b, "location.pathname + location.search"), "the token is gone from the address")
	b.becomes(t, `document.querySelector('#counts').textContent.startsWith('1 not ready, 1 ready')`)
	assert.Contains(t, value[string](t, b, `document.querySelector('#rows').textContent`), `database`)
	assert.Empty(t, value[string](t, b, `document.cookie`), "no script reads it")
	picture(t, b, "dashboard")

	b.do(t, input.DispatchKeyEvent(input.KeyDown).WithKey("/").WithText("/"), chromedp.KeyEvent("web"))
	b.becomes(t, names+".join() === 'web'")
	b.do(t, chromedp.KeyEvent(kb.Escape), chromedp.Evaluate(`$('search').value = ''; filter()`, nil))
	b.do(t, chromedp.Click("#unready", chromedp.ByQuery))
	b.becomes(t, names+".join() === 'shop'")

	b.show(t, namespace, "shop")
	text := value[string](t, b, `document.querySelector('#resource').textContent`)
	for _, word := range []string{"Why", "Rollout", "Objects", "Releases", "Logs", `Secret "database"`, "nginx:1.28 → nginx:1.29"} {
		assert.Contains(t, text, word)
	}
	picture(t, b, "dashboard-resource")

	b.show(t, namespace, "web")
	b.do(t, chromedp.Evaluate(`[...document.querySelectorAll('#resource summary')].find(s => s.textContent.startsWith('as YAML')).click()`, nil))
	b.becomes(t, `document.querySelector('#resource pre')`)
	text = value[string](t, b, `document.querySelector('#resource').textContent`)
	assert.Contains(t, text, "(7 characters)")
	assert.NotContains(t, value[string](t, b, `document.documentElement.outerHTML`), password)

	light := value[string](t, b, `getComputedStyle(document.body).backgroundColor`)
	b.do(t, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
	assert.NotEqual(t, light, value[string](t, b, `getComputedStyle(document.body).backgroundColor`))
	b.do(t, chromedp.KeyEvent(kb.Escape))
	b.becomes(t, `!document.querySelector('#list').hidden`)

	// Ready now: the row moves to its place without a word from the user.
	cluster.Create(t, &corev1.Secret{ObjectMeta: harness.Seed(namespace, "database").ObjectMeta})
	cluster.Ready(t, shop)
	b.becomes(t, `document.querySelector('#counts').textContent.startsWith('0 not ready, 2 ready')`)

	b.mu.Lock()
	defer b.mu.Unlock()
	assert.Empty(t, b.complaints)
	assert.Len(t, b.hosts, 1, "it asks nobody else: %v", b.hosts)
}

// picture writes what the browser shows, for the documentation.
func picture(t *testing.T, b *tab, name string) {
	t.Helper()
	folder := os.Getenv("SCREENSHOTS")
	if folder == "" {
		return
	}
	var content []byte
	b.do(t, chromedp.CaptureScreenshot(&content))
	require.NoError(t, os.WriteFile(filepath.Join(folder, name+".png"), content, 0o644))
}

// attacks are what a page of another port of this machine tries, each a promise of what it got.
const attacks = `(async at => {
  const within = (make, events) => new Promise(done => {
    const one = make();
    for (const event of events) one.addEventListener(event, () => done(event));
  });
  const add = (name, change) => { const one = document.createElement(name); change(one); document.body.append(one); return one; };
  const answer = async (path, options) => { try { return 'read ' + (await (await fetch(at + path, options)).text()).length; } catch (error) { return 'refused'; } };
  return {
    fetch: await answer('/rows'),
    fetchWithCookies: await answer('/rows', {credentials: 'include'}),
    fetchWithoutCORS: await answer('/', {mode: 'no-cors', credentials: 'include'}),
    post: await answer('/', {method: 'POST', credentials: 'include'}),
    script: await within(() => add('script', one => one.src = at + '/page.js'), ['load', 'error']),
    image: await within(() => add('img', one => one.src = at + '/icon.svg'), ['load', 'error']),
    style: await within(() => add('link', one => { one.rel = 'stylesheet'; one.href = at + '/page.css'; }), ['load', 'error']),
    events: await within(() => new EventSource(at + '/rows', {withCredentials: true}), ['rows', 'error']),
    frame: await within(() => add('iframe', one => one.src = at + '/'), ['load']).then(() => {
      try { return document.querySelector('iframe').contentDocument.body.textContent; } catch (error) { return 'refused'; } }),
  };
})`

func TestAPageOfAnotherPortGetsNothing(t *testing.T) {
	namespace := cluster.Namespace(t)
	b := open(t, dashboard(t, namespace))
	b.becomes(t, `document.querySelector('#scope').textContent.includes(`+quoted(namespace)+`)`)
	own := value[string](t, b, "location.origin")
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>evil</title><body>"))
	}))
	defer evil.Close()
	b.mu.Lock()
	assert.Empty(t, b.complaints, "of a page without a row")
	b.mu.Unlock()
	b.do(t, chromedp.Navigate(evil.URL)) // in the browser that has the cookie
	got := map[string]string{}
	b.do(t, chromedp.Evaluate(attacks+"("+quoted(own)+")", &got, awaited))
	blocked := 0
	for name, outcome := range got {
		if outcome == "refused" || outcome == "error" {
			blocked++
		} else {
			t.Errorf("%s: %s", name, outcome)
		}
	}
	t.Logf("DASHBOARD browser vectors=%d blocked=%d", len(got), blocked)
	assert.Len(t, got, 9)

	address, err := url.Parse(own)
	require.NoError(t, err)
	b.do(t, chromedp.Navigate("http://localhost:"+address.Port()+"/"))
	assert.NotContains(t, strings.ToLower(value[string](t, b, `document.documentElement.outerHTML`)), `id="rows"`, "by another name")
}
