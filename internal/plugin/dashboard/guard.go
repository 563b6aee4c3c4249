package dashboard

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"sync"
)

// guard answers only the browser that opened the printed address. Other pages that it shows, and other users of the
// machine, are refused: they cannot read the token, and their requests say where they come from.
type guard struct {
	// host is the only one that requests may name, "127.0.0.1:PORT". Another one is a name that resolves to this address.
	host string
	// cookie is its name, which has the port: browsers send cookies of one port to all others.
	cookie, secret string

	mu sync.Mutex
	// token is in the printed address; empty once it was exchanged for the cookie.
	token string
}

func newGuard(host, port string) *guard {
	return &guard{host: host, cookie: "appservice-dashboard-" + port, secret: rand.Text(), token: rand.Text()}
}

// headers are those of every answer.
var headers = map[string]string{
	"Cache-Control":                "no-store",
	"Content-Security-Policy":      "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Referrer-Policy":              "no-referrer",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
}

// of returns a handler that passes on what may be answered.
func (g *guard) of(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		site := r.Header.Get("Sec-Fetch-Site")
		first := r.URL.Path == "/"
		switch {
		case r.Method != http.MethodGet:
			w.Header().Set("Allow", http.MethodGet)
			http.Error(w, "this page only shows: use GET", http.StatusMethodNotAllowed)
		case r.Host != g.host:
			http.Error(w, "this page is http://"+g.host+" only", http.StatusForbidden)
		case site != "same-origin" && (!first || site != "none"):
			http.Error(w, "another page, or a program that is no browser, made this request", http.StatusForbidden)
		case first && r.URL.Query().Has("token"):
			g.exchange(w, r)
		case !g.knows(r):
			http.Error(w, "open the address that kubectl appservice dashboard printed; it can be opened once", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// exchange gives the cookie for the token, once, and removes it from the address.
func (g *guard) exchange(w http.ResponseWriter, r *http.Request) {
	if !g.knows(r) && !g.spend(r.URL.Query().Get("token")) {
		http.Error(w, "this address was opened already, or is of an earlier start: run kubectl appservice dashboard again", http.StatusForbidden)
		return
	}
	//nolint:gosec // Secure would need TLS; the address is the loopback one
	http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: g.secret, Path: "/", HttpOnly: true,
		SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// spend reports whether a token is the one that was printed, the first time.
func (g *guard) spend(token string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.token == "" || subtle.ConstantTimeCompare([]byte(token), []byte(g.token)) == 0 {
		return false
	}
	g.token = ""
	return true
}

// knows reports whether a request has the cookie.
func (g *guard) knows(r *http.Request) bool {
	cookie, err := r.Cookie(g.cookie)
	return err == nil && subtle.ConstantTimeCompare([]byte(cookie.Value), []byte(g.secret)) == 1
}
