package postrender

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
)

// The pods of a kind that is not built in are changed only if an object names the field of its pod template.
func TestAnObjectThatNamesItsPodTemplateIsTreatedAsADeployment(t *testing.T) {
	const takes = "{containers: [{name: app, image: x, envFrom: [{secretRef: {name: theirs}}]}]}"
	object := func(annotations, spec string) *unstructured.Unstructured {
		return parse(t, "{apiVersion: apps.example.com/v1, kind: Fleet, metadata: {name: web, annotations: {app.example.com/reload-on-change: 'true', "+
			annotations+"}}, spec: "+spec+"}")
	}
	owner := &unstructured.Unstructured{Object: map[string]any{}}
	owner.SetAnnotations(map[string]string{v1.AnnotationRestartedAt: "now"})
	for name, test := range map[string]struct {
		object *unstructured.Unstructured
		at     []string // of its pod template
		as     bool     // a Deployment
		wrong  string
	}{
		"it names the field":             {object(v1.AnnotationPodTemplate+": spec.template", "{template: {spec: "+takes+"}}"), []string{"spec", "template"}, true, ""},
		"it names another one":           {object(v1.AnnotationPodTemplate+": spec.leader.pods", "{leader: {pods: {spec: "+takes+"}}}"), []string{"spec", "leader", "pods"}, true, ""},
		"it names none":                  {object("a: b", "{template: {spec: "+takes+"}}"), []string{"spec", "template"}, false, ""},
		"it names one that is not there": {object(v1.AnnotationPodTemplate+": spec.pods", "{template: {spec: "+takes+"}}"), nil, false, "spec.pods, where no pod template"},
		"it names one without pods":      {object(v1.AnnotationPodTemplate+": spec.template", "{template: {spec: {}}}"), nil, false, "spec.template, where no pod template"},
	} {
		t.Run(name, func(t *testing.T) {
			objects := []*unstructured.Unstructured{test.object}
			in := &Input{Owner: owner, Facts: Facts{Enforced: Restricted, Content: "v7"}, References: reference.Of(objects)}
			require.Equal(t, test.as, len(in.References) > 0 && test.wrong == "")
			err := Run(t.Context(), []Hook{Canonical, PullPolicy, Restart, Reload, PodSecurity}, in, objects)
			switch {
			case test.wrong != "":
				require.ErrorContains(t, err, test.wrong)
				return
			case !test.as:
				require.ErrorContains(t, err, "runAsNonRoot")
			default:
				require.NoError(t, err)
			}
			template, _, _ := unstructured.NestedMap(test.object.Object, test.at...)
			annotations, _, _ := unstructured.NestedStringMap(template, "metadata", "annotations")
			require.Equal(t, test.as, annotations[AnnotationReferences] == "v7" && annotations[v1.AnnotationRestartedAt] == "now")
			containers, _, _ := unstructured.NestedSlice(template, "spec", "containers")
			require.Equal(t, test.as, containers[0].(map[string]any)["imagePullPolicy"] == "Always")
		})
	}
}

func TestABarePodIsHeldToTheLevel(t *testing.T) {
	pod := parse(t, "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {hostNetwork: true, containers: [{name: app, image: x}]}}")
	objects := []*unstructured.Unstructured{pod}
	err := PodSecurity(t.Context(), &Input{}, objects)
	require.ErrorContains(t, err, "host namespaces")
	in := &Input{Owner: &unstructured.Unstructured{}, Facts: Facts{Recorded: []*unstructured.Unstructured{pod.DeepCopy()}}}
	require.NoError(t, PodSecurity(t.Context(), in, objects))
	require.Len(t, in.Outdated.Violations, 1)
	require.False(t, strings.Contains(in.Outdated.Violations[0].Path, "template"), "a Pod has no template")
}

// An object that names another field hides no pods.
func TestATemplateBesideTheNamedOneIsChecked(t *testing.T) {
	decoy := parse(t, "{apiVersion: apps.example.com/v1, kind: Fleet, metadata: {name: web, annotations: {"+v1.AnnotationPodTemplate+": spec.a}}, spec: {"+
		"a: {spec: {containers: [{name: app, image: x}]}}, template: {spec: {hostNetwork: true, containers: [{name: app, image: x}]}}}}")
	require.ErrorContains(t, PodSecurity(t.Context(), &Input{}, []*unstructured.Unstructured{decoy}), "host namespaces")
}
