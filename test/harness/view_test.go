package harness

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
				require.NoError(t, err)
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
			assert.EqualValues(t, test.want, <-read)
			status, _ := watch()
			assert.Equal(t, test.want == "", status == http.StatusGone, "the next watch is answered %d", status)
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
				require.NoError(t, err)
				got, _ := io.ReadAll(response.Body)
				_ = response.Body.Close()
				assert.EqualValues(t, want, string(got), "without %q: got %s, want %s", hidden, got, want)
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
