package harness

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Wire is between operators and the API server. It numbers the mutating requests of each namespace separately, so that hundreds of plans can share
// a cluster, and often an operator.
type Wire struct {
	mu    sync.Mutex
	lines map[string]*Line
}

// Point is a mutating request that occurs in every run: what it asks for, and for which time.
type Point struct {
	Verb   string
	Target string // without the namespace
	DryRun bool
	Nth    int // 1 and up; 0 in a Point that stands for all of its kind
}

// String formats the point as in "patch deployments/web #1".
func (p Point) String() string {
	text := p.Verb + " " + p.Target
	if p.DryRun {
		text += " (dry run)"
	}
	return fmt.Sprintf("%s #%d", text, p.Nth)
}

// Line is the traffic for one namespace.
type Line struct {
	mu       sync.Mutex
	counts   map[Point]int
	points   []Point
	bodies   []string // of the requests at points
	changes  map[string]int
	underWay int
	last     time.Time
	fault    *Fault
	struck   chan struct{}
}

// Line returns the line of a namespace, made if need be.
func (w *Wire) Line(namespace string) *Line {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lines == nil {
		w.lines = map[string]*Line{}
	}
	line := w.lines[namespace]
	if line == nil {
		line = &Line{}
		line.Start()
		w.lines[namespace] = line
	}
	return line
}

// find returns the line of a namespace, nil if there was no request for one.
func (w *Wire) find(namespace string) *Line {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lines[namespace]
}

// Start numbers from 1 again and clears the record.
func (l *Line) Start() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts, l.points, l.bodies, l.changes, l.last = map[Point]int{}, nil, nil, map[string]int{}, time.Now()
}

// Points lists the requests since Start, in their order.
func (l *Line) Points() []Point {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Point(nil), l.points...)
}

// Said lists the requests since Start with their bodies, in their order.
func (l *Line) Said() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var said []string
	for i, point := range l.points {
		said = append(said, fmt.Sprintf("%s: %s", point, l.bodies[i]))
	}
	return said
}

// Changes counts since Start how often each object was created and deleted, by "create deployments/web" and the like.
func (l *Line) Changes() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.changes)
}

// Quiet returns for how long there was no request, 0 while one is on its way.
func (l *Line) Quiet() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.underWay > 0 {
		return 0
	}
	return time.Since(l.last)
}

// Arm makes the request at a point fail, once. The channel is closed when it has failed.
func (l *Line) Arm(fault Fault) (struck <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault, l.struck = &fault, make(chan struct{})
	return l.struck
}

// Disarm lets everything through.
func (l *Line) Disarm() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault = nil
}

// next numbers a request and returns the fault that strikes it, nil for none.
func (l *Line) next(request Request, body string) *Fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	target := request.Target()
	target.Namespace = ""
	point := Point{Verb: request.Verb, Target: target.String(), DryRun: request.DryRun}
	l.counts[point]++
	point.Nth = l.counts[point]
	l.points, l.bodies = append(l.points, point), append(l.bodies, body)
	l.last = time.Now()
	l.underWay++
	if l.fault == nil || !l.fault.at(point, len(l.points)) {
		return nil
	}
	fault := l.fault
	l.fault = nil
	return fault
}

// over records that a request is not on its way any more.
func (l *Line) over() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.underWay--
	l.last = time.Now()
}

// done records the outcome of a request.
func (l *Line) done(request Request, response *http.Response) {
	l.mu.Lock()
	defer l.mu.Unlock()
	created := response.StatusCode == http.StatusCreated
	deleted := request.Verb == "delete" && response.StatusCode < 300
	target := request.Target()
	target.Namespace = ""
	switch {
	case request.DryRun:
	case created && target.Subresource == "":
		l.changes["create "+target.String()]++
	case deleted:
		l.changes["delete "+target.String()]++
	}
}

// bodyOf returns the body of a request if it is text.
func bodyOf(request *http.Request) string {
	if request.GetBody == nil {
		return ""
	}
	body, err := request.GetBody()
	if err != nil {
		return err.Error()
	}
	defer func() { _ = body.Close() }()
	text, err := io.ReadAll(body)
	switch {
	case err != nil:
		return err.Error()
	case !utf8.Valid(text) || bytes.ContainsRune(text, 0):
		return fmt.Sprintf("%d bytes", len(text))
	}
	return string(text)
}

// mutates reports whether a request counts: events and leases do not.
func mutates(request Request) bool {
	if request.DryRun {
		request.DryRun = false
		return request.Writes()
	}
	return request.Writes() && !strings.Contains(request.Path, "/events") && !strings.Contains(request.Path, "/leases")
}
