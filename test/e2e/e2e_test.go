package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/tools/poll"
)

func TestLoadCountsFailedRequests(t *testing.T) {
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) == 3 {
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	defer server.Close()
	address, err := url.Parse(server.URL)
	require.NoError(t, err)
	port, err := strconv.Atoi(address.Port())
	require.NoError(t, err)
	s := &suite{cluster: &cluster{address: address.Hostname()}}
	l := s.startLoad(t.Context(), port)
	err = poll.Until(t.Context(), func(context.Context) error {
		if n := requests.Load(); n < 10 {
			return strconv.ErrRange
		}
		return nil
	})
	require.NoError(t, err)
	sent, err := l.stop()
	if err == nil || !strings.Contains(err.Error(), "1 of ") || !strings.Contains(err.Error(), "502 Bad Gateway") {
		t.Errorf("got error %v, want one failed request", err)
	}
	assert.EqualValues(t, sent, int(requests.Load()), "got %d requests, the server has seen %d", sent, requests.Load())
}

func TestMatch(t *testing.T) {
	app := &v1.AppService{ObjectMeta: metav1.ObjectMeta{Name: "web", Generation: 2}}
	app.Status.Conditions = []metav1.Condition{
		{Type: "Ready", Status: "False", Reason: "RolloutStalled", Message: "the previous version serves", ObservedGeneration: 2},
		{Type: "Available", Status: "True", ObservedGeneration: 1},
	}
	cases := map[string]struct {
		wanted wanted
		err    string
	}{
		"all of it":             {wanted{"Ready", "False", []string{"ImagePull", "Stalled"}, "previous"}, ""},
		"the status alone":      {wanted{kind: "Ready", status: "False"}, ""},
		"another status":        {wanted{kind: "Ready", status: "True"}, "Ready of web is False"},
		"another reason":        {wanted{"Ready", "False", []string{"ImagePull"}, ""}, "want False, reason ImagePull"},
		"another message":       {wanted{"Ready", "False", nil, "nothing"}, `message "nothing"`},
		"an earlier generation": {wanted{kind: "Available", status: "True"}, "does not tell of generation 2 yet"},
		"a condition not there": {wanted{kind: "Stalled", status: "True"}, "does not tell of generation 2 yet"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := tc.wanted.match(app)
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("got error %v, want %q", err, tc.err)
			}
		})
	}
}

func TestNothingBut(t *testing.T) {
	before := objects{"Pod a b": true, "Pod a c": true}
	if err := (objects{"Pod a b": true}).nothingBut(before); err != nil {
		t.Errorf("got error %v for objects that were there before", err)
	}
	err := objects{"Pod a b": true, "Secret a d": true, "ConfigMap a e": true}.nothingBut(before)
	if err == nil || err.Error() != "left: ConfigMap a e, Secret a d" {
		t.Errorf("got error %v", err)
	}
}

func TestHasEndpoints(t *testing.T) {
	service := v1.Endpoint{Scope: v1.ScopeCluster, URL: "http://web.demo.svc"}
	node := v1.Endpoint{Scope: v1.ScopeNode, URL: "http://NODE:30005"}
	both := []v1.EndpointScope{v1.ScopeCluster, v1.ScopeNode}
	cases := map[string]struct {
		url  string
		list []v1.Endpoint
		ok   bool
	}{
		"as wanted":      {service.URL, []v1.Endpoint{service, node}, true},
		"one is missing": {service.URL, []v1.Endpoint{service}, false},
		"one too many":   {service.URL, []v1.Endpoint{service, node, node}, false},
		"another order":  {node.URL, []v1.Endpoint{node, service}, false},
		"another URL":    {node.URL, []v1.Endpoint{service, node}, false},
		"none":           {"", nil, false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			app := &v1.AppService{Status: v1.AppServiceStatus{URL: test.url, Endpoints: test.list}}
			if err := hasEndpoints(app, both); (err == nil) != test.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestChoose(t *testing.T) {
	all := []check{{name: "deploy"}, {name: "a rolling update"}, {name: "an update of the operator"}, {name: "nothing is left"}}
	cases := map[string]struct {
		pattern, want, err string
	}{
		"no pattern":                   {"", "deploy, a rolling update, an update of the operator, nothing is left", ""},
		"two of them":                  {"update", "deploy, a rolling update, an update of the operator", ""},
		"one of them":                  {"^a rolling", "deploy, a rolling update", ""},
		"none of them":                 {"upgrade", "", "no check has a name"},
		"that is not a pattern at all": {"(", "", "missing closing"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			chosen, err := choose(all, test.pattern)
			var names []string
			for _, c := range chosen {
				names = append(names, c.name)
			}
			assert.EqualValues(t, test.want, strings.Join(names, ", "))
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("got error %v, want %q", err, test.err)
			}
		})
	}
}
