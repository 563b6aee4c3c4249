package harness

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

var (
	errFenced = errors.New("the process that made this request is dead")
	errLost   = io.ErrUnexpectedEOF
)

// Incarnation is the connection of one process of the operator. It ends with the process.
type Incarnation struct {
	wire *Wire
	once sync.Once
	died chan struct{}
}

// Incarnation returns the connection for a new process.
func (w *Wire) Incarnation() *Incarnation {
	return &Incarnation{wire: w, died: make(chan struct{})}
}

// Died is closed when a fault has ended the process.
func (i *Incarnation) Died() <-chan struct{} { return i.died }

// Die fences the process.
func (i *Incarnation) Die() { i.once.Do(func() { close(i.died) }) }

func (i *Incarnation) dead() bool {
	select {
	case <-i.died:
		return true
	default:
		return false
	}
}

// Wrap puts the connection in front of a transport.
func (i *Incarnation) Wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if i.dead() {
			return nil, errFenced
		}
		described := describe(request)
		line := i.wire.find(described.Target().Namespace)
		if line == nil || !mutates(described) {
			return i.send(next, request)
		}
		fault := line.next(described, bodyOf(request))
		defer line.over()
		if fault == nil {
			return i.write(next, request, described, line)
		}
		if fault.Gone != nil {
			return i.cut(fault, next, request, described, line)
		}
		defer line.strike()
		return i.suffer(fault.Kind, next, request, described, line)
	})
}

// strike wakes those who wait for the fault to happen.
func (l *Line) strike() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.struck)
}

func (i *Incarnation) suffer(kind FaultKind, next http.RoundTripper, request *http.Request, described Request, line *Line) (*http.Response, error) {
	switch kind {
	case DiesBefore:
		i.Die()
		return nil, errFenced
	case DiesAfter:
		response, err := i.write(next, request, described, line)
		i.Die()
		if err != nil {
			return nil, err
		}
		_ = response.Body.Close()
		return nil, errFenced
	case Lost:
		return nil, errLost
	case Committed:
		response, err := i.write(next, request, described, line)
		if err == nil {
			_ = response.Body.Close()
			err = errLost
		}
		return nil, err
	case Slow:
		response, err := i.write(next, request, described, line)
		timer := time.NewTimer(slow)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-request.Context().Done():
		}
		return response, err
	}
	return refuse(request, kind), nil
}

// cut holds a request, or its answer, until the other end of the connection has ended.
func (i *Incarnation) cut(fault *Fault, next http.RoundTripper, request *http.Request, described Request, line *Line) (*http.Response, error) {
	if fault.Kind == CutAfter {
		response, err := i.write(next, request, described, line)
		if err != nil {
			return nil, err
		}
		_ = response.Body.Close()
	}
	line.strike()
	select {
	case <-fault.Gone:
	case <-request.Context().Done():
		return nil, request.Context().Err()
	}
	if fault.Kind == CutAfter {
		return nil, errLost
	}
	return i.write(next, request, described, line)
}

func (i *Incarnation) write(next http.RoundTripper, request *http.Request, described Request, line *Line) (*http.Response, error) {
	response, err := next.RoundTrip(request)
	if err == nil {
		line.done(described, response)
	}
	return i.fenced(response, err)
}

func (i *Incarnation) send(next http.RoundTripper, request *http.Request) (*http.Response, error) {
	response, err := next.RoundTrip(request)
	return i.fenced(response, err)
}

// fenced withholds the answer to a request from a process that died meanwhile.
func (i *Incarnation) fenced(response *http.Response, err error) (*http.Response, error) {
	if err != nil || !i.dead() {
		return response, err
	}
	_ = response.Body.Close()
	return nil, errFenced
}

// refuse makes the answer of an API server that refuses.
func refuse(request *http.Request, kind FaultKind) *http.Response {
	response := answer(request, refusals[kind])
	if kind == TooMany {
		response.Header.Set("Retry-After", strconv.Itoa(int(retryAfter.Seconds())))
	}
	return response
}
