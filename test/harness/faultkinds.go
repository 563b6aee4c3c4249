package harness

import (
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Fault is what happens to one mutating request.
type Fault struct {
	// At is the request; the zero Point strikes by number.
	At Point
	// Number of the request since Start, if At is not set.
	Number int
	Kind   FaultKind
	// Gone is closed when the API server, or etcd, has ended: until then CutBefore and CutAfter hold the request.
	Gone <-chan struct{}
}

func (f *Fault) at(point Point, number int) bool {
	if f.At == (Point{}) {
		return number == f.Number
	}
	return point == f.At
}

// FaultKind is a way in which a request fails.
type FaultKind string

// The faults. An operator that dies is fenced: none of its requests comes through from then on.
const (
	DiesBefore FaultKind = "before"    // it dies before the request is sent
	DiesAfter  FaultKind = "after"     // it dies after the request is committed
	Lost       FaultKind = "lost"      // the request never arrives
	Committed  FaultKind = "committed" // the answer never arrives
	Forbidden  FaultKind = "403"
	Conflict   FaultKind = "409"
	TooMany    FaultKind = "429" // with Retry-After
	Internal   FaultKind = "500"
	Overloaded FaultKind = "503"
	Slow       FaultKind = "slow"       // the answer is delayed
	CutBefore  FaultKind = "cut-before" // it is sent after the server has gone
	CutAfter   FaultKind = "cut-after"  // it is committed, and its answer is lost with the server
)

// refusals are the answers of an API server that does not do what it is asked for.
var refusals = map[FaultKind]metav1.Status{
	Forbidden:  {Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: "forbidden by the test"},
	Conflict:   {Code: http.StatusConflict, Reason: metav1.StatusReasonConflict, Message: "conflict made by the test"},
	TooMany:    {Code: http.StatusTooManyRequests, Reason: metav1.StatusReasonTooManyRequests, Message: "too many requests, says the test"},
	Internal:   {Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError, Message: "internal error made by the test"},
	Overloaded: {Code: http.StatusServiceUnavailable, Reason: metav1.StatusReasonServiceUnavailable, Message: "unavailable, says the test"},
}

// retryAfter is what the answer TooMany asks for, slow is the delay of a slow answer.
const (
	retryAfter = time.Second
	slow       = 3 * time.Second
)
