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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
			assert.EqualValues(t, sent, server.sent, "%d requests arrived, want %d", server.sent, sent)
			_, err = send()
			assert.EqualValues(t, want.dies, errors.Is(err, errFenced), "the third request: got error %v, dead: %t", err, want.dies)
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
			assert.Zero(t, line.Quiet())
			assert.EqualValues(t, want.before, server.sent, "%d requests arrived before the end of the server, want %d", server.sent, want.before)
			select {
			case err := <-answered:
				t.Errorf("it was answered, with error %v", err)
			default:
			}
			close(gone)
			if err := <-answered; (err != nil) != (kind == CutAfter) {
				t.Errorf("got error %v", err)
			}
			assert.NotZero(t, line.Quiet(), "it is not quiet after the answer")
			assert.EqualValues(t, want.after, server.sent, "%d requests arrived, want %d", server.sent, want.after)
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
		require.NoError(t, err)
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

func TestALineKeepsWhatWasSaid(t *testing.T) {
	cases := map[string]struct{ body, want string }{
		"text":     {`{"spec":{}}`, `patch services/web #1: {"spec":{}}`},
		"protobuf": {"k8s\x00\n", "patch services/web #1: 5 bytes"},
		"no text":  {"\xff\xfe", "patch services/web #1: 2 bytes"},
		"nothing":  {"", "patch services/web #1: "},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			var wire Wire
			line, server := wire.Line("demo"), &recorder{}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, "http://server/api/v1/namespaces/demo/services/web", strings.NewReader(test.body))
			require.NoError(t, err)
			response, err := wire.Incarnation().Wrap(server).RoundTrip(request)
			require.NoError(t, err)
			_ = response.Body.Close()
			if got := line.Said(); !slices.Equal(got, []string{test.want}) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if sent, err := io.ReadAll(request.Body); err != nil || string(sent) != test.body {
				t.Errorf("%q was left to send, and error %v", sent, err)
			}
			if line.Start(); len(line.Said()) > 0 {
				t.Errorf("it still knows %q after a new start", line.Said())
			}
		})
	}
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
