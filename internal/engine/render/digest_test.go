package render

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/postrender"
)

// manyRenders skips a test that renders hundreds of times where -short is set: the race detector makes that minutes, and
// has nothing to find in renders one after the other. "go test ./..." runs them without it.
func manyRenders(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it renders hundreds of times: run it without -short and without the race detector")
	}
}

func TestRenderingTwiceGivesTheSameBytes(t *testing.T) {
	manyRenders(t)
	for _, name := range caseNames(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := rendered(t, shipped(t), golden(t, name))
			if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(first.Digest) {
				t.Errorf("the digest is %q, want 32 hexadecimal characters", first.Digest)
			}
			want := first.Manifest()
			renderer := shipped(t)
			for range 2 {
				second := rendered(t, renderer, shuffled(golden(t, name)))
				got := second.Manifest()
				if got != want || second.Digest != first.Digest || !reflect.DeepEqual(second, first) {
					t.Fatalf("digests %s and %s\n%s", second.Digest, first.Digest, firstDifference(got, want))
				}
			}
		})
	}
}

// shuffled is the same resource, its maps filled in another order.
func shuffled(in *unstructured.Unstructured) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: shuffle(in.Object).(map[string]any)}
}

func shuffle(value any) any {
	switch value := value.(type) {
	case map[string]any:
		keys := make([]string, 0, len(value))
		for key := range value {
			keys = append(keys, key)
		}
		rand.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		out := map[string]any{}
		for _, key := range keys {
			out[key] = shuffle(value[key])
		}
		return out
	case []any:
		out := make([]any, 0, len(value))
		for _, item := range value {
			out = append(out, shuffle(item))
		}
		return out
	}
	return value
}

// leaf is one value of a spec that is neither a map nor a list.
type leaf struct {
	path  []any // keys and indexes, from the spec on
	value any
}

func (l leaf) String() string {
	var out strings.Builder
	out.WriteString("spec")
	for _, step := range l.path {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&out, "[%d]", step)
		default:
			fmt.Fprintf(&out, ".%v", step)
		}
	}
	return out.String()
}

// set gives a resource another value of the leaf.
func (l leaf) set(resource *unstructured.Unstructured, value any) {
	at := resource.Object["spec"]
	for i, step := range l.path {
		last := i == len(l.path)-1
		switch step := step.(type) {
		case int:
			list := at.([]any)
			if last {
				list[step] = value
			}
			at = list[step]
		case string:
			fields := at.(map[string]any)
			if last {
				fields[step] = value
			}
			at = fields[step]
		}
	}
}

func leaves(resource *unstructured.Unstructured) []leaf {
	var list []leaf
	var walk func(path []any, value any)
	walk = func(path []any, value any) {
		step := func(next any) []any { return append(append([]any{}, path...), next) }
		switch value := value.(type) {
		case map[string]any:
			for key, item := range value {
				walk(step(key), item)
			}
		case []any:
			for i, item := range value {
				walk(step(i), item)
			}
		default:
			list = append(list, leaf{path, value})
		}
	}
	walk(nil, resource.Object["spec"])
	return list
}

// everything is an AppService with every field of its spec, those too that exclude each other. Its profile lets each of them be changed.
func everything(t testing.TB) *unstructured.Unstructured {
	t.Helper()
	object := golden(t, "every-field")
	for value, path := range map[string][]string{"postgres://db/web": {"config", "databaseUrl"}, "letsencrypt": {"ingress", "issuer"}, "Baseline": {"security", "profile"}} {
		require.NoError(t, unstructured.SetNestedField(object.Object, value, append([]string{"spec"}, path...)...))
	}
	for _, probe := range []string{"startup", "readiness", "liveness"} {
		for kind, handler := range parsedObject(t, `
httpGet: {path: /probe, port: http, scheme: HTTP, httpHeaders: [{name: X-Probe, value: any}]}
tcpSocket: {port: http}
grpc: {port: 50051, service: web}
exec: {command: [/bin/probe]}
terminationGracePeriodSeconds: 5`).Object {
			require.NoError(t, unstructured.SetNestedField(object.Object, handler, "spec", "probes", probe, kind))
		}
	}
	return object
}

// unrendered are the fields that tell the operator what to do.
var unrendered = []string{"spec.paused", "spec.ttl", "spec.onFailure.action", "spec.onFailure.afterTask"}

// entries are what is referred to, references what leads to it: of these, one that changes alone leads nowhere.
var (
	entries    = regexp.MustCompile(`^spec\.ports\[\d+\]\.(name|port)$`)
	references = regexp.MustCompile(`^spec\.(service\.ports\[\d+\]|services\[\d+\]\.ports\[\d+\]\.name|(ingress|route)\..*\.port|monitoring\.port)$`)
	otherEntry = map[any]any{int64(80): int64(53), "http": "dns", "dns": "http"}
)

// follow gives all references to an entry its new value, and swaps the names that the first Service offers.
func follow(t *testing.T, resource *unstructured.Unstructured, changed leaf, value any) {
	t.Helper()
	for _, l := range leaves(everything(t)) {
		switch {
		case entries.MatchString(changed.String()) && references.MatchString(l.String()) && l.value == changed.value:
			l.set(resource, value)
		case references.MatchString(changed.String()) && strings.HasPrefix(changed.String(), "spec.service.ports") &&
			strings.HasPrefix(l.String(), "spec.service.ports"):
			l.set(resource, otherEntry[l.value])
		}
	}
}

func TestTheDigestChangesWithEveryFieldOfTheSpec(t *testing.T) {
	manyRenders(t)
	renderer := unguarded(t)
	first := rendered(t, renderer, everything(t)).Digest
	valid := map[any]any{ // where one more letter would not do
		"TCP": "UDP", "UDP": "SCTP", "Exact": "Prefix", "ImplementationSpecific": "Exact",
		"100m": "200m", "500m": "600m", "64Mi": "65Mi", "128Mi": "129Mi", "1Gi": "3Gi", "2Gi": "4Gi", "1": "2", "1Mi": "1Ki", "10Gi": "20Gi",
		"Baseline": "Restricted", "base64": "hex", "RegularExpression": "PathPrefix", "IfNotPresent": "Always",
		"HTTP": "HTTPS", "GET": "PUT", "ReadWriteMany": "ReadWriteOncePod",
		"LoadBalancer": "NodePort", "Local": "Cluster", "ClientIP": "None",
		"SingleStack": "PreferDualStack", "PreferDualStack": "RequireDualStack", "PreferSameZone": "PreferSameNode", "PreferSameNode": "PreferSameZone", "IPv4": "IPv6", "IPv6": "IPv4",
	}
	for _, l := range leaves(everything(t)) {
		if slices.Contains(unrendered, l.String()) || l.value == "None" { // clusterIP has no other value
			continue
		}
		t.Run(l.String(), func(t *testing.T) {
			t.Parallel()
			changed := everything(t)
			var other any
			switch value := l.value.(type) {
			case bool:
				other = !value
			case int64:
				other = value + 1
			case string:
				if other = valid[value]; other == nil {
					other = value + "x"
				}
			default:
				t.Fatalf("what is another %T?", value)
			}
			if references.MatchString(l.String()) {
				other = otherEntry[l.value]
			}
			l.set(changed, other)
			follow(t, changed, l, other)
			if got := rendered(t, renderer, changed).Digest; got == first {
				t.Error("it stays the same")
			}
		})
	}
}

func TestTheDigestIsTheSameForEverySpellingOfASpec(t *testing.T) {
	cases := map[string]struct{ a, b string }{
		"a default and none":       {`{image: nginx}`, `{image: nginx, size: 1}`},
		"a protocol and none":      {`{image: nginx, ports: [{port: 80}]}`, `{image: nginx, ports: [{port: 80, protocol: TCP, targetPort: 80}]}`},
		"a path and none":          {`{image: nginx, ports: [{port: 80}], ingress: {hosts: [{host: a.b}]}}`, `{image: nginx, ports: [{port: 80}], ingress: {hosts: [{host: a.b, paths: [{path: /, pathType: Prefix, port: 80}]}]}}`},
		"a quantity":               {`{image: nginx, resources: {limits: {cpu: 0.1, memory: 1024Mi}}}`, `{image: nginx, resources: {limits: {cpu: 100m, memory: 1Gi}}}`},
		"an empty list and none":   {`{image: nginx}`, `{image: nginx, ports: [], envs: [], envFrom: []}`},
		"an empty config and none": {`{image: nginx}`, `{image: nginx, config: {environment: {}, logLevel: ""}, resources: {}}`},
	}
	renderer := shipped(t)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a, b := rendered(t, renderer, appService(t, tc.a)), rendered(t, renderer, appService(t, tc.b))
			if a.Digest != b.Digest {
				t.Errorf("got %s and %s:\n%s", a.Digest, b.Digest, firstDifference(printed(t, a), printed(t, b)))
			}
		})
	}
}

func TestTheDigestChangesWithWhatIsNotInTheSpec(t *testing.T) {
	first := rendered(t, shipped(t), golden(t, "seed")).Digest
	cases := map[string]struct {
		change func(r *Renderer, resource *unstructured.Unstructured)
		same   bool
	}{
		"nothing":              {func(*Renderer, *unstructured.Unstructured) {}, true},
		"the chart's version":  {func(r *Renderer, _ *unstructured.Unstructured) { r.Chart.Metadata.Version = "9.9.9" }, false},
		"a hook":               {func(r *Renderer, _ *unstructured.Unstructured) { r.Hooks = r.Hooks[len(r.Hooks)-1:] }, false},
		"the owner's identity": {func(_ *Renderer, o *unstructured.Unstructured) { o.SetUID(types.UID("other")) }, false},
		"the owner's name":     {func(_ *Renderer, o *unstructured.Unstructured) { o.SetName("other") }, false},
		"the namespace":        {func(_ *Renderer, o *unstructured.Unstructured) { o.SetNamespace("other") }, false},
		"labels, annotations, generation and status of the owner": {func(_ *Renderer, o *unstructured.Unstructured) {
			o.SetLabels(map[string]string{"a": "b"})
			o.SetAnnotations(map[string]string{"a": "b"})
			o.SetGeneration(7)
			o.SetResourceVersion("42")
			o.SetManagedFields(nil)
			o.SetDeletionGracePeriodSeconds(ptr.To[int64](3))
			o.Object["status"] = map[string]any{"phase": "Running"}
		}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			renderer, resource := shipped(t), golden(t, "seed")
			tc.change(renderer, resource)
			if got := rendered(t, renderer, resource).Digest; (got == first) != tc.same {
				t.Errorf("got %s, first was %s, want the same: %t", got, first, tc.same)
			}
		})
	}
}

// A chart whose objects do not tell its name and version still has another digest under others.
func TestTheDigestChangesWithTheChart(t *testing.T) {
	with := func(change func(r *Renderer)) string {
		renderer := of(map[string]string{"a.yaml": service})
		change(renderer)
		return rendered(t, renderer, resource(t, widget, "{}")).Digest
	}
	first := with(func(*Renderer) {})
	if with(func(r *Renderer) { r.Chart.Metadata.Version = "1.0.1" }) == first {
		t.Error("it stays the same under another version")
	}
	if with(func(r *Renderer) { r.Chart.Metadata.Name = "other" }) == first {
		t.Error("it stays the same under another name")
	}
	if with(func(r *Renderer) { r.Chart.Metadata.Description = "other" }) != first {
		t.Error("it changes with the description")
	}
}

// The digest is that of the objects, whichever hooks they went through.
func TestTheDigestNeedsNoHooks(t *testing.T) {
	for name, chain := range map[string][]postrender.Hook{"none": nil, "the first": postrender.Default()[:1]} {
		t.Run(name, func(t *testing.T) {
			renderer := shipped(t)
			renderer.Hooks = chain
			if rendered(t, renderer, appService(t, "{image: a}")).Digest == rendered(t, renderer, appService(t, "{image: b}")).Digest {
				t.Error("two images have one digest")
			}
		})
	}
}

func TestALaterChartVersionDoesNotRestartPods(t *testing.T) {
	manyRenders(t)
	for _, name := range caseNames(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			older, newer := shipped(t), shipped(t)
			newer.Chart.Metadata.Version = "9.9.9+build"
			before, after := rendered(t, older, golden(t, name)), rendered(t, newer, golden(t, name))
			if before.Digest == after.Digest {
				t.Error("the digest stays the same")
			}
			for i, object := range after.Objects {
				if got := object.GetLabels()["helm.sh/chart"]; got != "appservice-9.9.9_build" {
					t.Errorf("%s: label helm.sh/chart is %q", kube.KeyOf(object), got)
				}
				if !reflect.DeepEqual(object.Object["spec"], before.Objects[i].Object["spec"]) {
					t.Errorf("%s: the spec changes", kube.KeyOf(object))
				}
			}
		})
	}
}

func TestTheResultHoldsWhatTheTranslatorSaid(t *testing.T) {
	renderer, resource := shipped(t), golden(t, "every-field")
	before := resource.DeepCopy()
	result := rendered(t, renderer, resource)
	want, err := renderer.Translator.Translate(t.Context(), resource)
	require.NoError(t, err)
	if !reflect.DeepEqual(result.Values, want) {
		t.Errorf("got values %s\nwant %s", asJSON(t, result.Values), asJSON(t, want))
	}
	if !reflect.DeepEqual(resource, before) {
		t.Error("the resource was changed")
	}
	if len(result.Sources) != len(result.Objects) {
		t.Errorf("got %d sources of %d objects", len(result.Sources), len(result.Objects))
	}
}

func TestRenderingLeavesTheChartAlone(t *testing.T) {
	renderer := shipped(t)
	want := shipped(t).Chart
	for _, name := range caseNames(t) {
		rendered(t, renderer, golden(t, name))
	}
	if !reflect.DeepEqual(renderer.Chart, want) {
		t.Error("the chart was changed")
	}
}
