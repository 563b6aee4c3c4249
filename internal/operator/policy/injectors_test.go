package policy

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// injector is what one injector of sidecars knows, by its module or by its documentation.
type injector struct {
	Injector, Source    string
	Module, Version     string
	Annotations, Labels []string
}

// load reads a file of testdata.
func load(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	require.NoError(t, yaml.UnmarshalStrict(text, into))
}

func injectors(t *testing.T) []injector {
	t.Helper()
	var generated, documented []injector
	load(t, "injectors.yaml", &generated)
	load(t, "injectors-documented.yaml", &documented)
	return append(generated, documented...)
}

// A key that an injector learns is let through, or refused for a reason: both are decisions.
func TestEachKeyOfAnInjectorIsDecided(t *testing.T) {
	var refused struct{ Annotations, Labels map[string]Patterns }
	load(t, "injectors-refused.yaml", &refused)
	var annotations, labels []string
	for _, each := range injectors(t) {
		annotations, labels = append(annotations, each.Annotations...), append(labels, each.Labels...)
	}
	shared := Default().For("demo", nil)
	decided(t, annotations, slices.Concat(shared.Annotations[everything], shared.Annotations["Pod"]), refused.Annotations)
	decided(t, labels, shared.Labels[everything], refused.Labels)
}

func decided(t *testing.T, keys []string, allowed Keys, refused map[string]Patterns) {
	t.Helper()
	used := map[string]bool{}
	for _, key := range keys {
		reasons := 0
		for _, patterns := range refused {
			for _, pattern := range patterns {
				if glob(pattern, key) {
					used[pattern] = true
					reasons++
				}
			}
		}
		switch let := forSomeValue(allowed, key); {
		case let && reasons > 0:
			t.Errorf("%s: shared.yaml lets it through, injectors-refused.yaml has a reason against it", key)
		case !let && reasons == 0:
			t.Errorf("%s: decide, and let it through in shared.yaml, or write the reason into injectors-refused.yaml", key)
		case reasons > 1:
			t.Errorf("%s: injectors-refused.yaml has it twice", key)
		}
	}
	for reason, patterns := range refused {
		for _, pattern := range patterns {
			assert.True(t, used[pattern], "%s, %s: no injector has such a key", reason, pattern)
		}
	}
	for _, pattern := range allowed {
		name, _, _ := strings.Cut(strings.TrimPrefix(pattern, refuses), valued)
		prefix, _, _ := strings.Cut(name, "/")
		of := func(key string) bool { return strings.HasPrefix(key, prefix+"/") }
		matched := func(key string) bool { return glob(name, key) }
		assert.True(t, !slices.ContainsFunc(keys, of) || slices.ContainsFunc(keys, matched), "%s of shared.yaml: no injector has such a key", pattern)
	}
}

// forSomeValue reports whether a list allows a key with any value at all.
func forSomeValue(list Keys, key string) bool {
	names := Patterns{}
	for _, pattern := range list {
		name, _, limited := strings.Cut(pattern, valued)
		if !limited || !strings.HasPrefix(pattern, refuses) {
			names = append(names, name)
		}
	}
	return names.Allow(key)
}

func TestTheListOfKeysIsOfTheVersionsThatArePinned(t *testing.T) {
	pins, err := os.ReadFile("../../../tools/pins/injectors/go.mod")
	require.NoError(t, err)
	var generated []injector
	load(t, "injectors.yaml", &generated)
	for _, each := range generated {
		assert.Contains(t, string(pins), each.Module+" "+each.Version+"\n", "make injectors")
	}
}

// Values that lead out of what a key is for, beside those that people use.
func TestValuesOfInjectors(t *testing.T) {
	const secrets = `{{ with secret "kv/app" }}{{ .Data.data.password }}{{ end }}`
	for key, values := range map[string]struct{ good, bad []string }{
		"sidecar.istio.io/inject":                                  {[]string{"true"}, []string{"false", "no"}},
		"sidecar.istio.io/interceptionMode":                        {[]string{"REDIRECT"}, []string{"NONE", "TPROXY"}},
		"sidecar.istio.io/componentLogLevel":                       {[]string{"misc:error,rbac:debug"}, []string{"error\n    image: evil", "error #", `"`, "{{ .Values }}"}},
		"sidecar.istio.io/proxyCPU":                                {[]string{"100m", "0.5"}, []string{"1\"\nimage: evil", "1 2"}},
		"sidecar.istio.io/statsInclusionRegexps":                   {[]string{"cluster.*|http.*"}, []string{`a"}, "admin": {`}},
		"readiness.status.sidecar.istio.io/failureThreshold":       {[]string{"30"}, []string{"30\nx: y"}},
		"linkerd.io/inject":                                        {[]string{"enabled", "ingress"}, []string{"disabled"}},
		"config.linkerd.io/proxy-log-level":                        {[]string{"warn,linkerd=info"}, []string{`warn" }`, "warn\n"}},
		"config.linkerd.io/proxy-cpu-request":                      {[]string{"100m"}, nil},
		"config.linkerd.io/opaque-ports":                           {[]string{"3306,4444-4450"}, nil},
		"config.linkerd.io/default-inbound-policy":                 {[]string{"deny"}, []string{"all-unauthenticated"}},
		"config.alpha.linkerd.io/proxy-wait-before-exit-seconds":   {[]string{"10"}, []string{"10\n"}},
		"dapr.io/sidecar-image":                                    {[]string{"daprio/daprd:1.8.3", "ghcr.io/dapr/daprd:1.15.4-mariner"}, []string{"evil/daprd:1", "daprio/evil", "evil.example/daprio/daprd:1", "daprio/daprd:1\nx"}},
		"dapr.io/sidecar-seccomp-profile-type":                     {[]string{"RuntimeDefault"}, []string{"Unconfined"}},
		"vault.hashicorp.com/agent-inject-secret-db":               {[]string{"kv/data/app"}, nil},
		"vault.hashicorp.com/agent-inject-template-db":             {[]string{secrets}, []string{`{{ plugin "sh" "-c" "id" }}`, "{{ $a\n|plugin }}"}},
		"vault.hashicorp.com/agent-inject-template-file-db":        {nil, []string{"/etc/passwd"}},
		"vault.hashicorp.com/agent-set-security-context":           {[]string{"true"}, []string{"false"}},
		"sidecar.jaegertracing.io/inject":                          {[]string{"true"}, []string{"other"}},
		"sidecar.opentelemetry.io/inject":                          {[]string{"true", "collector"}, []string{"false", "False", "other/collector"}},
		"instrumentation.opentelemetry.io/inject-java":             {[]string{"true", "java"}, []string{"false", "other/java"}},
		"admission.datadoghq.com/java-lib.version":                 {[]string{"v1.2.3"}, []string{"v1@sha256:1", "x/y"}},
		"admission.datadoghq.com/java-lib.custom-image":            {nil, []string{"evil"}},
		"ad.datadoghq.com/app.logs":                                {[]string{`[{"source":"java","service":"web","log_processing_rules":[{"name":"x","pattern":"\\d"}]}]`}, []string{`[{"type":"file","path":"/var/log/pods/*"}]`, `[{"Type" : "tcp"}]`, `[{"\u0074ype":"file"}]`}},
		"consul.hashicorp.com/connect-inject":                      {[]string{"true"}, []string{"false", "0", "f"}},
		"consul.hashicorp.com/transparent-proxy":                   {[]string{"true"}, []string{"false"}},
		"traffic.sidecar.istio.io/excludeOutboundPorts":            {nil, []string{"443"}},
		"consul.hashicorp.com/transparent-proxy-exclude-uids":      {nil, []string{"1000"}},
		"azure.workload.identity/service-account-token-expiration": {[]string{"3600"}, nil},
		"proxy.istio.io/config": {
			[]string{`{"holdApplicationUntilProxyStarts": true}`, "holdApplicationUntilProxyStarts: true\nterminationDrainDuration: 30s\n", "concurrency: 2"},
			[]string{"discoveryAddress: evil:15012", "concurrency: 2\nproxyMetadata: {A: b}", "{concurrency: 2, image: {imageType: debug}}", "concurrency: 2 interceptionMode: NONE"},
		},
	} {
		rules := Default().For("demo", nil)
		for _, value := range values.good {
			assert.True(t, rules.allows("demo", key, value, rules.Annotations[everything], rules.Annotations["Pod"]), "%s: %q is refused", key, value)
		}
		for _, value := range values.bad {
			assert.False(t, rules.allows("demo", key, value, rules.Annotations[everything], rules.Annotations["Pod"]), "%s may be %q", key, value)
		}
	}
}
