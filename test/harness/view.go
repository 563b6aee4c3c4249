package harness

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// View is what an operator sees of the cluster through its watches, and of the APIs that it serves. It can freeze, start in the past, and lose
// events. Reads by name, and lists without a version, are not affected: the API server answers that from storage.
type View struct {
	mu     sync.Mutex
	except string          // the resource whose events still pass
	only   string          // the resource whose events alone are withheld; empty for all
	past   string          // the version that lists are served at, while the view is frozen
	frozen chan struct{}   // closed when the view continues; nil while nothing is withheld
	lost   chan struct{}   // closed when withheld events are lost; open watches end
	gone   map[string]bool // paths whose next watch has to list again
	open   map[string]bool // paths that were watched while the view was frozen
	hidden string          // an API group that discovery does not show; empty for none
}

// Freeze withholds all events from now on, except those of a resource, empty for none.
func (v *View) Freeze(except string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.except, v.only, v.frozen, v.lost, v.open = except, "", make(chan struct{}), make(chan struct{}), map[string]bool{}
}

// StartAt makes the view of an operator that starts: that of a version in the past, and no events after it. If a resource is named, only it is
// seen so.
func (v *View) StartAt(version, only string) {
	v.Freeze("")
	v.mu.Lock()
	defer v.mu.Unlock()
	v.past, v.only = version, only
}

// Thaw delivers the withheld events, and all from then on.
func (v *View) Thaw() {
	v.mu.Lock()
	defer v.mu.Unlock()
	close(v.frozen)
	v.past, v.frozen = "", nil
}

// Lose drops the withheld events: the watches end, and a client that asks to continue where they ended is answered 410 Gone.
func (v *View) Lose() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.gone = v.open
	close(v.lost)
	close(v.frozen)
	v.past, v.frozen = "", nil
}

// Wrap puts the view in front of a transport.
func (v *View) Wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		switch query := request.URL.Query(); {
		case request.Method != http.MethodGet:
		case request.URL.Path == "/apis":
			return v.discover(next, request)
		case query.Get("watch") != "":
			return v.watch(next, request)
		case query.Get("resourceVersion") != "" && isCollection(request.URL.Path):
			if past := v.pastVersion(request); past != "" {
				query.Set("resourceVersion", past)
				query.Set("resourceVersionMatch", "Exact")
				request = request.Clone(request.Context())
				request.URL.RawQuery = query.Encode()
			}
		}
		return next.RoundTrip(request)
	})
}

// held returns what a watch has to wait for, nil for nothing. The caller holds the lock.
func (v *View) held(request *http.Request) chan struct{} {
	if v.passes(request) {
		return nil
	}
	return v.frozen
}

// passes reports whether a request is for a resource that is not affected. The caller holds the lock.
func (v *View) passes(request *http.Request) bool {
	resource := (Request{Path: request.URL.Path}).Target().Resource
	return v.except != "" && resource == v.except || v.only != "" && resource != v.only
}

func (v *View) pastVersion(request *http.Request) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.passes(request) {
		return ""
	}
	return v.past
}

func (v *View) watch(next http.RoundTripper, request *http.Request) (*http.Response, error) {
	v.mu.Lock()
	frozen, past, path := v.held(request), v.past, request.URL.Path
	if frozen != nil {
		v.open[path] = true
	}
	gone := v.gone[path]
	delete(v.gone, path)
	v.mu.Unlock()
	switch {
	case past != "" && frozen != nil && request.URL.Query().Get("sendInitialEvents") != "":
		return answer(request, metav1.Status{Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid, Message: "lists only"}), nil
	case gone:
		return answer(request, metav1.Status{Code: http.StatusGone, Reason: metav1.StatusReasonExpired, Message: "too old resource version"}), nil
	case frozen != nil:
		select {
		case <-frozen:
		case <-request.Context().Done():
			return nil, request.Context().Err()
		}
	}
	response, err := next.RoundTrip(request)
	if err == nil {
		response.Body = &gate{ReadCloser: response.Body, view: v, request: request}
	}
	return response, err
}

// gate is the body of a watch. Events that arrive while the view is frozen wait in it.
type gate struct {
	io.ReadCloser
	view    *View
	request *http.Request
}

func (g *gate) Read(into []byte) (int, error) {
	n, err := g.ReadCloser.Read(into)
	g.view.mu.Lock()
	frozen, lost := g.view.held(g.request), g.view.lost
	if frozen != nil {
		g.view.open[g.request.URL.Path] = true
	}
	g.view.mu.Unlock()
	if frozen == nil {
		return n, err
	}
	select {
	case <-frozen:
	case <-g.request.Context().Done():
		return 0, g.request.Context().Err()
	}
	select {
	case <-lost:
		return 0, io.EOF
	default:
		return n, err
	}
}

// answer makes the answer of an API server that refuses.
func answer(request *http.Request, status metav1.Status) *http.Response {
	status.TypeMeta, status.Status = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, metav1.StatusFailure
	body, _ := json.Marshal(status) // it always can be
	if request.Body != nil {
		_ = request.Body.Close()
	}
	return &http.Response{
		Status: http.StatusText(int(status.Code)), StatusCode: int(status.Code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)), Request: request,
	}
}
