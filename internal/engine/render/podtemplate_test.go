package render

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/postrender"
)

// Additions of a patch count like fields of the spec: for what pods refer to, for their security and for what operator and API server fill in.
func TestWhatAPatchAddsIsSeenByAllThatComesAfter(t *testing.T) {
	renderer := shipped(t)
	resource := appService(t, `{image: a, envs: [{name: GONE, valueFrom: {secretKeyRef: {name: gone, key: a}}}], podTemplate: {spec: {
		containers: [
			{name: app, env: [{name: GONE, $patch: delete}], envFrom: [{configMapRef: {name: settings}}]},
			{name: spy, image: "b:1", ports: [{containerPort: 9}], resources: {limits: {cpu: 1000m}}}],
		volumes: [{name: a, secret: {secretName: tokens}}]}}}`)
	draft, err := renderer.Draft(t.Context(), Input{Resource: resource, Capabilities: chartutil.DefaultCapabilities})
	require.NoError(t, err)
	var names []string
	for _, ref := range draft.References {
		names = append(names, ref.String())
	}
	if want := []string{`ConfigMap "settings"`, `Secret "tokens"`}; !slices.Equal(names, want) {
		t.Errorf("the pods refer to %v, want %v", names, want)
	}
	result, err := renderer.Finish(t.Context(), draft, postrender.Facts{Enforced: postrender.Restricted, States: map[reference.Object]reference.State{}})
	require.NoError(t, err)
	template := reference.PodTemplate(find(t, result, "Deployment", "web"))
	containers, _, _ := unstructured.NestedSlice(template, "spec", "containers")
	want := parsedObject(t, `{spy: {name: spy, image: "b:1", imagePullPolicy: IfNotPresent, ports: [{containerPort: 9}], resources: {limits: {cpu: "1"}},
		securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}}`).Object["spy"]
	if len(containers) != 2 || !reflect.DeepEqual(containers[1], want) {
		t.Errorf("got containers %v\nwant the second to be %v", containers, want)
	}
	if checksum, _, _ := unstructured.NestedString(template, "metadata", "annotations", postrender.AnnotationReferences); checksum == "" {
		t.Error("the pods would not roll when the Secret of the patch changes")
	}
}

func TestAPatchIsRefusedByItsField(t *testing.T) {
	cases := map[string]struct{ patch, want string }{
		"an unknown field":       {"{spec: {hostname: a, hostnam: b}}", "spec.podTemplate.spec.hostnam: there is no such field: did you mean hostname?"},
		"a host path":            {"{spec: {volumes: [{name: a, hostPath: {path: /}}]}}", "violate the Pod Security Standard"},
		"a privileged container": {"{spec: {containers: [{name: app, securityContext: {privileged: true}}]}}", "violate the Pod Security Standard"},
		"another namespace":      {"{spec: {hostNetwork: true}}", "violate the Pod Security Standard"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := shipped(t).Render(t.Context(), appService(t, "{image: a, podTemplate: "+tc.patch+"}"), everyKind)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got error %v, want %q in it", err, tc.want)
			}
			var reasoned interface{ Reason() string }
			if !errors.As(err, &reasoned) {
				t.Errorf("got an error without a reason: %v", err)
			}
		})
	}
	renderer := of(map[string]string{"a.yaml": service})
	renderer.Translator = shipped(t).Translator
	_, err := renderer.Render(t.Context(), appService(t, "{image: a, podTemplate: {spec: {hostname: b}}}"), everyKind)
	var invalid *InvalidSpecError
	if !errors.As(err, &invalid) || invalid.Reason() != v1.ReasonInvalidSpec {
		t.Errorf("a chart without pods: got error %v", err)
	}
}
