//go:build cluster

package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/example/appservice-operator/api/v1"
)

// feature is something that happens to an AppService and takes a while: two of them are a pair.
type feature struct {
	name string
	// given is what it needs before it begins: a merge patch of the spec, and objects of others.
	given  string
	others map[string]string
	// begin is how it begins, again for the second time: a merge patch of the spec, and edits of objects.
	begin func(again bool) step
	// chart is a template that the operator's chart has from then on; AGAIN in it becomes true the second time. The operator
	// starts with it, and serves a resource that it does not fit if it is refused.
	chart  string
	refuse bool
	// evicts says that it deletes the pods.
	evicts bool
	// fails says that the pods of the new release do not start.
	fails bool
	// crashes says that pods crash until the test has them run.
	crashes bool
	// requests is how many requests it makes at most, at one of which the second begins; usualRequests if 0.
	requests int
	// ends is a merge patch of the spec that ends it.
	ends string
	// gone says that the AppService is deleted.
	gone bool
	// once says why it cannot happen a second time; empty if it can.
	once string
}

// changes begins by a change of the spec.
func changes(first, second string) func(bool) step {
	return func(again bool) step {
		if again {
			return step{spec: second}
		}
		return step{spec: first}
	}
}

// touches begins by an edit of an object; %d in it is another number each time.
func touches(what, patch string) func(bool) step {
	return func(again bool) step {
		number := 1
		if again {
			number = 2
		}
		return step{edit: map[string]string{what: fmt.Sprintf(patch, number)}}
	}
}

// failsBy is a release whose pods do not start, and whose deadline does not pass before the end of the test: the state of a
// Deployment is another one afterwards.
func failsBy(image string) string {
	return with(with(`{image: "`+image+`", progressDeadlineSeconds: 7200}`, following(scripted, noImage)),
		`podAnnotations: {`+jobScript+`: "{phase: Succeeded, containerStatuses: []}"}`)
}

// usualRequests is how many requests most features make.
const usualRequests = 7

// mostRequests returns how many requests it makes at most.
func (f feature) mostRequests() int { return cmp.Or(f.requests, usualRequests) }

// then is the annotation of a pod that says what follows its script, and runsAgain what that is for one that crashes.
const then = "script.kwok.x-k8s.io/then"

var (
	crashing  = strings.Replace(crashes, "phase: Pending", `phase: Running, reason: "1"`, 1)
	runsAgain = `{phase: Running, reason: "", conditions: [{type: Ready, status: "True", lastTransitionTime: NOW}, {type: ContainersReady, status: "True"}], ` +
		`containerStatuses: [{name: app, image: x, imageID: "", ready: true, started: true, restartCount: 3, state: {running: {startedAt: NOW}}}]}`
)

// well lets the pods of the next release start.
const well = `podAnnotations: null`

// secretOfOthers is one that pods take.
var secretOfOthers = map[string]string{"Secret/mail": `stringData: {PASSWORD: zero}`}

// features are those that pairs are made of.
var features = []feature{
	{
		name: "task", given: `{release: {command: [migrate]}, config: {environment: {VERSION: "1"}}}`,
		begin: changes(with(well, `{image: "nginx:2", config: {environment: {VERSION: "2"}}}`),
			with(well, `{image: "nginx:3", config: {environment: {VERSION: "3"}}}`)),
	},
	{name: "return", given: `onFailure: {action: Return, afterTask: true}`, begin: changes(failsBy("nginx:0"), failsBy("nginx:00")),
		fails: true, requests: 17},
	{name: "crash", given: with(`onFailure: {action: Return}`, following(scripted, crashing)),
		begin: touches(v1.Kind, `{"metadata":{"annotations":{"`+v1.AnnotationRestartedAt+`":"crash %d"}}}`), crashes: true},
	{name: "failure", begin: changes(failsBy("nginx:0"), failsBy("nginx:00")), fails: true},
	{name: "generated", begin: changes(`config: {generated: {PASSWORD: {}}}`, `config: {generated: {TOKEN: {}}}`)},
	{name: "claim", begin: changes(growing,
		`persistence: {retain: true}`)},
	{name: "growth", given: growing,
		begin: changes(`persistence: {size: 2Gi}`, `persistence: {size: 3Gi}`)},
	{name: "adoption", others: map[string]string{"ConfigMap/web-files": `{}`}, begin: func(bool) step {
		return step{spec: `config: {files: {a: b}}`, edit: map[string]string{v1.Kind: fmt.Sprintf(`{"metadata":{"annotations":{%q:"true"}}}`, v1.AnnotationAdopt)}}
	}, once: "what is adopted stays adopted"},
	{name: "chart", chart: `
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ include "appservice.name" . }}-note}
data: {again: "AGAIN"}
`},
	{name: "halt", chart: `{{ if eq .Release.Name "unfit" }}{{ fail "no more" }}{{ end }}`, refuse: true, once: "a chart that is halted stays halted"},
	{name: "restart", begin: touches(v1.Kind, `{"metadata":{"annotations":{"`+v1.AnnotationRestartedAt+`":"%d"}}}`)},
	{
		name: "rotation", given: `{envFrom: [{secretRef: {name: mail}}], config: {generated: {KEY: {}}}}`, others: secretOfOthers, begin: func(bool) step {
			return step{edit: map[string]string{"Secret/mail": `{"stringData":{"PASSWORD":"one"}}`, "Secret/" + ofSpec: `{"data":{"KEY":null}}`}}
		}, once: "pods that take neither of two rotations take the second",
	},
	{name: "hosts", given: `ingress: {hosts: [{host: NAMESPACE.example.com}]}`,
		begin: changes(`ingress: {hosts: [{host: NAMESPACE.moved.example.com}]}`, `ingress: {hosts: [{host: NAMESPACE.example.com}]}`)},
	{name: "pause", begin: changes(`paused: true`, ``), ends: `paused: null`, once: "it is paused already"},
	{name: "ttl", begin: changes(`ttl: 1m`, ``), gone: true, once: "its life is over once"},
	{name: "size", begin: changes(`size: 3`, `size: 2`)},
	{name: "autoscaler", begin: changes(neverLess, `autoscaling: {maxReplicas: 5}`)},
	{name: "eviction", evicts: true},
}

// impossible returns why a pair cannot exist; empty if it can.
func impossible(a, b feature) string {
	one, two := a.name, b.name
	has := func(names ...string) bool {
		return slices.Contains(names, one) && slices.Contains(names, two) && one != two
	}
	switch {
	case one == two:
		return a.once
	case has("return", "failure"):
		return "what fails either returns or not"
	case has("claim", "growth"):
		return "a claim is there, or not"
	case one != two && (a.crashes || b.crashes) && !has("crash", "restart") && !has("crash", "rotation") && !has("crash", "size") && !has("crash", "eviction"):
		return "a new release whose pods crash fails"
	}
	return ""
}

// pairs lists the pairs that can exist, in order.
func pairs() (list [][2]feature) {
	for _, a := range features {
		for _, b := range features {
			if impossible(a, b) == "" {
				list = append(list, [2]feature{a, b})
			}
		}
	}
	return list
}

// involves reports whether one of the features has a name.
func involves(pair [2]feature, names ...string) bool {
	return slices.Contains(names, pair[0].name) || slices.Contains(names, pair[1].name)
}

// merged is a spec with merge patches, empty ones left out.
func merged(spec string, patches ...string) string {
	for _, patch := range patches {
		if strings.TrimSpace(patch) != "" {
			spec = with(spec, patch)
		}
	}
	return spec
}
