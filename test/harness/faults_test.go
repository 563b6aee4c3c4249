package harness

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

func TestFaultsStrikeOneRequest(t *testing.T) {
	cases := map[FaultKind]struct {
		committed bool
		status    int // 0 for an error in place of an answer
		dies      bool
	}{
		DiesBefore: {dies: true},
		DiesAfter:  {committed: true, dies: true},
		Lost:       {},
		Committed:  {committed: true},
		Forbidden:  {status: http.StatusForbidden},
		Conflict:   {status: http.StatusConflict},
		TooMany:    {status: http.StatusTooManyRequests},
		Internal:   {status: http.StatusInternalServerError},
		Overloaded: {status: http.StatusServiceUnavailable},
	}
	for kind, want := range cases {
		t.Run(string(kind), func(t *testing.T) {
			var wire Wire
			line := wire.Line("demo")
			incarnation := wire.Incarnation()
			server := &recorder{}
			send := func() (int, error) { return patch(t, incarnation.Wrap(server)) }
			struck := line.Arm(Fault{At: Point{Verb: "patch", Target: "services/web", Nth: 2}, Kind: kind})
			if status, err := send(); err != nil || status != http.StatusCreated {
				t.Fatalf("the first request: got %d, %v", status, err)
			}
			status, err := send()
			if status != want.status || (err != nil) != (want.status == 0) {
				t.Errorf("got %d, %v, want %d", status, err, want.status)
			}
			select {
			case <-struck:
			default:
				t.Error("nobody learns that it struck")
			}
			sent := 1
			if want.committed {
				sent = 2
			}
			if server.sent != sent {
				t.Errorf("%d requests arrived, want %d", server.sent, sent)
			}
			_, err = send()
			if errors.Is(err, errFenced) != want.dies {
				t.Errorf("the third request: got error %v, dead: %t", err, want.dies)
			}
			if _, err := patch(t, wire.Incarnation().Wrap(server)); err != nil {
				t.Errorf("the next process: %v", err)
			}
		})
	}
}

func TestACutRequestWaitsForTheEndOfTheServer(t *testing.T) {
	for kind, want := range map[FaultKind]struct{ before, after int }{CutBefore: {0, 1}, CutAfter: {1, 1}} {
		t.Run(string(kind), func(t *testing.T) {
			var wire Wire
			line, server, gone := wire.Line("demo"), &recorder{}, make(chan struct{})
			struck := line.Arm(Fault{At: Point{Verb: "patch", Target: "services/web", Nth: 1}, Kind: kind, Gone: gone})
			answered := make(chan error)
			go func() {
				_, err := patch(t, wire.Incarnation().Wrap(server))
				answered <- err
			}()
			<-struck
			if server.sent != want.before {
				t.Errorf("%d requests arrived before the end of the server, want %d", server.sent, want.before)
			}
			select {
			case err := <-answered:
				t.Errorf("it was answered, with error %v", err)
			default:
			}
			close(gone)
			if err := <-answered; (err != nil) != (kind == CutAfter) {
				t.Errorf("got error %v", err)
			}
			if server.sent != want.after {
				t.Errorf("%d requests arrived, want %d", server.sent, want.after)
			}
		})
	}
}

func TestALineCountsWhatWasDone(t *testing.T) {
	var wire Wire
	line := wire.Line("demo")
	transport := wire.Incarnation().Wrap(&recorder{})
	for _, target := range []string{
		"PATCH /api/v1/namespaces/demo/services/web", "PATCH /api/v1/namespaces/demo/services/web?dryRun=All",
		"PATCH /api/v1/namespaces/other/services/web", "GET /api/v1/namespaces/demo/services/web",
		"POST /api/v1/namespaces/demo/events", "DELETE /api/v1/namespaces/demo/secrets/record", "PATCH /api/v1/namespaces/demo/services/web",
	} {
		method, url, _ := strings.Cut(target, " ")
		response, err := transport.RoundTrip(httptest.NewRequestWithContext(t.Context(), method, "http://server"+url, nil))
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
	}
	want := []Point{
		{Verb: "patch", Target: "services/web", Nth: 1}, {Verb: "patch", Target: "services/web", DryRun: true, Nth: 1},
		{Verb: "delete", Target: "secrets/record", Nth: 1}, {Verb: "patch", Target: "services/web", Nth: 2},
	}
	if got := line.Points(); !slices.Equal(got, want) {
		t.Errorf("got points %v, want %v", got, want)
	}
	if got, want := line.Changes(), map[string]int{"create services/web": 2, "delete secrets/record": 1}; !maps.Equal(got, want) {
		t.Errorf("got changes %v, want %v", got, want)
	}
}

func TestAViewStandsStillAndLosesEvents(t *testing.T) {
	cases := map[string]struct {
		end  func(*View)
		want string
	}{
		"it goes on":    {(*View).Thaw, "event"},
		"it loses them": {(*View).Lose, ""},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			view := &View{}
			transport := view.Wrap(&recorder{})
			watch := func() (status int, body io.ReadCloser) {
				t.Helper()
				response, err := transport.RoundTrip(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://server/api/v1/services?watch=true", nil))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = response.Body.Close() })
				return response.StatusCode, response.Body
			}
			_, body := watch()
			view.Freeze("")
			read := make(chan string)
			go func() {
				text, _ := io.ReadAll(body)
				read <- string(text)
			}()
			for view.waiting() == 0 { // until the event has come in and waits
				select {
				case text := <-read:
					t.Fatalf("%q came through", text)
				default:
				}
			}
			test.end(view)
			if got := <-read; got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			status, _ := watch()
			if gone := status == http.StatusGone; gone != (test.want == "") {
				t.Errorf("the next watch is answered %d", status)
			}
		})
	}
}

func TestAViewHidesAGroup(t *testing.T) {
	cases := map[string]struct{ shown, want string }{
		"aggregated": {`{"items":[{"metadata":{"name":"apps"}},{"metadata":{"name":"example.com"}}],"kind":"L"}`, `{"items":[{"metadata":{"name":"apps"}}],"kind":"L"}`},
		"by name":    {`{"groups":[{"name":"example.com"},{"name":"apps"}]}`, `{"groups":[{"name":"apps"}]}`},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			view := &View{}
			server := roundTripper(func(request *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(test.shown)), Request: request}, nil
			})
			for hidden, want := range map[string]string{"": test.shown, "example.com": test.want} {
				view.Hide(hidden)
				response, err := view.Wrap(server).RoundTrip(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://server/apis", nil))
				if err != nil {
					t.Fatal(err)
				}
				got, _ := io.ReadAll(response.Body)
				_ = response.Body.Close()
				if string(got) != want {
					t.Errorf("without %q: got %s, want %s", hidden, got, want)
				}
			}
		})
	}
}

// waiting counts the watches with events that are withheld.
func (v *View) waiting() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.open)
}

// recorder is an API server that takes everything.
type recorder struct{ sent int }

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	r.sent++
	status := http.StatusCreated
	if request.Method != http.MethodPatch {
		status = http.StatusOK
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader("event")), Request: request}, nil
}

func patch(t *testing.T, transport http.RoundTripper) (int, error) {
	t.Helper()
	response, err := transport.RoundTrip(httptest.NewRequestWithContext(t.Context(), http.MethodPatch, "http://server/api/v1/namespaces/demo/services/web", nil))
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}
