package podtemplate

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
)

// parse reads YAML as rendering does.
func parse(t testing.TB, text string) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSONStrict([]byte(text))
	require.NoError(t, err)
	var content map[string]any
	require.NoError(t, utiljson.Unmarshal(data, &content))
	return content
}

func appService() *unstructured.Unstructured {
	resource := &unstructured.Unstructured{}
	resource.SetGroupVersionKind(v1.GroupVersion.WithKind(v1.Kind))
	resource.SetName("web")
	return resource
}

func of(t testing.TB, patch string) (*Patch, error) {
	t.Helper()
	return Of(appService(), map[string]any{"podTemplate": parse(t, patch)})
}

// workload is an object whose pods are as the template says.
func workload(t testing.TB, kind, template string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": kind,
		"metadata": map[string]any{"name": "web"},
		"spec":     map[string]any{"template": parse(t, template)},
	}}
	return object
}

func templateOf(t testing.TB, object *unstructured.Unstructured) any {
	t.Helper()
	template, _, err := unstructured.NestedFieldNoCopy(object.Object, "spec", "template")
	require.NoError(t, err)
	return template
}

func asJSON(t testing.TB, value any) string {
	t.Helper()
	data, err := json.MarshalIndent(value, "", " ")
	require.NoError(t, err)
	return string(data)
}

const pods = `
metadata: {labels: {app.kubernetes.io/name: appservice, team: a}}
spec:
  serviceAccountName: default
  terminationGracePeriodSeconds: 30
  tolerations: [{key: old, operator: Exists}]
  nodeSelector: {disk: ssd}
  containers:
  - name: app
    image: nginx
    env: [{name: A, value: "1"}, {name: B, value: "2"}]
    ports: [{name: http, containerPort: 80, protocol: TCP}]
    volumeMounts: [{name: data, mountPath: /data}]
    resources: {limits: {cpu: "1"}}
  volumes:
  - {name: data, emptyDir: {}}
`

func TestAPatchIsMerged(t *testing.T) {
	cases := map[string]struct {
		patch string
		// replace are pairs of what the pods have and what they have instead.
		replace []string
		sets    string
	}{
		"a field of the pod": {
			"{spec: {shareProcessNamespace: true, runtimeClassName: gvisor}}",
			[]string{"  serviceAccountName", "  shareProcessNamespace: true\n  runtimeClassName: gvisor\n  serviceAccountName"},
			"spec.runtimeClassName, spec.shareProcessNamespace",
		},
		"another value of a field": {
			"{spec: {terminationGracePeriodSeconds: 5}}", []string{"Seconds: 30", "Seconds: 5"}, "spec.terminationGracePeriodSeconds",
		},
		"labels and annotations": {
			"{metadata: {labels: {team: b, tier: web}, annotations: {note: text}}}",
			[]string{"team: a}", "team: b, tier: web}, annotations: {note: text}"},
			"metadata.annotations.note, metadata.labels.team, metadata.labels.tier",
		},
		"a container by its name": {
			"{spec: {containers: [{name: app, tty: true, env: [{name: B, value: \"3\"}]}]}}",
			[]string{`{name: A, value: "1"}, {name: B, value: "2"}`, `{name: A, value: "1"}, {name: B, value: "3"}`, "image: nginx", "image: nginx\n    tty: true"},
			"spec.containers[app].env[B].value, spec.containers[app].tty",
		},
		"a port by its number": {
			"{spec: {containers: [{name: app, ports: [{containerPort: 80, hostIP: 192.0.2.1}]}]}}",
			[]string{"protocol: TCP", "protocol: TCP, hostIP: 192.0.2.1"},
			"spec.containers[app].ports[80].hostIP",
		},
		"another container": {
			"{spec: {containers: [{name: spy, image: busybox}]}}",
			[]string{"  volumes:", "  - {name: spy, image: busybox}\n  volumes:"}, "spec.containers[spy].image",
		},
		"another container, before the main one": {
			"{spec: {containers: [{name: spy, image: busybox}, {name: spy2, image: busybox}, {name: app, tty: true}]}}",
			[]string{"image: nginx", "image: nginx\n    tty: true", "  volumes:", "  - {name: spy, image: busybox}\n  - {name: spy2, image: busybox}\n  volumes:"},
			"spec.containers[spy].image, spec.containers[spy2].image, spec.containers[app].tty",
		},
		"a list that has no key": {
			"{spec: {tolerations: [{key: new, operator: Exists, tolerationSeconds: 60}]}}",
			[]string{"{key: old, operator: Exists}", "{key: new, operator: Exists, tolerationSeconds: 60}"}, "spec.tolerations",
		},
		"a field that goes": {
			"{spec: {nodeSelector: null, tolerations: null, schedulerName: null}}",
			[]string{"  nodeSelector: {disk: ssd}\n", "", "  tolerations: [{key: old, operator: Exists}]\n", ""},
			"spec.nodeSelector, spec.schedulerName, spec.tolerations",
		},
		"a key of a map that goes": {
			"{spec: {nodeSelector: {disk: null, zone: a}}}", []string{"{disk: ssd}", "{zone: a}"}, "spec.nodeSelector.disk, spec.nodeSelector.zone",
		},
		"an entry that goes": {
			"{spec: {containers: [{name: app, env: [{name: A, $patch: delete}, {name: none, $patch: delete}]}]}}",
			[]string{`{name: A, value: "1"}, `, ""}, "spec.containers[app].env[A], spec.containers[app].env[none]",
		},
		"all entries that are not listed go": {
			"{spec: {containers: [{name: app, env: [{$patch: replace}, {name: C, value: c}]}]}}",
			[]string{`{name: A, value: "1"}, {name: B, value: "2"}`, "{name: C, value: c}"}, "spec.containers[app].env[C].value",
		},
		"another kind of volume under a name": {
			"{spec: {volumes: [{name: data, emptyDir: null, configMap: {name: web}}]}}",
			[]string{"{name: data, emptyDir: {}}", "{name: data, configMap: {name: web}}"},
			"spec.volumes[data].configMap.name, spec.volumes[data].emptyDir",
		},
		"an empty map": {"{spec: {securityContext: {}}}", []string{"  serviceAccountName", "  securityContext: {}\n  serviceAccountName"}, "spec.securityContext"},
		"the policy that they have": {
			"{spec: {restartPolicy: Always}}", []string{"  serviceAccountName", "  restartPolicy: Always\n  serviceAccountName"}, "spec.restartPolicy",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			patch, err := of(t, tc.patch)
			require.NoError(t, err)
			object := workload(t, "Deployment", pods)
			require.NoError(t, patch.Apply([]*unstructured.Unstructured{object}))
			want := parse(t, strings.NewReplacer(tc.replace...).Replace(pods))
			assert.Equal(t, any(want), templateOf(t, object))
			if got := object.GetAnnotations()[v1.AnnotationPatched]; got != tc.sets {
				t.Errorf("the annotation says %q, want %q", got, tc.sets)
			}
			again := workload(t, "Deployment", pods)
			if err := patch.Apply([]*unstructured.Unstructured{again}); err != nil || !reflect.DeepEqual(again, object) {
				t.Errorf("a second time, it becomes %s, error %v", asJSON(t, again.Object), err)
			}
		})
	}
}

func TestWhatAPatchMayNotHold(t *testing.T) {
	spec := func(text string) string { return "{spec: {" + text + "}}" }
	app := func(text string) string { return "{spec: {containers: [{name: app, " + text + "}]}}" }
	cases := map[string]struct{ patch, want string }{
		"an unknown field":                      {spec("runtimeClasName: a"), "spec.podTemplate.spec.runtimeClasName: there is no such field: did you mean runtimeClassName?"},
		"an unknown field of a container":       {app("imagee: a"), "spec.podTemplate.spec.containers[0].imagee: there is no such field: did you mean image?"},
		"a field in other letters":              {spec("hostnetwork: true"), "spec.podTemplate.spec.hostnetwork: there is no such field: did you mean hostNetwork?"},
		"a quantity of a billion digits":        {app(`resources: {limits: {cpu: "1e-999999999"}}`), "spec.podTemplate.spec.containers[0].resources.limits.cpu: not a quantity: the exponent has more than two digits"},
		"a field of a Deployment":               {"{replicas: 3}", "spec.podTemplate.replicas: there is no such field"},
		"a text for a number":                   {spec("terminationGracePeriodSeconds: '5'"), "spec.podTemplate.spec.terminationGracePeriodSeconds: must be a whole number, not a text: take the quotes away"},
		"a map for a list":                      {spec("containers: {name: app}"), "spec.podTemplate.spec.containers: must be a list, not a map"},
		"a text for the spec":                   {"{spec: none}", "spec.podTemplate.spec: must be a map, not a text"},
		"no spec":                               {"{spec: null}", "spec.podTemplate.spec: must not be null: pods require it"},
		"a name":                                {"{metadata: {name: a}}", "spec.podTemplate.metadata.name: not allowed: a patch sets labels and annotations only"},
		"finalizers":                            {"{metadata: {finalizers: [a]}}", "spec.podTemplate.metadata.finalizers: not allowed"},
		"an owner":                              {"{metadata: {ownerReferences: [{uid: a, name: b, kind: c, apiVersion: d}]}}", "spec.podTemplate.metadata.ownerReferences: not allowed"},
		"no labels":                             {"{metadata: {labels: null}}", "spec.podTemplate.metadata.labels: must not be null"},
		"a label of the selector":               {"{metadata: {labels: {app.kubernetes.io/instance: other}}}", "spec.podTemplate.metadata.labels.app.kubernetes.io/instance: reserved, because the pods are selected by it: leave it out"},
		"a label of the selector that goes":     {"{metadata: {labels: {app.kubernetes.io/name: null}}}", "spec.podTemplate.metadata.labels.app.kubernetes.io/name: reserved, because the pods are selected by it"},
		"a label of the operator's":             {"{metadata: {labels: {app.example.com/managed: 'true'}}}", "spec.podTemplate.metadata.labels.app.example.com/managed: the prefix belongs to the operator or Helm: use another"},
		"a label of a ReplicaSet's":             {"{metadata: {labels: {pod-template-hash: a}}}", "spec.podTemplate.metadata.labels.pod-template-hash: Kubernetes or its controllers set it or act on it: leave it out"},
		"a label of a StatefulSet's":            {"{metadata: {labels: {statefulset.kubernetes.io/pod-name: a}}}", "spec.podTemplate.metadata.labels.statefulset.kubernetes.io/pod-name: Kubernetes or its controllers set it"},
		"an annotation of the operator's":       {"{metadata: {annotations: {app.example.com/config-checksum: null}}}", "spec.podTemplate.metadata.annotations.app.example.com/config-checksum: the prefix belongs to the operator or Helm"},
		"an annotation of Helm's":               {"{metadata: {annotations: {helm.sh/hook: a}}}", "spec.podTemplate.metadata.annotations.helm.sh/hook: the prefix belongs to the operator or Helm"},
		"another restart policy":                {spec("restartPolicy: Never"), "spec.podTemplate.spec.restartPolicy: fixed, because pods of a service are always restarted: leave it out"},
		"an old name of a field":                {spec("serviceAccount: a"), "spec.podTemplate.spec.serviceAccount: an old name that Kubernetes replaces: set spec.serviceAccount.name"},
		"an end of the pods":                    {spec("activeDeadlineSeconds: 5"), "spec.podTemplate.spec.activeDeadlineSeconds: the pods of a service run until they are replaced"},
		"containers to debug with":              {spec("ephemeralContainers: [{name: a}]"), "spec.podTemplate.spec.ephemeralContainers: only kubectl debug adds them"},
		"no containers":                         {spec("containers: null"), "spec.podTemplate.spec.containers: must not be null: that would remove the container app"},
		"the main container removed":            {app("$patch: delete"), "spec.podTemplate.spec.containers[0].$patch: the container app is the application, and cannot be removed"},
		"the main container replaced away":      {spec("containers: [{$patch: replace}, {name: other, image: a}]"), "spec.podTemplate.spec.containers[0].$patch: removes the container app, which is the application: list it, too"},
		"an init container of that name":        {spec("initContainers: [{name: app, image: a}]"), "spec.podTemplate.spec.initContainers[0].name: must not be app: that is the application"},
		"an entry without its name":             {spec("containers: [{image: a}]"), "spec.podTemplate.spec.containers[0].name: required: the entries are merged by it"},
		"an entry with an empty name":           {app("env: [{name: '', value: a}]"), "spec.podTemplate.spec.containers[0].env[0].name: required: the entries are merged by it"},
		"an entry twice":                        {app("env: [{name: A, value: a}, {name: A, value: b}]"), "spec.podTemplate.spec.containers[0].env[1].name: another entry of the patch has the same, and merging would keep one of them: leave one out"},
		"an entry that is null":                 {app("env: [null]"), "spec.podTemplate.spec.containers[0].env[0]: must not be null"},
		"an entry that is null, of other lists": {spec("tolerations: [null]"), "spec.podTemplate.spec.tolerations[0]: must not be null"},
		"a directive that there is none of":     {app("env: [{name: A, $patch: remove}]"), "spec.podTemplate.spec.containers[0].env[0].$patch: must be delete or replace"},
		"a directive that is not a string":      {app("env: [{name: A, $patch: {}}]"), "spec.podTemplate.spec.containers[0].env[0].$patch: must be delete or replace"},
		"a directive in a map":                  {spec("securityContext: {$patch: replace, runAsUser: 1}"), "spec.podTemplate.spec.securityContext.$patch: allowed only in entries of lists that are merged by a key"},
		"a directive for programs":              {spec("$setElementOrder/containers: [{name: app}]"), "spec.podTemplate.spec.$setElementOrder/containers: allowed only in entries of lists"},
		"a directive in a list without keys":    {spec("tolerations: [{key: a, $patch: delete}]"), "spec.podTemplate.spec.tolerations[0].$patch: allowed only in entries of lists that are merged by a key"},
		"a replacement that says more":          {app("env: [{name: A, value: b, $patch: replace}]"), "spec.podTemplate.spec.containers[0].env[0].$patch: an entry with it stands alone"},
		"a deletion that says more":             {app("env: [{name: A, value: b, $patch: delete}]"), "spec.podTemplate.spec.containers[0].env[0].$patch: an entry that is deleted has only name next to it"},
		"a quantity that is none":               {app("resources: {limits: {cpu: much}}"), "spec.podTemplate.spec.containers[0].resources.limits.cpu: not a valid quantity"},
		"a field of two lines":                  {spec(`"host\nname": a`), "spec.podTemplate.spec.host name: there is no such field"},
		"too many entries":                      {spec("tolerations: [" + strings.Repeat("{key: a}, ", maxEntries) + "{key: b}]"), "spec.podTemplate.spec.tolerations: has 257 entries, at most 256 are allowed"},
		"what is too large":                     {"{metadata: {annotations: {a: " + strings.Repeat("x", MaxSize) + "}}}", fmt.Sprintf("spec.podTemplate: takes %d bytes as JSON, at most 32768 are allowed", MaxSize+len(`{"metadata":{"annotations":{"a":""}}}`))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			patch, err := of(t, tc.patch)
			require.Error(t, err, "it was taken: %v", patch)
			if !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
		})
	}
}

func TestTheSizeOfAPatch(t *testing.T) {
	room := MaxSize - len(`{"metadata":{"annotations":{"a":""}}}`)
	if _, err := of(t, "{metadata: {annotations: {a: "+strings.Repeat("x", room)+"}}}"); err != nil {
		t.Error(err)
	}
}

func TestWhichObjectsAPatchIsFor(t *testing.T) {
	patch, err := of(t, "{spec: {hostname: a}}")
	require.NoError(t, err)
	const other = "{spec: {containers: [{name: other, image: a}]}}"
	objects := []*unstructured.Unstructured{
		workload(t, "Deployment", pods), workload(t, "StatefulSet", pods), workload(t, "Deployment", other), workload(t, "Service", pods),
		workload(t, "Deployment", "{spec: {containers: [{name: app, imagee: a}]}}"), // for others to refuse
	}
	require.NoError(t, patch.Apply(objects))
	for i, want := range []bool{true, true, false, false, false} {
		hostname, _, _ := unstructured.NestedString(objects[i].Object, "spec", "template", "spec", "hostname")
		if got := hostname == "a"; got != want {
			t.Errorf("object %d, a %s: patched is %v, want %v", i, objects[i].GetKind(), got, want)
		}
	}
	err = patch.Apply(objects[2:])
	if want := "spec.podTemplate: the chart renders no pods with the container app, for which it is"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

// Of other kinds, spec belongs to the chart.
func TestOtherKindsHaveNoPatch(t *testing.T) {
	for name, values := range map[string]map[string]any{
		"another kind":  {"podTemplate": map[string]any{"any": "thing"}},
		"no patch":      {},
		"an empty one":  {"podTemplate": map[string]any{}},
		"one of a null": {"podTemplate": nil},
	} {
		t.Run(name, func(t *testing.T) {
			resource := appService()
			if name == "another kind" {
				resource.SetGroupVersionKind(v1.GroupVersion.WithKind("Other"))
			}
			patch, err := Of(resource, values)
			if patch != nil || err != nil {
				t.Errorf("got %v, error %v", patch, err)
			}
			assert.NoError(t, patch.Apply([]*unstructured.Unstructured{{}}))
		})
	}
}

func TestTheAnnotationHasRoomForTheFirstFields(t *testing.T) {
	patch := &Patch{}
	for i := range 100 {
		patch.sets = append(patch.sets, fmt.Sprintf("spec.%020d", i))
	}
	got := patch.shown()
	if len(got) > maxShown+100 || !strings.HasPrefix(got, "spec.00000000000000000000, spec.00000000000000000001, ") || !strings.HasSuffix(got, " and 62 more") {
		t.Errorf("got %d bytes: %s", len(got), got)
	}
}
