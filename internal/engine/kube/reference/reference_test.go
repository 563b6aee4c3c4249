package reference

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &object.Object))
	return object
}

// deployment has the given pod spec, in YAML that is indented by six spaces.
func deployment(t *testing.T, pod string) *unstructured.Unstructured {
	t.Helper()
	text := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  template:\n    spec:\n"
	return object(t, text+"      "+strings.ReplaceAll(strings.TrimSpace(pod), "\n", "\n      "))
}

func TestOf(t *testing.T) {
	const configMap = "{apiVersion: v1, kind: ConfigMap, metadata: {name: web-config}}"
	const ingress = "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web}, spec: {ingressClassName: nginx, tls: [{secretName: certificate}]}}"
	const claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: web}, spec: {storageClassName: fast}}"
	route := func(kind, parents string) string {
		return "{apiVersion: gateway.networking.k8s.io/v1, kind: " + kind + ", metadata: {name: web}, spec: {parentRefs: [" + parents + "]}}"
	}
	cases := map[string]struct {
		objects []string // pod specs where they begin with a field of one
		want    []string // kind name/key need content
	}{
		"nothing":                        {[]string{"containers: [{name: app, image: x}]"}, nil},
		"the default service account":    {[]string{"serviceAccountName: default"}, nil},
		"a service account":              {[]string{"serviceAccountName: robot"}, []string{"ServiceAccount robot/ required"}},
		"a pull secret":                  {[]string{"imagePullSecrets: [{name: registry}]"}, []string{"Secret registry/ advisory"}},
		"all of a ConfigMap":             {[]string{"containers: [{name: app, envFrom: [{configMapRef: {name: a}}]}]"}, []string{"ConfigMap a/ required content"}},
		"all of an optional Secret":      {[]string{"containers: [{name: app, envFrom: [{secretRef: {name: a, optional: true}}]}]"}, []string{"Secret a/ optional content"}},
		"a key of a ConfigMap":           {[]string{"containers: [{name: app, env: [{name: A, valueFrom: {configMapKeyRef: {name: a, key: k}}}]}]"}, []string{"ConfigMap a/k required content"}},
		"a key of a Secret":              {[]string{"initContainers: [{name: init, env: [{name: A, valueFrom: {secretKeyRef: {name: a, key: k}}}]}]"}, []string{"Secret a/k required content"}},
		"a volume":                       {[]string{"volumes: [{name: v, configMap: {name: a}}]"}, []string{"ConfigMap a/ required content"}},
		"items of a volume":              {[]string{"volumes: [{name: v, secret: {secretName: a, items: [{key: k, path: p}, {key: l, path: q}]}}]"}, []string{"Secret a/k required content", "Secret a/l required content"}},
		"a projected volume":             {[]string{"volumes: [{name: v, projected: {sources: [{configMap: {name: a, optional: true}}, {secret: {name: b}}]}}]"}, []string{"ConfigMap a/ optional content", "Secret b/ required content"}},
		"a claim":                        {[]string{"volumes: [{name: v, persistentVolumeClaim: {claimName: a}}]"}, []string{"PersistentVolumeClaim a/ required"}},
		"a claim that is rendered":       {[]string{"volumes: [{name: v, persistentVolumeClaim: {claimName: web}}]", claim}, []string{"StorageClass fast/ advisory"}},
		"a ConfigMap that is rendered":   {[]string{"containers: [{name: app, envFrom: [{configMapRef: {name: web-config}}]}]", configMap}, nil},
		"an Ingress":                     {[]string{ingress}, []string{"IngressClass nginx/ advisory", "Secret certificate/ advisory"}},
		"a certificate that pods mount":  {[]string{"volumes: [{name: v, secret: {secretName: certificate}}]", ingress}, []string{"IngressClass nginx/ advisory", "Secret certificate/ advisory content", "Secret certificate/ advisory"}},
		"a route":                        {[]string{route("HTTPRoute", "{name: edge}, {name: edge, sectionName: https}, {name: edge, namespace: infra}")}, []string{"Gateway edge/ reported", "Gateway infra/edge/ reported"}},
		"added listeners":                {[]string{"{apiVersion: gateway.networking.k8s.io/v1, kind: ListenerSet, metadata: {name: web}, spec: {parentRef: {name: edge, namespace: infra}}}"}, []string{"Gateway infra/edge/ reported"}},
		"a route of another kind":        {[]string{route("GRPCRoute", "{name: edge}")}, []string{"Gateway edge/ reported"}},
		"a route in a mesh":              {[]string{route("HTTPRoute", "{group: '', kind: Service, name: web}")}, nil},
		"a Gateway that is rendered":     {[]string{route("HTTPRoute", "{name: edge}"), "{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: edge}}"}, nil},
		"the same twice":                 {[]string{"containers: [{name: a, envFrom: [{secretRef: {name: a}}]}, {name: b, envFrom: [{secretRef: {name: a, optional: true}}]}]"}, []string{"Secret a/ required content"}},
		"a pod spec that is none":        {[]string{"containers: 7"}, nil},
		"an optional key without a name": {[]string{"containers: [{name: a, envFrom: [{secretRef: {name: ''}}]}]"}, nil},
	}
	needs := map[Need]string{Required: "required", Optional: "optional", Advisory: "advisory", Reported: "reported"}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			var objects []*unstructured.Unstructured
			for _, text := range test.objects {
				if strings.HasPrefix(text, "{") {
					objects = append(objects, object(t, text))
				} else {
					objects = append(objects, deployment(t, text))
				}
			}
			var got []string
			for _, r := range Of(objects) {
				line := fmt.Sprintf("%s %s/%s %s", r.Kind, path.Join(r.Namespace, r.Name), r.Key, needs[r.Need])
				if r.Content {
					line += " content"
				}
				got = append(got, line)
			}
			assert.Equal(t, test.want, got)
		})
	}
}

func TestWhereAnObjectIs(t *testing.T) {
	cases := map[string]struct {
		object Object
		want   string
	}{
		"beside what refers to it": {Object{Kind: Secret, Name: "x"}, `Secret "demo/x"`},
		"in no namespace":          {Object{Kind: IngressClass, Name: "x"}, `IngressClass "x"`},
		"elsewhere":                {Object{Kind: Gateway, Namespace: "infra", Name: "x"}, `Gateway "infra/x"`},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, test.object.From("demo").String())
		})
	}
}

func TestPodTemplate(t *testing.T) {
	const template = "{metadata: {name: x}}"
	cases := map[string]struct {
		object string
		found  bool
	}{
		"a Deployment":  {"{kind: Deployment, spec: {template: " + template + "}}", true},
		"a StatefulSet": {"{kind: StatefulSet, spec: {template: " + template + "}}", true},
		"a CronJob":     {"{kind: CronJob, spec: {jobTemplate: {spec: {template: " + template + "}}}}", true},
		"a Service":     {"{kind: Service, spec: {template: " + template + "}}", false},
		"without one":   {"{kind: Deployment, spec: {}}", false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.found, PodTemplate(object(t, test.object)) != nil, "found")
		})
	}
}

func TestMissing(t *testing.T) {
	there := Object{Kind: Secret, Name: "there"}
	gone := Object{Kind: Secret, Name: "gone"}
	untold := Object{Kind: Secret, Name: "untold"}
	states := map[Object]State{there: {Found: true, Data: map[string]string{"k": "digest"}}, gone: {}}
	cases := map[string]struct {
		references []Reference
		want       string // message of the first; empty where none is missing
	}{
		"all there":                   {[]Reference{{Object: there}, {Object: there, Key: "k"}}, ""},
		"an object":                   {[]Reference{{Object: gone, By: `volume "v"`}}, `Secret "gone" does not exist, volume "v" needs it`},
		"a key of what is missing":    {[]Reference{{Object: gone, Key: "k", By: "env A"}}, `Secret "gone" does not exist, env A needs it`},
		"a key":                       {[]Reference{{Object: there, Key: "l", By: "env A"}}, `Secret "there" has no key "l", which env A needs`},
		"what is optional":            {[]Reference{{Object: gone, Need: Optional}, {Object: there, Key: "l", Need: Optional}}, ""},
		"what nobody tells about":     {[]Reference{{Object: untold}}, ""},
		"two keys of what is missing": {[]Reference{{Object: gone, Key: "a", By: "env A"}, {Object: gone, Key: "b", By: "env B"}}, `Secret "gone" does not exist, env A needs it`},
		"an object that is only nice": {[]Reference{{Object: gone, Need: Advisory, By: "TLS"}}, `Secret "gone" does not exist, TLS needs it`},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			missing := Missing(test.references, states)
			got := ""
			if len(missing) > 0 {
				got = (&MissingError{missing[0]}).Error()
			}
			if got != test.want || len(missing) > 1 {
				t.Errorf("got %q and %d in all, want %q", got, len(missing), test.want)
			}
		})
	}
}
