package harness

import (
	"fmt"
	"net/http"
	"slices"
	"sort"
	"strings"
	"sync"
)

// Requests records the requests of a manager. It is safe for concurrent use.
type Requests struct {
	mu   sync.Mutex
	list []Request
	// Intercept sees each request before it is sent; an error takes the place of the answer. Set it before the start.
	Intercept func(Request) error
	// Below wraps the transport that the recorded requests go through. Set it before the start.
	Below func(http.RoundTripper) http.RoundTripper
}

// Request is one request to the API server.
type Request struct {
	Verb   string // get, list, watch, create, update, patch, delete
	Path   string
	DryRun bool
	// Refused says that the API server answered with a client error: nothing was written.
	Refused bool
	// Forbidden says that a right was missing.
	Forbidden bool
	// Metadata says that no more than the metadata of objects was asked for.
	Metadata bool
}

// String is the verb and the path.
func (r Request) String() string {
	text := r.Verb + " " + r.Path
	if r.DryRun {
		text += " (dry run)"
	}
	return text
}

// Writes reports whether the request may change something.
func (r Request) Writes() bool {
	if strings.HasPrefix(r.Path, "/apis/authorization.k8s.io/") {
		return false // a question
	}
	return !r.DryRun && !r.Refused && r.Verb != "get" && r.Verb != "list" && r.Verb != "watch"
}

// Wrap records what goes through a transport.
func (r *Requests) Wrap(next http.RoundTripper) http.RoundTripper {
	if r.Below != nil {
		next = r.Below(next)
	}
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		noted := describe(request)
		r.mu.Lock()
		index := len(r.list)
		r.list = append(r.list, noted)
		r.mu.Unlock()
		if r.Intercept != nil {
			if err := r.Intercept(noted); err != nil {
				return nil, err
			}
		}
		response, err := next.RoundTrip(request)
		if err == nil && response.StatusCode >= 400 && response.StatusCode < 500 {
			r.mu.Lock()
			r.list[index].Refused = true
			r.list[index].Forbidden = response.StatusCode == http.StatusForbidden
			r.mu.Unlock()
		}
		return response, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

func describe(request *http.Request) Request {
	out := Request{
		Path: request.URL.Path, DryRun: request.URL.Query().Get("dryRun") != "",
		Metadata: strings.Contains(request.Header.Get("Accept"), "as=PartialObjectMetadata"),
	}
	switch request.Method {
	case http.MethodPost:
		out.Verb = "create"
	case http.MethodPut:
		out.Verb = "update"
	case http.MethodPatch:
		out.Verb = "patch"
	case http.MethodDelete:
		out.Verb = "delete"
	default:
		out.Verb = "get"
		if request.URL.Query().Get("watch") != "" {
			out.Verb = "watch"
		} else if isCollection(request.URL.Path) {
			out.Verb = "list"
		}
	}
	return out
}

// isCollection reports whether a path ends in a resource rather than in a name: /api/v1/namespaces/x/pods does.
func isCollection(path string) bool {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	skip := 2 // api/v1
	if parts[0] == "apis" {
		skip = 3
	}
	if len(parts) <= skip {
		return false
	}
	rest := parts[skip:]
	if rest[0] == "namespaces" && len(rest) > 2 {
		rest = rest[2:]
	}
	return len(rest) == 1
}

// Mark is a place in the record, for Since.
func (r *Requests) Mark() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.list)
}

// from returns the requests since a mark that must be kept.
func (r *Requests) from(mark int, keep func(Request) bool) []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Request
	for _, request := range r.list[mark:] {
		if keep(request) {
			out = append(out, request)
		}
	}
	return out
}

// Since returns the requests made since a mark, less watches, leases and events.
func (r *Requests) Since(mark int) []Request {
	return r.from(mark, func(request Request) bool {
		return request.Verb != "watch" && !strings.Contains(request.Path, "/leases") && !strings.Contains(request.Path, "/events")
	})
}

// OfObjectsSince returns those requests since a mark that are about objects. Discovery is excluded: it repeats when any
// other test installs or deletes a kind.
func (r *Requests) OfObjectsSince(mark int) []Request {
	return slices.DeleteFunc(r.Since(mark), func(request Request) bool { return request.Target() == Target{} })
}

// WritesSince returns the writes made since a mark, less leases and events.
func (r *Requests) WritesSince(mark int) []Request {
	return slices.DeleteFunc(r.Since(mark), func(request Request) bool { return !request.Writes() })
}

// Forbidden returns all requests for which a right was missing.
func (r *Requests) Forbidden() []Request {
	return r.from(0, func(request Request) bool { return request.Forbidden })
}

// Of returns all requests about a resource, watches included.
func (r *Requests) Of(resource string) []Request {
	return r.from(0, func(request Request) bool { return request.Target().Resource == resource })
}

// WholeSecrets returns the requests that list or watch Secrets with their content.
func (r *Requests) WholeSecrets() []Request {
	return slices.DeleteFunc(r.Of("secrets"), func(request Request) bool {
		return request.Metadata || request.Verb != "list" && request.Verb != "watch"
	})
}

// Count sums up requests by verb, for example "get 3, patch 4".
func Count(requests []Request) string {
	verbs := map[string]int{}
	for _, request := range requests {
		verbs[request.Verb]++
	}
	var parts []string
	for verb, count := range verbs {
		parts = append(parts, fmt.Sprintf("%s %d", verb, count))
	}
	sort.Strings(parts)
	return strings.Join(parts, ", ")
}
