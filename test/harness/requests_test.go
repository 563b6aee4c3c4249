package harness

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDescribe(t *testing.T) {
	cases := map[string]struct {
		method, url string
		want        string
		writes      bool
	}{
		"a read":                     {"GET", "/api/v1/namespaces/demo/configmaps/web", "get /api/v1/namespaces/demo/configmaps/web", false},
		"a read of a subresource":    {"GET", "/apis/apps/v1/namespaces/demo/deployments/web/scale", "get /apis/apps/v1/namespaces/demo/deployments/web/scale", false},
		"a list":                     {"GET", "/api/v1/namespaces/demo/configmaps?labelSelector=a", "list /api/v1/namespaces/demo/configmaps", false},
		"a list of a group":          {"GET", "/apis/apps/v1/namespaces/demo/deployments", "list /apis/apps/v1/namespaces/demo/deployments", false},
		"a list of all namespaces":   {"GET", "/apis/apps/v1/deployments", "list /apis/apps/v1/deployments", false},
		"a list of namespaces":       {"GET", "/api/v1/namespaces", "list /api/v1/namespaces", false},
		"a read of a namespace":      {"GET", "/api/v1/namespaces/demo", "get /api/v1/namespaces/demo", false},
		"a read of a node":           {"GET", "/api/v1/nodes/a", "get /api/v1/nodes/a", false},
		"a watch":                    {"GET", "/api/v1/namespaces/demo/configmaps?watch=true", "watch /api/v1/namespaces/demo/configmaps", false},
		"the version":                {"GET", "/version", "get /version", false},
		"discovery":                  {"GET", "/apis", "get /apis", false},
		"discovery of the core":      {"GET", "/api/v1", "get /api/v1", false},
		"discovery of a group":       {"GET", "/apis/apps/v1", "get /apis/apps/v1", false},
		"nothing":                    {"GET", "/", "get /", false},
		"a create":                   {"POST", "/api/v1/namespaces/demo/secrets", "create /api/v1/namespaces/demo/secrets", true},
		"an update":                  {"PUT", "/api/v1/namespaces/demo/secrets/web", "update /api/v1/namespaces/demo/secrets/web", true},
		"a patch":                    {"PATCH", "/api/v1/namespaces/demo/secrets/web?fieldManager=x", "patch /api/v1/namespaces/demo/secrets/web", true},
		"a patch that is only tried": {"PATCH", "/api/v1/namespaces/demo/secrets/web?dryRun=All", "patch /api/v1/namespaces/demo/secrets/web (dry run)", false},
		"a delete":                   {"DELETE", "/api/v1/namespaces/demo/secrets/web", "delete /api/v1/namespaces/demo/secrets/web", true},
		"a delete of many":           {"DELETE", "/api/v1/namespaces/demo/secrets", "delete /api/v1/namespaces/demo/secrets", true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got := describe(httptest.NewRequestWithContext(t.Context(), test.method, test.url, nil))
			if got.String() != test.want || got.Writes() != test.writes {
				t.Errorf("got %q, writes: %t; want %q, writes: %t", got, got.Writes(), test.want, test.writes)
			}
		})
	}
}

func TestRequestsOfObjects(t *testing.T) {
	get := func(path string) Request { return Request{Verb: "get", Path: path} }
	r := &Requests{list: []Request{get("/version"), get("/apis"), get("/api/v1/pods"), get("/apis/apps/v1"), get("/apis/apps/v1/namespaces/a/deployments/b")}}
	if got := r.OfObjectsSince(0); len(got) != 2 || got[0] != r.list[2] || got[1] != r.list[4] {
		t.Errorf("got %v", got)
	}
}

func TestCount(t *testing.T) {
	get, patch := Request{Verb: "get"}, Request{Verb: "patch"}
	cases := map[string]struct {
		requests []Request
		want     string
	}{
		"none":    {nil, ""},
		"one":     {[]Request{get}, "get 1"},
		"several": {[]Request{patch, get, patch, get, patch}, "get 2, patch 3"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			assert.EqualValues(t, test.want, Count(test.requests))
		})
	}
}

// through sends requests, each a method and a path, through a record.
func through(t *testing.T, transport http.RoundTripper, requests ...string) (failed int) {
	t.Helper()
	for _, line := range requests {
		method, path, _ := strings.Cut(line, " ")
		request, err := http.NewRequestWithContext(t.Context(), method, "http://cluster.invalid"+path, nil)
		require.NoError(t, err)
		response, err := transport.RoundTrip(request)
		if err != nil {
			failed++
			continue
		}
		response.Body.Close()
	}
	return failed
}

var answered = roundTripper(func(request *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: request}, nil
})

func TestRequestsAreRecorded(t *testing.T) {
	requests := &Requests{}
	transport := requests.Wrap(answered)
	through(t, transport, "GET /version")
	mark := requests.Mark()
	through(t, transport,
		"GET /api/v1/configmaps?watch=1", "GET /apis/coordination.k8s.io/v1/namespaces/x/leases/a", "POST /api/v1/namespaces/x/events",
		"GET /api/v1/namespaces/x/secrets", "PATCH /api/v1/namespaces/x/secrets/a?dryRun=All", "PATCH /api/v1/namespaces/x/secrets/a",
	)
	if got, want := fmt.Sprint(requests.Since(mark)), "[list /api/v1/namespaces/x/secrets patch /api/v1/namespaces/x/secrets/a (dry run) patch /api/v1/namespaces/x/secrets/a]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(requests.WritesSince(mark)), "[patch /api/v1/namespaces/x/secrets/a]"; got != want {
		t.Errorf("got the writes %s, want %s", got, want)
	}
	if got := requests.Since(requests.Mark()); len(got) != 0 {
		t.Errorf("got %v after the last", got)
	}
	assert.Len(t, requests.Since(0), 4)
}

func TestARequestCanBeAnsweredWithAnError(t *testing.T) {
	sent := 0
	requests := &Requests{Intercept: func(r Request) error {
		if r.Writes() {
			return errors.New("no")
		}
		return nil
	}}
	transport := requests.Wrap(roundTripper(func(request *http.Request) (*http.Response, error) {
		sent++
		return answered(request)
	}))
	if failed := through(t, transport, "GET /api/v1/nodes", "PATCH /api/v1/nodes/a"); failed != 1 || sent != 1 {
		t.Errorf("%d failed and %d were sent, want one of each", failed, sent)
	}
	assert.EqualValues(t, "list 1, patch 1", Count(requests.Since(0)))
}

func TestRequestsAreSafeForConcurrentUse(t *testing.T) {
	requests := &Requests{}
	transport := requests.Wrap(answered)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				through(t, transport, "GET /api/v1/nodes/a")
				requests.Since(requests.Mark())
			}
		})
	}
	group.Wait()
	assert.EqualValues(t, 400, requests.Mark())
}

func TestTheSeedIsTheResourceThatMustAlwaysWork(t *testing.T) {
	seed := Seed("demo", "web")
	if seed.Namespace != "demo" || seed.Name != "web" || *seed.Spec.Size != 2 || seed.Spec.Image != "nginx:1.7.9" || len(seed.Spec.Ports) != 1 {
		t.Errorf("got %+v", seed)
	}
}
