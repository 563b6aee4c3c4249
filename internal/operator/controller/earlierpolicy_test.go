package controller

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator/policy"
)

// keepsNode is an annotation that earlier versions of the policy allowed.
const keepsNode = "cluster-autoscaler.kubernetes.io/safe-to-evict"

// under puts a policy to use: all are looked at again.
func (w *world) under(text string) {
	w.t.Helper()
	rules, err := policy.Read("policy.yaml", []byte(text))
	require.NoError(w.t, err)
	w.facts.known = policy.FactsOf("demo", nil, rules)
	w.all()
	w.run()
}

// keepingNodes is a world under the policy open, with two resources. The first has the annotation.
func keepingNodes(t *testing.T) *world {
	t.Helper()
	w := newWorldOf(t, 2)
	renderer := rendererOf("one", "")
	file := renderer.Chart.Templates[0]
	file.Data = []byte(strings.Replace(string(file.Data), "template:\n    metadata: {", "template:\n    metadata: {annotations: {{ toJson .Values.podAnnotations }}, ", 1))
	w.load(renderer)
	w.under("builtIn: open")
	w.edit(0, func(spec *v1.AppServiceSpec) { spec.PodAnnotations = map[string]v1.Annotation{keepsNode: "false"} })
	w.run()
	require.Equal(t, 2, w.count(ready))
	w.restart()
	w.under("builtIn: shared")
	return w
}

func TestWhatTheRecordedReleaseHasGoesOn(t *testing.T) {
	w := keepingNodes(t)
	before := w.app(0).Status.Release.Revision
	goesOn := func() {
		t.Helper()
		app := w.app(0)
		assert.True(t, meta.IsStatusConditionTrue(app.Status.Conditions, v1.ConditionReady), "%+v", app.Status.Conditions)
		if assert.Len(t, app.Status.Problems, 1) {
			problem := app.Status.Problems[0]
			assert.Equal(t, v1.ProblemWarning, problem.Type)
			assert.Equal(t, v1.ReasonPolicyViolation, problem.Reason)
			assert.Contains(t, problem.Message, "annotation "+keepsNode)
			assert.Contains(t, problem.Hint, "{names: [demo], annotations: {Pod: [+, "+keepsNode+"]}}")
		}
	}
	goesOn()
	assert.Equal(t, before, w.app(0).Status.Release.Revision, "nothing is written")
	w.edit(0, func(spec *v1.AppServiceSpec) { spec.Image = "nginx:2" })
	w.run()
	goesOn()
	assert.Equal(t, "nginx:2", w.image())
	w.restart()
	w.all()
	w.run()
	goesOn()
	w.under("namespaces: [{names: [demo], annotations: {Pod: [\"+\", " + keepsNode + "]}}]")
	assert.Empty(t, w.app(0).Status.Problems, "the platform allows it")
}

func TestWhatIsNewIsRefused(t *testing.T) {
	for name, edit := range map[string]func(w *world) (resource int){
		"for another resource": func(w *world) int {
			w.edit(1, func(spec *v1.AppServiceSpec) { spec.PodAnnotations = map[string]v1.Annotation{keepsNode: "false"} })
			return 1
		},
		"with another value": func(w *world) int {
			w.edit(0, func(spec *v1.AppServiceSpec) { spec.PodAnnotations[keepsNode] = "no" })
			return 0
		},
		"once it was gone": func(w *world) int {
			w.edit(0, func(spec *v1.AppServiceSpec) { spec.PodAnnotations = nil })
			w.run()
			w.edit(0, func(spec *v1.AppServiceSpec) { spec.PodAnnotations = map[string]v1.Annotation{keepsNode: "false"} })
			return 0
		},
		"beside it": func(w *world) int {
			w.edit(0, func(spec *v1.AppServiceSpec) { spec.PodAnnotations["karpenter.sh/do-not-disrupt"] = "true" })
			return 0
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := keepingNodes(t)
			resource := edit(w)
			w.run()
			condition := meta.FindStatusCondition(w.app(resource).Status.Conditions, v1.ConditionReady)
			assert.Equal(t, metav1.ConditionFalse, condition.Status)
			assert.Equal(t, v1.ReasonPolicyViolation, condition.Reason)
			assert.Equal(t, name != "beside it", strings.Contains(condition.Message, keepsNode), condition.Message)
		})
	}
}

func TestAReturnIsToWhatEarlierVersionsAllowed(t *testing.T) {
	w := keepingNodes(t)
	w.edit(0, func(spec *v1.AppServiceSpec) {
		spec.OnFailure = &v1.OnFailure{Action: v1.OnFailureReturn}
		spec.PodAnnotations = nil
	})
	w.run()
	w.under("builtIn: open")
	w.edit(0, func(spec *v1.AppServiceSpec) { spec.PodAnnotations = map[string]v1.Annotation{keepsNode: "false"} })
	w.run()
	w.under("builtIn: shared")
	w.sick = func(d appsv1.DeploymentSpec) bool { return d.Template.Spec.Containers[0].Image == "bad" }
	w.edit(0, func(spec *v1.AppServiceSpec) { spec.PodAnnotations, spec.Image = nil, "bad" })
	w.run()
	w.isReturned()
}
