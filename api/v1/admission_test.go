package v1_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	appservice "github.com/example/appservice-operator"
	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/chart/crd"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/engine/values"
)

// admission does with an AppService what the API server does with the custom resource definition.
type admission struct{ *crd.Definition }

func crdFile(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("../../config/crd/bases/app.example.com_appservices.yaml")
	require.NoError(t, err)
	return text
}

func newAdmission(t *testing.T) *admission {
	t.Helper()
	read, err := crd.Read(crdFile(t))
	require.NoError(t, err)
	return &admission{read}
}

// admit returns what is stored, the fields that were dropped, and why it is refused.
func (a *admission) admit(t *testing.T, in *unstructured.Unstructured) (stored *unstructured.Unstructured, dropped []string, refusal error) {
	t.Helper()
	out := a.Admit(t.Context(), in)
	return out.Resource, out.Unknown, out.Errors.ToAggregate()
}

func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	data, err := yaml.YAMLToJSONStrict([]byte(text))
	require.NoError(t, err)
	object := &unstructured.Unstructured{}
	require.NoError(t, utiljson.Unmarshal(data, &object.Object))
	return object
}

func named(t *testing.T, name, spec string) *unstructured.Unstructured {
	t.Helper()
	object := parse(t, "spec: "+spec)
	object.SetGroupVersionKind(v1.GroupVersion.WithKind(v1.Kind))
	object.SetName(name)
	object.SetNamespace("shop")
	return object
}

// cases are the golden cases.
func cases(t *testing.T) map[string]*unstructured.Unstructured {
	t.Helper()
	files, err := filepath.Glob("../../test/testdata/cases/*/cr.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d cases, error %v", len(files), err)
	}
	out := map[string]*unstructured.Unstructured{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		object := parse(t, string(text))
		object.SetNamespace("shop")
		out[filepath.Base(filepath.Dir(file))] = object
	}
	return out
}

// The API server also estimates what the rules may cost, and refuses a definition where one may cost too much.
func TestTheDefinitionIsValid(t *testing.T) {
	if errs := crdvalidation.ValidateCustomResourceDefinition(t.Context(), newAdmission(t).Internal); len(errs) > 0 {
		t.Error(errs.ToAggregate())
	}
}

// kubectl apply keeps the whole definition in an annotation, which may have 262,144 bytes.
func TestTheDefinitionIsSmallEnoughForPlainApply(t *testing.T) {
	const limit = 180 << 10
	compact, err := yaml.YAMLToJSON(crdFile(t))
	require.NoError(t, err)
	if len(compact) > limit {
		t.Errorf("it has %d bytes, want at most %d", len(compact), limit)
	}
}

func TestGoldenCasesAreAdmitted(t *testing.T) {
	a := newAdmission(t)
	for name, object := range cases(t) {
		t.Run(name, func(t *testing.T) {
			_, dropped, err := a.admit(t, object)
			if err != nil || len(dropped) > 0 {
				t.Errorf("dropped fields %v, error %v", dropped, err)
			}
		})
	}
}

// TestTheChartHasTheDefaultsOfTheDefinition: the rendered objects are the same before and after the
// API server fills in defaults, so that a rendering on a desk is one in the cluster.
func TestTheChartHasTheDefaultsOfTheDefinition(t *testing.T) {
	c, err := chart.Load(appservice.Files, "helm-charts/appservice")
	require.NoError(t, err)
	renderer := &render.Renderer{Chart: c, Translator: values.For(v1.GroupVersion.WithKind(v1.Kind), c, nil), Hooks: postrender.Default()}
	a := newAdmission(t)
	for name, object := range cases(t) {
		t.Run(name, func(t *testing.T) {
			stored, _, err := a.admit(t, object)
			require.NoError(t, err)
			var manifests [2]string
			for i, resource := range []*unstructured.Unstructured{object, stored} {
				result, err := renderer.Render(t.Context(), resource, chartutil.DefaultCapabilities)
				require.NoError(t, err)
				manifests[i] = result.Manifest()
			}
			if manifests[0] != manifests[1] {
				t.Errorf("as it is:\n%s\nas it is stored:\n%s", manifests[0], manifests[1])
			}
		})
	}
}

// TestTheEdgesOfWhatIsAdmitted has a last accepted and a first refused value for each bound.
func TestTheEdgesOfWhatIsAdmitted(t *testing.T) {
	list := func(count int, item func(i int) string) string {
		items := make([]string, 0, count)
		for i := range count {
			items = append(items, item(i))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	ports := func(count int) string {
		return list(count, func(i int) string { return fmt.Sprintf("{port: %d, name: p%d}", i+1, i) })
	}
	containerPorts := func(count int) string {
		return list(count, func(i int) string { return fmt.Sprintf("{containerPort: %d}", i+1) })
	}
	entries := func(count, size int) string {
		return "{" + strings.Trim(list(count, func(i int) string { return fmt.Sprintf("E%d: %q", i, strings.Repeat("x", size)) }), "[]") + "}"
	}
	long := func(n int) string { return strings.Repeat("a", n) }
	tests := map[string]struct {
		accepted, refused string // specs
		field             string // what the refusal names
	}{
		"size from below":         {`{image: a, size: 0}`, `{image: a, size: -1}`, "spec.size"},
		"size from above":         {`{image: a, size: 2147483647}`, `{image: a, size: 2147483648}`, "spec.size"},
		"size beyond 32 bits":     {`{image: a, size: 1}`, `{image: a, size: 4294967297}`, "spec.size"},
		"image from below":        {`{image: a}`, `{image: ""}`, "spec.image"},
		"image from above":        {`{image: ` + long(1024) + `}`, `{image: ` + long(1025) + `}`, "spec.image"},
		"image with another line": {`{image: "a:b@c/d+e_f"}`, `{image: "a\n  hostNetwork: true"}`, "spec.image"},
		"image with a space":      {`{image: a.b-c}`, `{image: "a b"}`, "spec.image"},
		"number of ports":         {`{image: a, ports: ` + ports(32) + `}`, `{image: a, ports: ` + ports(33) + `}`, "spec.ports"},
		"port from below":         {`{image: a, ports: [{port: 1}]}`, `{image: a, ports: [{port: 0}]}`, "spec.ports[0].port"},
		"port from above":         {`{image: a, ports: [{port: 65535}]}`, `{image: a, ports: [{port: 65536}]}`, "spec.ports[0].port"},
		"targetPort":              {`{image: a, ports: [{port: 1, targetPort: 65535}]}`, `{image: a, ports: [{port: 1, targetPort: 65536}]}`, "spec.ports[0].targetPort"},
		"targetPort from below":   {`{image: a, ports: [{port: 1, targetPort: 1}]}`, `{image: a, ports: [{port: 1, targetPort: 0}]}`, "spec.ports[0].targetPort"},
		"targetPort of a sidecar": {
			`{image: a, ports: [{port: 1, targetPort: proxy}], sidecars: [{name: b, image: b, ports: [{name: proxy, containerPort: 1}]}]}`,
			`{image: a, ports: [{port: 1, targetPort: proxy}], sidecars: [{name: b, image: b, ports: [{name: other, containerPort: 1}, {containerPort: 2}]}]}`, "spec.ports[].targetPort must be",
		},
		"targetPort of a sidecar's other protocol": {
			`{image: a, ports: [{port: 1, protocol: UDP, targetPort: dns}], sidecars: [{name: b, image: b, ports: [{name: dns, protocol: UDP, containerPort: 1}]}]}`,
			`{image: a, ports: [{port: 1, targetPort: dns}], sidecars: [{name: b, image: b, ports: [{name: dns, protocol: UDP, containerPort: 1}]}]}`, "spec.ports[].targetPort must be",
		},
		"targetPort of another entry": {
			`{image: a, ports: [{name: a, port: 1, targetPort: b}, {name: b, port: 2, targetPort: 3}]}`,
			`{image: a, ports: [{name: a, port: 1, targetPort: b}, {name: b, port: 2, targetPort: a}]}`, "spec.ports[].targetPort must be",
		},
		"targetPort of another entry's other protocol": {
			`{image: a, ports: [{name: a, port: 1, targetPort: b}, {name: b, port: 2}]}`,
			`{image: a, ports: [{name: a, port: 1, targetPort: b}, {name: b, port: 2, protocol: UDP}]}`, "spec.ports[].targetPort must be",
		},
		"targetPort of its own name": {
			`{image: a, ports: [{name: http, port: 1, targetPort: http}], sidecars: [{name: b, image: b, ports: [{name: http, containerPort: 1}]}]}`,
			`{image: a, ports: [{name: http, port: 1, targetPort: http}]}`, "spec.ports[].targetPort must be",
		},
		"length of a targetPort": {
			`{image: a, ports: [{port: 1, targetPort: a23456789012345}], sidecars: [{name: b, image: b, ports: [{name: a23456789012345, containerPort: 1}]}]}`,
			`{image: a, ports: [{port: 1, targetPort: a234567890123456}]}`, "spec.ports[0].targetPort",
		},
		"letters of a targetPort": {
			`{image: a, ports: [{port: 1, targetPort: a-1}], sidecars: [{name: b, image: b, ports: [{name: a-1, containerPort: 1}]}]}`,
			`{image: a, ports: [{port: 1, targetPort: "a\n  b"}]}`, "spec.ports[0].targetPort",
		},
		"ports of a sidecar": {
			`{image: a, sidecars: [{name: b, image: b, ports: ` + containerPorts(32) + `}]}`,
			`{image: a, sidecars: [{name: b, image: b, ports: ` + containerPorts(33) + `}]}`, "spec.sidecars[0].ports",
		},
		"nodePort":                {`{image: a, ports: [{port: 1, nodePort: 65535}]}`, `{image: a, ports: [{port: 1, nodePort: 65536}]}`, "spec.ports[0].nodePort"},
		"length of a port's name": {`{image: a, ports: [{port: 1, name: a23456789012345}]}`, `{image: a, ports: [{port: 1, name: a234567890123456}]}`, "spec.ports[0].name"},
		"letters of a port name":  {`{image: a, ports: [{port: 1, name: 1-a}]}`, `{image: a, ports: [{port: 1, name: "1"}]}`, "spec.ports[].name"},
		"dashes of a port name":   {`{image: a, ports: [{port: 1, name: a-b-c}]}`, `{image: a, ports: [{port: 1, name: a--b}]}`, "spec.ports[].name"},
		"a port twice":            {`{image: a, ports: [{port: 1, name: a}, {port: 1, name: b, protocol: UDP}]}`, `{image: a, ports: [{port: 1, name: a}, {port: 1, name: b, protocol: TCP}]}`, "spec.ports[1]"},
		"names of several ports":  {`{image: a, ports: [{port: 1, name: a}, {port: 2, name: b}]}`, `{image: a, ports: [{port: 1, name: a}, {port: 2}]}`, "spec.ports[].name is required"},
		"protocol":                {`{image: a, ports: [{port: 1, protocol: SCTP}]}`, `{image: a, ports: [{port: 1, protocol: tcp}]}`, "spec.ports[0].protocol"},
		"entries of environment":  {`{image: a, config: {environment: ` + entries(64, 1) + `}}`, `{image: a, config: {environment: ` + entries(65, 1) + `}}`, "spec.config.environment"},
		"bytes of environment":    {`{image: a, config: {environment: ` + entries(64, 512) + `}}`, `{image: a, config: {environment: ` + entries(64, 513) + `}}`, "32 KiB"},
		"bytes of one entry":      {`{image: a, config: {environment: ` + entries(1, 32768) + `}}`, `{image: a, config: {environment: ` + entries(1, 32769) + `}}`, "spec.config.environment"},
		"key of environment":      {`{image: a, config: {environment: {_a.B-1: x}}}`, `{image: a, config: {environment: {1A: x}}}`, "environment keys"},
		"length of a key":         {`{image: a, config: {environment: {` + long(253) + `: x}}}`, `{image: a, config: {environment: {` + long(254) + `: x}}}`, "environment keys"},
		"request and limit":       {`{image: a, resources: {requests: {cpu: 1}, limits: {cpu: 1000m}}}`, `{image: a, resources: {requests: {cpu: 1001m}, limits: {cpu: 1}}}`, "spec.resources.requests"},
		"memory":                  {`{image: a, resources: {requests: {memory: 1Gi}, limits: {memory: 1024Mi}}}`, `{image: a, resources: {requests: {memory: 1G}, limits: {memory: 1M}}}`, "spec.resources.requests"},
		"ephemeral storage":       {`{image: a, resources: {requests: {ephemeral-storage: 1Gi}}}`, `{image: a, resources: {requests: {ephemeral-storage: 2Gi}, limits: {ephemeral-storage: 1Gi}}}`, "spec.resources.requests"},
		"quantity":                {`{image: a, resources: {limits: {cpu: "0.1", memory: 1e3}}}`, `{image: a, resources: {limits: {cpu: banana}}}`, "spec.resources.limits"},
		"hosts":                   {`{image: a, ports: [{port: 1}], ingress: {hosts: [{host: '*.a-b.c'}]}}`, `{image: a, ports: [{port: 1}], ingress: {defaultBackend: {}}}`, "spec.ingress.hosts"},
		"host":                    {`{image: a, ports: [{port: 1}], ingress: {hosts: [{host: a.b}]}}`, `{image: a, ports: [{port: 1}], ingress: {hosts: [{host: 'a.b/c'}]}}`, "spec.ingress.hosts[0].host"},
		"host in capitals":        {`{image: a, ports: [{port: 1}], ingress: {hosts: [{host: a}]}}`, `{image: a, ports: [{port: 1}], ingress: {hosts: [{host: A}]}}`, "spec.ingress.hosts[0].host"},
		"path":                    {`{image: a, ports: [{port: 1}], ingress: {hosts: [{host: a, paths: [{path: /a}]}]}}`, `{image: a, ports: [{port: 1}], ingress: {hosts: [{host: a, paths: [{path: a}]}]}}`, "spec.ingress.hosts[0].paths[0].path"},
		"path type":               {`{image: a, ports: [{port: 1}], ingress: {hosts: [{host: a, paths: [{pathType: Exact}]}]}}`, `{image: a, ports: [{port: 1}], ingress: {hosts: [{host: a, paths: [{pathType: exact}]}]}}`, "spec.ingress.hosts[0].paths[0].pathType"},
		"port of a path":          {`{image: a, ports: [{port: 1}], ingress: {hosts: [{host: a, paths: [{port: 1}]}]}}`, `{image: a, ports: [{port: 1}], ingress: {hosts: [{host: a, paths: [{port: 2}]}]}}`, "paths[].port"},
		"certificate":             {`{image: a, ports: [{port: 1}], ingress: {hosts: [{host: a}], tls: [{hosts: [a]}]}}`, `{image: a, ports: [{port: 1}], ingress: {hosts: [{host: a}], tls: [{hosts: [b]}]}}`, "spec.ingress.tls[].hosts"},
		"issuer":                  {`{image: a, ports: [{port: 1}], ingress: {hosts: [{host: a}], issuer: b}}`, `{image: a, ports: [{port: 1}], ingress: {hosts: [{host: a}], issuer: b, clusterIssuer: c}}`, "issuer or clusterIssuer"},
		"database":                {`{image: a, config: {databaseUrl: b}}`, `{image: a, config: {databaseUrl: b, databaseUrlFrom: {secretKeyRef: {name: c, key: d}}}}`, "databaseUrl or databaseUrlFrom"},
		"probe without a port": {
			`{image: a, ports: [{port: 1}], probes: {liveness: {httpGet: {}}, readiness: {tcpSocket: {}}, startup: {grpc: {}}}}`,
			`{image: a, probes: {startup: {exec: {command: [a]}}, liveness: {httpGet: {path: /}}}}`, "spec.probes needs a port",
		},
		"probe of a number": {
			`{image: a, probes: {liveness: {httpGet: {port: 1}}, readiness: {tcpSocket: {port: 1}}, startup: {grpc: {port: 1}}}}`,
			`{image: a, ports: [], probes: {readiness: {tcpSocket: {}}}}`, "spec.probes needs a port",
		},
		"probe by gRPC": {
			`{image: a, probes: {startup: {exec: {command: [a]}}}}`, `{image: a, probes: {startup: {grpc: {service: a}}}}`, "spec.probes needs a port",
		},
		"grace after a probe": {
			`{image: a, probes: {liveness: {exec: {command: [a]}, terminationGracePeriodSeconds: 1}, startup: {exec: {command: [a]}, terminationGracePeriodSeconds: 1}}}`,
			`{image: a, probes: {readiness: {exec: {command: [a]}, terminationGracePeriodSeconds: 1}}}`, "spec.probes.readiness.terminationGracePeriodSeconds must be left out",
		},
		"handlers of a liveness probe": {
			`{image: a, ports: [{port: 1}], probes: {liveness: {tcpSocket: {}}}}`, `{image: a, ports: [{port: 1}], probes: {liveness: {periodSeconds: 1}}}`, "exactly one of httpGet",
		},
		"handlers of a startup probe": {
			`{image: a, ports: [{port: 1}], probes: {startup: {tcpSocket: {}}}}`, `{image: a, ports: [{port: 1}], probes: {startup: {tcpSocket: {}, grpc: {}}}}`, "exactly one of httpGet",
		},
		"handlers of a readiness probe": {
			`{image: a, ports: [{port: 1}], probes: {readiness: {periodSeconds: 1}}}`,
			`{image: a, ports: [{port: 1}], probes: {readiness: {tcpSocket: {}, exec: {command: [a]}}}}`, "spec.probes.readiness takes one of",
		},
		"a readiness probe of any TCP port": {
			`{image: a, ports: [{port: 1, name: a, protocol: UDP}, {port: 1, name: b}], probes: {readiness: {}}}`,
			`{image: a, ports: [{port: 1, protocol: UDP}], probes: {readiness: {}}}`, "spec.probes.readiness needs one of",
		},
		"no readiness probe": {
			`{image: a, probes: {readiness: {none: true}}}`, `{image: a, probes: {readiness: {none: false}}}`, "spec.probes.readiness needs one of",
		},
		"no readiness probe and what it asks": {
			`{image: a, ports: [{port: 1}], probes: {readiness: {none: false, tcpSocket: {}, periodSeconds: 1}}}`,
			`{image: a, ports: [{port: 1}], probes: {readiness: {none: true, tcpSocket: {}}}}`, "spec.probes.readiness.none turns the probe off",
		},
		"no readiness probe and when it asks": {
			`{image: a, ports: [{port: 1}], probes: {readiness: {none: true}}}`,
			`{image: a, ports: [{port: 1}], probes: {readiness: {none: true, failureThreshold: 1}}}`, "spec.probes.readiness.none turns the probe off",
		},
		"time to start": {
			`{image: a, ports: [{port: 1}], probes: {startupSeconds: 1, readiness: {none: true}}}`,
			`{image: a, ports: [{port: 1}], probes: {startupSeconds: 1, startup: {tcpSocket: {}}}}`, "startup or startupSeconds, not both",
		},
		"time to start from below": {
			`{image: a, ports: [{port: 1}], probes: {startupSeconds: 1}}`, `{image: a, ports: [{port: 1}], probes: {startupSeconds: 0}}`, "spec.probes.startupSeconds",
		},
		"time to start from above": {
			`{image: a, ports: [{port: 1}], probes: {startupSeconds: 86400}}`, `{image: a, ports: [{port: 1}], probes: {startupSeconds: 86401}}`, "spec.probes.startupSeconds",
		},
		"time to start without a port": {
			`{image: a, probes: {startupSeconds: 1, readiness: {exec: {command: [a]}}}}`,
			`{image: a, ports: [{port: 1, protocol: UDP}], probes: {startupSeconds: 1, readiness: {none: true}}}`, "spec.probes.startupSeconds needs one of",
		},
		"external traffic by type": {
			`{image: a, ports: [{port: 1}], service: {type: NodePort, externalTrafficPolicy: Local}}`,
			`{image: a, ports: [{port: 1}], service: {type: ClusterIP, externalTrafficPolicy: Local}}`, "spec.service.externalTrafficPolicy needs",
		},
		"external traffic by node port": {
			`{image: a, ports: [{port: 1, nodePort: 30000}], service: {externalTrafficPolicy: Local}}`,
			`{image: a, ports: [{port: 1}], service: {externalTrafficPolicy: Local}}`, "spec.service.externalTrafficPolicy needs",
		},
		"external traffic without ports": {
			`{image: a, service: {type: LoadBalancer, externalTrafficPolicy: Local}}`, `{image: a, service: {externalTrafficPolicy: Local}}`, "spec.service.externalTrafficPolicy needs",
		},
		"names of containers": {
			`{image: a, initContainers: [{name: a, image: a}], sidecars: [{name: b, image: a}]}`,
			`{image: a, initContainers: [{name: c, image: a}, {name: a, image: a}], sidecars: [{name: b, image: a}, {name: a, image: a}]}`, "spec.initContainers[].name and spec.sidecars[].name must differ",
		},
		"source ranges": {
			`{image: a, ports: [{port: 1}], service: {type: LoadBalancer, loadBalancerSourceRanges: [192.0.2.0/24, "2001:db8::/32"]}}`,
			`{image: a, ports: [{port: 1}], service: {type: LoadBalancer, loadBalancerSourceRanges: [192.0.2.0/24, 192.0.2.1]}}`, "spec.service.loadBalancerSourceRanges must be networks",
		},
		"source ranges by type": {
			`{image: a, service: {type: LoadBalancer, loadBalancerSourceRanges: [192.0.2.0/24]}}`,
			`{image: a, service: {loadBalancerSourceRanges: [192.0.2.0/24]}}`, "spec.service.loadBalancerSourceRanges needs",
		},
		"mount where files are": {
			`{image: a, config: {files: {b: c}, mountPath: /a}, volumeMounts: [{name: v, mountPath: /etc/config}]}`,
			`{image: a, config: {files: {b: c}, mountPath: /a}, volumeMounts: [{name: v, mountPath: /a}]}`, "spec.volumeMounts[].mountPath must not be",
		},
		"mount where files are by default": {
			`{image: a, config: {mountPath: /a}, volumeMounts: [{name: v, mountPath: /a}, {name: v, mountPath: /etc/config}]}`,
			`{image: a, config: {files: {b: c}}, volumeMounts: [{name: v, mountPath: /b}, {name: v, mountPath: /etc/config}]}`, "spec.volumeMounts[].mountPath must not be",
		},
		"mount where the claim is": {
			`{image: a, persistence: {size: 1Gi, mountPath: /a}, volumeMounts: [{name: v, mountPath: /a/b}]}`,
			`{image: a, persistence: {size: 1Gi, mountPath: /a}, volumeMounts: [{name: v, mountPath: /a}]}`, "spec.volumeMounts[].mountPath must not be",
		},
		"claim where files are": {
			`{image: a, config: {files: {b: c}}, persistence: {size: 1Gi, mountPath: /etc}}`,
			`{image: a, config: {files: {b: c}}, persistence: {size: 1Gi, mountPath: /etc/config}}`, "spec.persistence.mountPath must not be",
		},
		"name of a claim's volume": {
			`{image: a, config: {files: {b: c}}, volumes: [{name: data, emptyDir: {}}]}`,
			`{image: a, persistence: {size: 1Gi, mountPath: /a}, volumes: [{name: b, emptyDir: {}}, {name: data, emptyDir: {}}]}`, "spec.volumes[].name must not be data",
		},
		"name of the files' volume": {
			`{image: a, persistence: {size: 1Gi, mountPath: /a}, config: {files: {}, environment: {B: c}}, volumes: [{name: config-files, emptyDir: {}}]}`,
			`{image: a, config: {files: {b: c}}, volumes: [{name: config-files, emptyDir: {}}]}`, "nor config-files if spec.config.files",
		},
		"annotations of an account that exists": {
			`{image: a, serviceAccount: {create: true, name: b, annotations: {c: d}}}`,
			`{image: a, serviceAccount: {name: b, annotations: {c: d}}}`, "spec.serviceAccount.annotations are those of an account that is created",
		},
		"annotations of no account": {
			`{image: a, serviceAccount: {annotations: {c: d}}}`,
			`{image: a, serviceAccount: {create: false, annotations: {c: d}}}`, "spec.serviceAccount.annotations are those of an account that is created",
		},
		"names of variables": {`{image: a, envs: [{name: A}, {name: B}]}`, `{image: a, envs: [{name: A}, {name: A}]}`, "spec.envs[1]"},
	}
	a := newAdmission(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, dropped, err := a.admit(t, named(t, "web", test.accepted)); err != nil || len(dropped) > 0 {
				t.Errorf("%.200s: dropped fields %v, error %v", test.accepted, dropped, err)
			}
			switch _, _, err := a.admit(t, named(t, "web", test.refused)); {
			case err == nil:
				t.Errorf("%.200s: it is accepted", test.refused)
			case !strings.Contains(err.Error(), test.field):
				t.Errorf("%.200s: the error lacks %q: %v", test.refused, test.field, err)
			}
		})
	}
}

func TestNames(t *testing.T) {
	tests := map[string]bool{
		"a": true, "web": true, "a-1": true, "yes": true, strings.Repeat("a", 53): true,
		strings.Repeat("a", 54): false, "1a": false, "a.b": false, "a-": false, "-a": false, "A": false, "a_b": false,
	}
	a := newAdmission(t)
	for name, accepted := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := a.admit(t, named(t, name, "{image: a}"))
			if (err == nil) != accepted {
				t.Fatalf("got error %v, want it accepted: %t", err, accepted)
			}
			if err != nil && !strings.Contains(err.Error(), "metadata.name must be at most 53 characters") {
				t.Errorf("the error does not name the limit: %v", err)
			}
		})
	}
}

func TestUnknownFieldsAreNamed(t *testing.T) {
	_, dropped, err := newAdmission(t).admit(t, named(t, "web", "{image: a, imagee: b, ports: [{port: 1, hostPort: 1}]}"))
	if want := []string{"spec.imagee", "spec.ports[0].hostPort"}; err != nil || !reflect.DeepEqual(dropped, want) {
		t.Errorf("dropped %v, error %v, want %v dropped", dropped, err, want)
	}
}

func TestDefaults(t *testing.T) {
	stored, _, err := newAdmission(t).admit(t, named(t, "web", "{image: a, ports: [{port: 1}]}"))
	require.NoError(t, err)
	want := parse(t, "{image: a, size: 1, ports: [{port: 1, protocol: TCP}]}").Object
	if got := stored.Object["spec"]; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// edge is a spec that is just accepted, one that is just refused, each without braces and image, and a part of the message.
type edge struct{ accepted, refused, message string }

// testEdges checks that specs are accepted as they are, and others refused with a message.
func testEdges(t *testing.T, tests map[string]edge) {
	t.Helper()
	a := newAdmission(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, dropped, err := a.admit(t, named(t, "web", "{image: a, "+test.accepted+"}")); err != nil || len(dropped) > 0 {
				t.Errorf("%.200s: dropped fields %v, error %v", test.accepted, dropped, err)
			}
			if _, _, err := a.admit(t, named(t, "web", "{image: a, "+test.refused+"}")); err == nil || !strings.Contains(err.Error(), test.message) {
				t.Errorf("%.200s: got error %v, want %q in it", test.refused, err, test.message)
			}
		})
	}
}
