package health

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/kube/gateway"
)

// created is when the routes of the tests were created.
var created = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func routeOf(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	out := &unstructured.Unstructured{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &out.Object))
	return out
}

func TestRoute(t *testing.T) {
	const accepted = `{type: Accepted, status: "True", reason: Accepted}, {type: ResolvedRefs, status: "True", reason: ResolvedRefs}`
	const refused = `{type: Accepted, status: "False", reason: NoMatchingParent, message: no such listener}`
	const one, two = "{name: edge}", "{name: other, namespace: infra}"
	edge, other := types.NamespacedName{Namespace: "demo", Name: "edge"}, types.NamespacedName{Namespace: "infra", Name: "other"}
	entry := func(controller, parent, conditions string) string {
		return "{controllerName: " + controller + ", parentRef: " + parent + ", conditions: [" + conditions + "]}"
	}
	behind := strings.ReplaceAll(accepted, "reason", "observedGeneration: 1, reason")
	cases := map[string]struct {
		parents  string
		entries  []string
		after    time.Duration // since the creation; an hour by default
		gateways gateway.Gateways
		verdict  Verdict
		message  string
	}{
		"without parents":                                     {parents: "", verdict: Ready},
		"accepted":                                            {parents: one, entries: []string{entry("a", one, accepted)}, verdict: Ready},
		"accepted by one of two parents":                      {parents: one + "," + two, entries: []string{entry("a", one, accepted), entry("a", two, refused)}, verdict: Stuck, message: "Gateway infra/other: no such listener (NoMatchingParent of a)"},
		"refused by both":                                     {parents: one + "," + two, entries: []string{entry("a", one, refused), entry("b", two, refused)}, verdict: Stuck, message: "Gateway edge: no such listener (NoMatchingParent of a); Gateway infra/other: no such listener (NoMatchingParent of b)"},
		"new":                                                 {parents: one, after: 29 * time.Second, verdict: Waiting, message: "waiting for the controller of Gateway edge"},
		"not looked at":                                       {parents: one, after: 30 * time.Second, verdict: Stuck, message: "the route is not accepted: Gateway edge does not exist, or no controller manages it"},
		"the Gateway does not exist":                          {parents: one, gateways: gateway.Gateways{edge: nil}, verdict: Stuck, message: "the route is not accepted: Gateway edge does not exist"},
		"nobody serves the Gateway":                           {parents: one, gateways: gateway.Gateways{edge: {}}, verdict: Stuck, message: "the route is not accepted: Gateway edge exists, but no controller manages its GatewayClass"},
		"the Gateway is gone":                                 {parents: one, entries: []string{entry("a", one, accepted)}, gateways: gateway.Gateways{edge: nil}, verdict: Stuck, message: "the route is not accepted: Gateway edge does not exist"},
		"another Gateway is gone":                             {parents: one, entries: []string{entry("a", one, accepted)}, gateways: gateway.Gateways{other: nil}, verdict: Ready},
		"a refusal of an earlier version":                     {parents: one, entries: []string{entry("a", one, strings.ReplaceAll(refused, "reason", "observedGeneration: 1, reason"))}, verdict: Waiting, message: "Gateway edge: waiting for a to process the newest version of the route"},
		"an acceptance of an earlier version":                 {parents: one, entries: []string{entry("a", one, behind)}, verdict: Waiting, message: "Gateway edge: waiting for a to process the newest version of the route"},
		"a parent more, before controllers look":              {parents: one + "," + two, entries: []string{entry("a", one, behind)}, verdict: Waiting, message: "Gateway edge: waiting for a to process the newest version of the route; waiting for the controller of Gateway infra/other"},
		"a parent more, after that":                           {parents: one + "," + two, entries: []string{entry("a", one, accepted)}, verdict: Stuck, message: "the route is not accepted: Gateway infra/other does not exist, or no controller manages it"},
		"one controller accepts what another one refuses":     {parents: one, entries: []string{entry("a", one, refused), entry("b", one, accepted)}, verdict: Ready},
		"one controller refuses, another one left long ago":   {parents: one, entries: []string{entry("a", one, behind), entry("b", one, refused)}, verdict: Stuck, message: "Gateway edge: no such listener (NoMatchingParent of b)"},
		"the controller has said nothing yet":                 {parents: one, entries: []string{entry("a", one, `{type: Accepted, status: Unknown, reason: Pending}`)}, verdict: Waiting, message: "Gateway edge: a has not reported whether it accepts the route"},
		"some rules are dropped":                              {parents: one, entries: []string{entry("a", one, accepted+`, {type: PartiallyInvalid, status: "True", reason: UnsupportedValue, message: "Dropped Rule 2"}`)}, verdict: Stuck, message: "Gateway edge: Dropped Rule 2 (UnsupportedValue of a)"},
		"conditions of a controller's own":                    {parents: one, entries: []string{entry("a", one, accepted+`, {type: example.com/Cached, status: "False", reason: Cold}`)}, verdict: Ready},
		"an entry of another listener":                        {parents: "{name: edge, sectionName: https}", entries: []string{entry("a", "{name: edge, sectionName: http}", accepted)}, verdict: Stuck, message: "the route is not accepted: listener https of Gateway edge does not exist, or no controller manages it"},
		"a parent written in full is the same as one by name": {parents: one, entries: []string{entry("a", "{group: gateway.networking.k8s.io, kind: Gateway, namespace: demo, name: edge}", accepted)}, verdict: Ready},
		"a Service by the name of a Gateway is another one":   {parents: one, entries: []string{entry("a", `{group: "", kind: Service, name: edge}`, accepted)}, verdict: Stuck, message: "the route is not accepted: Gateway edge does not exist, or no controller manages it"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if test.after == 0 {
				test.after = time.Hour
			}
			route := routeOf(t, `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute,
  metadata: {name: web, namespace: demo, generation: 2, creationTimestamp: "2026-01-01T00:00:00Z"},
  spec: {parentRefs: [`+test.parents+`]}, status: {parents: [`+strings.Join(test.entries, ", ")+`]}}`)
			got := Of(route, Facts{Gateways: test.gateways, Now: created.Add(test.after)})
			if got.Verdict != test.verdict || got.Message != test.message {
				t.Errorf("got %+v, want %v %q", got, test.verdict, test.message)
			}
			if early := test.after < noticeTime; !got.Until.Equal(created.Add(noticeTime)) == early {
				t.Errorf("judged %s after the creation, and again at %s", test.after, got.Until)
			}
		})
	}
}
