package dashboard

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const host, port = "127.0.0.1:4711", "4711"

// request is one to a guard, by a browser that opened the page unless it is changed.
func request(g *guard, change func(*http.Request)) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "http://"+g.host+"/rows", nil)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.AddCookie(&http.Cookie{Name: g.cookie, Value: g.secret})
	if change != nil {
		change(r)
	}
	return r
}

const secret = "the list"

func served(g *guard, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	g.of(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, secret) })).ServeHTTP(w, r)
	return w
}

func TestOnlyTheBrowserThatOpenedThePageIsAnswered(t *testing.T) {
	own := newGuard(host, port)
	require.Equal(t, secret, served(own, request(own, nil)).Body.String())

	cookie := func(name, value string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Del("Cookie")
			if name != "" {
				r.AddCookie(&http.Cookie{Name: name, Value: value})
			}
		}
	}
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	vectors := map[string]func(*http.Request){
		"no cookie":                            cookie("", ""),
		"an empty cookie":                      cookie(own.cookie, ""),
		"a guessed cookie":                     cookie(own.cookie, strings.Repeat("A", len(own.secret))),
		"the cookie of another port":           cookie("appservice-dashboard-4712", own.secret),
		"the token as the cookie":              cookie(own.cookie, own.token),
		"another site":                         header("Sec-Fetch-Site", "cross-site"),
		"a page of another port":               header("Sec-Fetch-Site", "same-site"),
		"the address bar, beside the page":     header("Sec-Fetch-Site", "none"),
		"a program that is no browser":         func(r *http.Request) { r.Header.Del("Sec-Fetch-Site") },
		"an unknown site":                      header("Sec-Fetch-Site", "same-origin, cross-site"),
		"a name that resolves to this address": func(r *http.Request) { r.Host = "rebound.example.com:4711" },
		"localhost":                            func(r *http.Request) { r.Host = "localhost:4711" },
		"the host of another port":             func(r *http.Request) { r.Host = "127.0.0.1:4712" },
		"no port":                              func(r *http.Request) { r.Host = "127.0.0.1" },
		"no host":                              func(r *http.Request) { r.Host = "" },
		"another loopback address":             func(r *http.Request) { r.Host = "127.0.0.2:4711" },
		"an address in IPv6":                   func(r *http.Request) { r.Host = "[::ffff:127.0.0.1]:4711" },
		"a host with a user":                   func(r *http.Request) { r.Host = "user@127.0.0.1:4711" },
		"a guessed token":                      func(r *http.Request) { r.URL.Path, r.URL.RawQuery = "/", "token=guessed"; cookie("", "")(r) },
		"an empty token":                       func(r *http.Request) { r.URL.Path, r.URL.RawQuery = "/", "token="; cookie("", "")(r) },
		"the token beside the first page":      func(r *http.Request) { r.URL.RawQuery = "token=" + own.token; cookie("", "")(r) },
		"the token from another site": func(r *http.Request) {
			r.URL.Path, r.URL.RawQuery = "/", "token="+own.token
			cookie("", "")(r)
			header("Sec-Fetch-Site", "cross-site")(r)
		},
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
		http.MethodHead, http.MethodTrace, http.MethodConnect} {
		vectors["method "+method] = func(r *http.Request) { r.Method = method }
	}
	blocked := 0
	for name, change := range vectors {
		w := served(own, request(own, change))
		if w.Code < http.StatusBadRequest || strings.Contains(w.Body.String(), secret) || w.Header().Get("Set-Cookie") != "" {
			t.Errorf("%s: was answered with %d: %s", name, w.Code, w.Body)
			continue
		}
		assert.Equal(t, "no-store", w.Header().Get("Cache-Control"), name)
		blocked++
	}
	fmt.Printf("DASHBOARD vectors=%d blocked=%d\n", len(vectors), blocked)
	require.NotEmpty(t, own.token, "no vector has spent it")
}

func TestTheAddressWorksOnce(t *testing.T) {
	g := newGuard(host, port)
	opened := func(change func(*http.Request)) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "http://"+host+"/?token="+g.token, nil)
		r.Header.Set("Sec-Fetch-Site", "none")
		if change != nil {
			change(r)
		}
		return served(g, r)
	}
	printed := g.token
	w := opened(nil)
	require.Equal(t, http.StatusSeeOther, w.Code)
	assert.Equal(t, "/", w.Header().Get("Location"), "the token is gone from the address")
	cookies := w.Result().Cookies()
	require.Len(t, cookies, 1)
	assert.Equal(t, "appservice-dashboard-4711", cookies[0].Name)
	assert.True(t, cookies[0].HttpOnly)
	assert.Equal(t, http.SameSiteStrictMode, cookies[0].SameSite)
	assert.NotContains(t, cookies[0].Value, printed)

	require.Empty(t, g.token)
	again := httptest.NewRequest(http.MethodGet, "http://"+host+"/?token="+printed, nil)
	again.Header.Set("Sec-Fetch-Site", "none")
	assert.Equal(t, http.StatusForbidden, served(g, again).Code)
	again.AddCookie(cookies[0])
	assert.Equal(t, http.StatusSeeOther, served(g, again).Code, "the browser that has the cookie may load it again")

	first := httptest.NewRequest(http.MethodGet, "http://"+host+"/", nil)
	first.Header.Set("Sec-Fetch-Site", "none")
	first.AddCookie(cookies[0])
	assert.Equal(t, secret, served(g, first).Body.String())
	assert.NotEqual(t, g.secret, newGuard(host, port).secret, "it is new with each start")
}

func TestThePageIsServedAtALoopbackAddressOnly(t *testing.T) {
	_, err := New(Cluster{}, listener("10.0.0.1:80"))
	require.EqualError(t, err, "cannot serve at 10.0.0.1:80: it has to be a loopback address")
	server, err := New(Cluster{}, listener(host))
	require.NoError(t, err)
	assert.Regexp(t, `^http://127\.0\.0\.1:4711/\?token=[A-Z2-7]{26}$`, server.URL())
}

// listener has an address only.
type listener string

func (l listener) Accept() (net.Conn, error) { return nil, io.EOF }
func (l listener) Close() error              { return nil }
func (l listener) Addr() net.Addr            { return address(l) }

type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }
