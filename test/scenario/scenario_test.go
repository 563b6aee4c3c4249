//go:build cluster

package scenario

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/operator"
)

// appName is the name of every AppService here. Each plan has a namespace of its own.
const appName = "web"

// scenario is a sequence of changes to an AppService: first the initial state, then the steps during which something fails.
type scenario struct {
	name         string
	kind         string                  // AppService if empty
	task         bool                    // an AppService whose release task is counted
	serves       bool                    // a pod is available all the time: oracle O8
	once         bool                    // it is played without faults only
	deadly       bool                    // its plans in which the operator dies are a part of TestDeaths
	options      func(*operator.Options) // of an operator of its own; nil if it shares one
	given, steps []step
}

// step is one change by a user, in the order of its fields. It is over when the cluster is in the state that it has then without faults.
type step struct {
	offline bool              // it is done while no operator runs, which then starts again
	remove  []string          // what a foreign hand deletes, by kind, and by name where that is another, or "*"; "AppService" deletes all
	restore []string          // what was deleted before comes back from a backup
	create  map[string]string // YAML of objects that others make beside it, by kind and name
	spec    string            // becomes the spec; the AppService is created if need be
	passes  bool              // the pod of the release task that runs ends well
	edit    map[string]string // a merge patch by another client, by kind
	undone  []string          // those edits that the operator undoes; a field that is not rendered stays
	ready   metav1.ConditionStatus
	reason  string // of Ready, empty for any
	says    string // part of the message of Ready
	expect  expectation
}

const (
	small = `
size: 1
image: nginx:1.7.9
ports: [{name: http, port: 80, targetPort: 80}]
`
	// whole is nine objects.
	whole = small + `
config: {environment: {GREETING: hello}, databaseUrl: "postgres://x"}
ingress: {hosts: [{host: NAMESPACE.example.com}]}
serviceAccount: {create: true}
networkPolicy: {enabled: true}
podDisruptionBudget: {enabled: true, maxUnavailable: 1}
`
	autoscaled = `{size: 2, resources: {requests: {cpu: 10m}}, autoscaling: {minReplicas: 2, maxReplicas: 4}}`
	// kept is a claim that outlives its AppService, letGo one that does not. No pod waits for it.
	kept    = `{size: 0, persistence: {size: 1Gi, mountPath: /data, storageClassName: none, retain: true}}`
	letGo   = `{size: 0, persistence: {size: 1Gi, mountPath: /data, storageClassName: none, retain: false}}`
	refused = `{image: "nginx:1.27", ports: [{name: http, port: 80, targetPort: 80, nodePort: 1}], service: {type: NodePort}}`
	others  = `
image: nginx:1.27
ports: [{name: http, port: 8080, targetPort: 8080}]
config: {environment: {GREETING: good day, MORE: "1"}, databaseUrl: "postgres://y"}
ingress: {hosts: [{host: NAMESPACE.other.example.com}]}
serviceAccount: {create: true, annotations: {example.com/role: reader}}
networkPolicy: {enabled: true, egress: [{}]}
podDisruptionBudget: {enabled: true, maxUnavailable: 50%}
commonLabels: {team: shop}
`
)

var scenarios = []scenario{
	{name: "install", steps: []step{{spec: whole}}},
	{name: "install-autoscaled", steps: []step{{spec: with(small, autoscaled)}}},
	{name: "install-claim", steps: []step{{spec: with(small, kept), ready: metav1.ConditionTrue}}},
	{name: "upgrade-one", given: []step{{spec: whole}}, steps: []step{{spec: with(whole, `image: nginx:1.27`)}}},
	{name: "upgrade-all", given: []step{{spec: whole}}, steps: []step{{spec: with(whole, others)}}},
	{name: "features-on", given: []step{{spec: small}}, steps: []step{{spec: whole}}},
	{name: "features-off", given: []step{{spec: whole}}, steps: []step{{spec: small}}},
	{name: "autoscaling-on", given: []step{{spec: with(small, `{size: 2, resources: {requests: {cpu: 10m}}}`)}}, steps: []step{{spec: with(small, autoscaled)}}},
	{name: "autoscaling-off", given: []step{{spec: with(small, autoscaled)}}, steps: []step{{spec: with(small, `{size: 3, resources: {requests: {cpu: 10m}}}`)}}},
	{name: "claim-kept", given: []step{{spec: with(small, letGo)}}, steps: []step{{spec: with(small, kept)}}},
	{name: "claim-let-go", given: []step{{spec: with(small, kept)}}, steps: []step{{spec: with(small, letGo)}}},
	{name: "host-moved", given: []step{{spec: whole}}, steps: []step{
		{spec: with(whole, `ingress: {hosts: [{host: NAMESPACE.moved.example.com}]}`)},
	}},
	{name: "deleted-by-hand", given: []step{{spec: whole}}, steps: []step{
		{remove: []string{"Service", "ConfigMap/web-config", "Ingress"}, expect: expectation{same: true}},
		{remove: []string{"Deployment"}, expect: expectation{fields: map[string]string{"AppService web.status.release.revision": "1"}}},
	}},
	{name: "edited-by-hand", given: []step{{spec: whole}}, steps: []step{{edit: map[string]string{
		"Service":       `{"spec":{"sessionAffinity":"ClientIP"}}`,
		"Deployment":    `{"spec":{"replicas":2}}`, // an image might be rolled out before it is repaired, or not
		"NetworkPolicy": `{"spec":{"egress":null,"policyTypes":["Ingress"]}}`,
	}, undone: []string{"Deployment"}, expect: expectation{events: []string{"apply Deployment web: spec.replicas 2 → 1"}}}}},
	{name: "refused-then-fixed", given: []step{{spec: small}}, steps: []step{
		{spec: with(small, refused), ready: metav1.ConditionFalse},
		{spec: with(small, `image: nginx:1.27`)},
	}},
	{name: "upgrade-sixth-and-seventh", given: []step{
		{spec: small}, {spec: with(small, `image: nginx:1.21`)}, {spec: with(small, `image: nginx:1.22`)}, {spec: with(small, `image: nginx:1.23`)},
		{spec: with(small, `image: nginx:1.24`)},
	}, steps: []step{{spec: with(small, `image: nginx:1.25`)}, {spec: with(small, `image: nginx:1.26`)}}},
	{name: "made-again", given: []step{{spec: whole}}, steps: []step{{remove: []string{"AppService"}}, {spec: whole}}},
}

// alone reports whether it needs an operator of its own: one with other options, or that does not run all the time.
func (w scenario) alone() bool {
	return w.options != nil || slices.ContainsFunc(w.all(), func(s step) bool { return s.offline })
}

// counted reports whether the runs of Jobs are counted.
func (w scenario) counted() bool { return w.kind == jobKind || w.task }

// with merges YAML into the YAML of a spec, as a merge patch does.
func with(spec, change string) string {
	base, err := yaml.YAMLToJSON([]byte(spec))
	if err != nil {
		panic(err)
	}
	patch, err := yaml.YAMLToJSON([]byte(change))
	if err != nil {
		panic(err)
	}
	merged, err := jsonpatch.MergePatch(base, patch)
	if err != nil {
		panic(err)
	}
	return string(merged)
}

// specIn reads the YAML of a spec for a namespace.
func specIn(t *testing.T, namespace, text string) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(strings.ReplaceAll(text, "NAMESPACE", namespace)))
	require.NoError(t, err)
	spec := map[string]any{}
	require.NoError(t, json.Unmarshal(data, &spec))
	return spec
}

func (w scenario) all() []step { return slices.Concat(w.given, w.steps) }
