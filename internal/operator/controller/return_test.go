package controller

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/operator/policy"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
)

// returning is a world in which the only resource requests a return, and was Ready, and pods with the image "bad" never
// become ready.
func returning(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.sick = func(d appsv1.DeploymentSpec) bool {
		return strings.HasSuffix(d.Template.Spec.Containers[0].Image, "bad")
	}
	w.edit(0, func(spec *v1.AppServiceSpec) { spec.OnFailure = &v1.OnFailure{Action: v1.OnFailureReturn} })
	w.run()
	w.events()
	return w
}

// fail sets an image of the first resource with which it fails.
func (w *world) fail() {
	w.edit(0, func(spec *v1.AppServiceSpec) { spec.Image = "bad" })
	w.run()
}

// image returns the image that the first resource runs.
func (w *world) image() string {
	w.t.Helper()
	deployment := &appsv1.Deployment{}
	require.NoError(w.t, w.Get(w.t.Context(), types.NamespacedName{Namespace: "demo", Name: nameOf(0)}, deployment))
	return deployment.Spec.Template.Spec.Containers[0].Image
}

// records returns the labels of the release records of the first resource, by revision.
func (w *world) records() map[string]map[string]string {
	w.t.Helper()
	found := map[string]map[string]string{}
	list := &corev1.SecretList{}
	require.NoError(w.t, w.List(w.t.Context(), list, client.MatchingLabels{"owner": "helm", "name": nameOf(0)}))
	for i := range list.Items {
		found[list.Items[i].Labels["version"]] = list.Items[i].Labels
	}
	return found
}

// readyCondition returns the condition Ready of the first resource.
func (w *world) readyCondition() *metav1.Condition {
	w.t.Helper()
	return meta.FindStatusCondition(w.app(0).Status.Conditions, v1.ConditionReady)
}

// isReturned fails the test unless the first resource has returned.
func (w *world) isReturned() {
	w.t.Helper()
	app := w.app(0)
	if image := w.image(); image != "nginx" {
		w.t.Errorf("it runs %s: %+v", image, w.readyCondition())
	}
	for kind, want := range map[string]metav1.ConditionStatus{
		v1.ConditionReady: metav1.ConditionFalse, v1.ConditionStalled: metav1.ConditionTrue, v1.ConditionDeployed: metav1.ConditionFalse,
	} {
		got := meta.FindStatusCondition(app.Status.Conditions, kind)
		if got.Status != want || got.Reason != v1.ReasonReturnedToRelease || got.ObservedGeneration != app.Generation {
			w.t.Errorf("got the condition %+v", got)
		}
	}
}

func TestAFailedReleaseIsAnsweredOnce(t *testing.T) {
	w := returning(t)
	w.fail()
	w.isReturned()
	if app := w.app(0); app.Spec.Image != "bad" || app.Status.ObservedGeneration != app.Generation || app.Status.Release.Revision != 3 {
		t.Errorf("got the image %s and the status %+v", app.Spec.Image, app.Status)
	}
	ready := w.readyCondition()
	for _, part := range []string{"progress deadline", "release 2 failed, release 1 runs again"} {
		if !strings.Contains(ready.Message, part) {
			t.Errorf("the message lacks %q: %s", part, ready.Message)
		}
	}
	if problem := w.app(0).Status.Problems[0]; problem.Reason != v1.ReasonReturnedToRelease || !strings.Contains(problem.Hint, "correct the spec") {
		t.Errorf("got the problem %+v", problem)
	}
	if events := w.warnings(); len(events) != 1 || !strings.HasPrefix(events[0], "Warning "+v1.ReasonReturnedToRelease) {
		t.Errorf("got the warnings %q, want one", events)
	}
	w.restart()
	w.pass()
	w.isReturned()
	if app := w.app(0); app.Status.Release.Revision != 3 || len(w.warnings()) > 0 {
		t.Errorf("it went on to release %d", app.Status.Release.Revision)
	}
	if got := w.records(); len(got) != 1 || got["3"][v1.LabelReady] != "true" || got["3"][v1.LabelReturnedFrom] == "" {
		t.Errorf("got the records %v", got)
	}
}

func TestWhatEndsAReturn(t *testing.T) {
	cases := map[string]struct {
		try   func(w *world)
		image string
		ready bool
		again bool // another release, and another return
	}{
		"a spec that works": {func(w *world) { w.edit(0, func(s *v1.AppServiceSpec) { s.Image = "nginx:2" }) }, "nginx:2", true, false},
		"the former spec":   {func(w *world) { w.edit(0, func(s *v1.AppServiceSpec) { s.Image = "nginx" }) }, "nginx", true, false},
		"another that fails": {func(w *world) {
			w.edit(0, func(s *v1.AppServiceSpec) { s.Envs = []corev1.EnvVar{{Name: "A", Value: "b"}} })
		}, "nginx", false, true},
		"a request":       {func(w *world) { w.request("now") }, "nginx", false, true},
		"no wish for one": {func(w *world) { w.edit(0, func(s *v1.AppServiceSpec) { s.OnFailure = nil }) }, "bad", false, false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			w := returning(t)
			w.fail()
			revision := w.app(0).Status.Release.Revision
			w.events()
			test.try(w)
			w.run()
			if image := w.image(); image != test.image || ready(w.app(0)) != test.ready {
				t.Errorf("it runs %s: %+v", image, w.readyCondition())
			}
			if again := w.app(0).Status.Release.Revision == revision+2 && len(w.warnings()) == 1; again != test.again {
				t.Errorf("it returned again: %t, release %d", again, w.app(0).Status.Release.Revision)
			}
			if test.again {
				w.isReturned()
			}
		})
	}
}

// The newest release that was Ready runs again, whatever the action was when it was, and whatever was refused since.
func TestTheNewestReadyReleaseRunsAgain(t *testing.T) {
	keeps := func(spec *v1.AppServiceSpec) { spec.OnFailure = nil }
	for name, test := range map[string]struct {
		before func(w *world)
		image  string
	}{
		"the action was another one then": {func(w *world) {
			w.edit(0, keeps)
			w.run()
			for _, image := range []string{"nginx:2", "nginx:3"} {
				w.edit(0, func(spec *v1.AppServiceSpec) { spec.Image = image })
				w.run()
			}
		}, "nginx:3"},
		"a spec was refused since": {func(w *world) {
			w.edit(0, keeps)
			w.run()
			w.edit(0, func(spec *v1.AppServiceSpec) { spec.Image = "nginx:2" })
			w.run()
			w.edit(0, func(spec *v1.AppServiceSpec) { spec.PriorityClassName = "unfit" })
			w.run()
			w.restart()
			w.edit(0, func(spec *v1.AppServiceSpec) { spec.PriorityClassName = "" })
		}, "nginx:2"},
		"releases failed and were kept": {func(w *world) {
			w.edit(0, keeps)
			w.fail()
			w.edit(0, func(spec *v1.AppServiceSpec) { spec.Envs = []corev1.EnvVar{{Name: "A", Value: "b"}} })
			w.run()
		}, "nginx"},
	} {
		t.Run(name, func(t *testing.T) {
			w := returning(t)
			w.load(rendererOf("two", `{{ if eq (.Values.priorityClassName | default "") "unfit" }}{{ fail "no more" }}{{ end }}`))
			w.run()
			test.before(w)
			w.edit(0, func(spec *v1.AppServiceSpec) {
				spec.Image, spec.OnFailure = "registry/bad", &v1.OnFailure{Action: v1.OnFailureReturn}
			})
			w.run()
			if image := w.image(); image != test.image || w.readyCondition().Reason != v1.ReasonReturnedToRelease {
				t.Errorf("it runs %s, want %s: %+v", image, test.image, w.readyCondition())
			}
		})
	}
}

// A release that failed is not tried again in another size: an autoscaler of the resource would do that at each step.
func TestAnotherSizeTriesNothingAgain(t *testing.T) {
	w := returning(t)
	w.fail()
	w.edit(0, func(spec *v1.AppServiceSpec) { spec.Size = ptr.To(int32(3)) })
	w.run()
	if revision := w.app(0).Status.Release.Revision; revision != 3 {
		t.Errorf("it is release %d", revision)
	}
	if image := w.image(); image != "nginx" || w.readyCondition().Reason != v1.ReasonReturnedToRelease {
		t.Errorf("it runs %s: %+v", image, w.readyCondition())
	}
}

// request asks to restart the first resource.
func (w *world) request(value string) {
	w.t.Helper()
	app := w.app(0)
	app.Annotations = map[string]string{v1.AnnotationRestartedAt: value}
	require.NoError(w.t, w.Update(w.t.Context(), app))
	w.all()
}

// Only another spec, or a request, tries again: not another life of the operator, a chart that is not at fault, nor
// defaults.
func TestWhatEndsNoReturn(t *testing.T) {
	for name, test := range map[string]func(w *world){
		"a new chart":  func(w *world) { w.load(rendererOf("two", "")) },
		"new defaults": func(w *world) { w.says("{priorityClassName: high}") },
	} {
		t.Run(name, func(t *testing.T) {
			w := returning(t)
			w.fail()
			test(w)
			w.pass()
			w.isReturned()
			if revision := w.app(0).Status.Release.Revision; revision != 3 {
				t.Errorf("it is release %d", revision)
			}
		})
	}
}

// The operator is killed at each write between the failure and the end: another one ends the same.
func TestAReturnSurvivesTheEndOfTheOperatorAtEachWrite(t *testing.T) {
	for writes := 1; ; writes++ {
		w := returning(t)
		w.edit(0, func(spec *v1.AppServiceSpec) { spec.Image = "bad" })
		w.writes = writes
		w.run()
		died := w.writes < 0
		w.restart()
		w.run()
		w.isReturned()
		if revision := w.app(0).Status.Release.Revision; revision != 3 {
			t.Errorf("killed at write %d: it is release %d", writes, revision)
		}
		if !died {
			if writes < 6 {
				t.Errorf("it took only %d writes", writes)
			}
			return
		}
	}
}

// Manual changes after the return are repaired.
func TestWhatReturnedIsRepaired(t *testing.T) {
	w := returning(t)
	w.fail()
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: nameOf(0)}}
	require.NoError(t, w.Delete(t.Context(), deployment))
	w.restart() // whoever wrote it believes that it is there
	w.run()
	w.isReturned()
	if events := strings.Join(w.events(), "\n"); !strings.Contains(events, v1.ReasonDriftCorrected) {
		t.Errorf("got the events %q", events)
	}
}

func TestADamagedRecordHasNoNumbers(t *testing.T) {
	w := returning(t)
	w.fail()
	for _, secret := range w.secretsOf() {
		secret.Data["release"] = []byte("damaged")
		require.NoError(t, w.Update(t.Context(), &secret))
	}
	w.restart()
	w.pass()
	said := ""
	for _, condition := range w.app(0).Status.Conditions {
		said += condition.Message + "\n"
	}
	for _, problem := range w.app(0).Status.Problems {
		said += problem.Message + "\n"
	}
	assert.NotContains(t, said, "release 0")
	assert.NotContains(t, said, "in addition", "it is the same")
	assert.Contains(t, said, "damaged")
}

func TestWhatKeepsAReleaseThatFailed(t *testing.T) {
	cases := map[string]struct {
		before func(w *world)
		says   string
	}{
		"no wish": {func(w *world) { w.edit(0, func(s *v1.AppServiceSpec) { s.OnFailure = nil }) }, ""},
		"none was ready": {func(w *world) {
			app := w.app(0)
			meta.RemoveStatusCondition(&app.Status.Conditions, v1.ConditionReady)
			require.NoError(w.t, w.Status().Update(w.t.Context(), app))
		}, "the failed release is kept: no release that was Ready is recorded"},
		"its record is damaged": {func(w *world) {
			for _, secret := range w.secretsOf() {
				secret.Data["release"] = []byte("damaged")
				require.NoError(w.t, w.Update(w.t.Context(), &secret))
			}
		}, "the failed release is kept: "},
		"the policy of today": {func(w *world) {
			w.edit(0, func(s *v1.AppServiceSpec) { s.Image = "registry.example.com/bad" })
			rules, err := policy.Read("policy.yaml", []byte("builtIn: open\ndefault: {registries: [registry.example.com]}\n"))
			require.NoError(w.t, err)
			w.facts.known = policy.FactsOf("demo", nil, rules)
		}, "the failed release is kept: "},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			w := returning(t)
			w.edit(0, func(spec *v1.AppServiceSpec) { spec.Image = "bad" })
			test.before(w)
			w.run()
			if image := w.image(); !strings.HasSuffix(image, "bad") {
				t.Errorf("it runs %s", image)
			}
			got := w.readyCondition()
			if got.Reason != v1.ReasonRolloutStalled || !strings.Contains(got.Message, test.says) || test.says == "" && strings.Contains(got.Message, "kept") {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func (w *world) secretsOf() []corev1.Secret {
	list := &corev1.SecretList{}
	require.NoError(w.t, w.List(w.t.Context(), list, client.MatchingLabels{"owner": "helm", "name": nameOf(0)}))
	return list.Items
}

// A chart with which a resource fails is taken back, and counts as failed; the next chart comes to it in turn.
func TestAChartThatFailsIsTakenBack(t *testing.T) {
	w := newWorld(t)
	for i := range many {
		w.edit(i, func(spec *v1.AppServiceSpec) { spec.OnFailure = &v1.OnFailure{Action: v1.OnFailureReturn} })
	}
	w.run()
	w.events()
	w.sick = func(d appsv1.DeploymentSpec) bool { return d.Template.Spec.Containers[0].Env[0].Value == "two" }
	w.load(rendererOf("two", ""))
	w.run()
	w.expect(map[string]int{"one": many - 10, "two": 10}, many-10, many-10) // their own deadline is none of the line's
	w.pass()
	w.expect(map[string]int{"one": many}, many, many)
	if w.progress.Failed < 4 {
		t.Errorf("got %+v: none counts as failed", w.progress)
	}
	warnings := strings.Join(w.warnings(), "\n")
	if got := strings.Count(warnings, v1.ReasonReturnedToRelease); got != w.progress.Failed {
		t.Errorf("%d returned, and %d count as failed: %s", got, w.progress.Failed, warnings)
	}
	w.restart()
	w.run()
	w.expect(map[string]int{"one": many}, many, many)
	if again := w.warnings(); len(again) > 0 {
		t.Errorf("after a restart: %q", again)
	}
	w.load(rendererOf("three", ""))
	w.run()
	w.expect(map[string]int{"three": many}, many, 0)
}

// Asking for it costs no request until a release fails.
func TestWhoAsksToReturnMakesTheSameRequests(t *testing.T) {
	const unlimited = 1_000
	cost := func(w *world) int {
		w.writes = unlimited
		w.edit(0, func(spec *v1.AppServiceSpec) { spec.Image = "nginx:2" })
		w.run()
		return unlimited - w.writes
	}
	plain := cost(newWorldOf(t, 1))
	if asking := cost(returning(t)); asking != plain {
		t.Errorf("who asks makes %d writes, who does not %d", asking, plain)
	}
	if plain != 5 {
		t.Errorf("an image takes %d writes", plain)
	}
}

func TestCausesThatLeadBack(t *testing.T) {
	deployment := kube.Key{GroupKind: schema.GroupKind{Group: "apps", Kind: "Deployment"}, Name: "web"}
	ingress := kube.Key{GroupKind: schema.GroupKind{Group: "networking.k8s.io", Kind: "Ingress"}, Name: "web"}
	of := func(effect diagnose.Effect, reasons ...string) (list []diagnose.Cause) {
		for _, reason := range reasons {
			list = append(list, diagnose.Cause{Reason: reason, Effect: effect})
		}
		return list
	}
	cases := map[string]struct {
		causes map[kube.Key][]diagnose.Cause
		want   bool
	}{
		"none that is known": {nil, true},
		"of the release":     {map[kube.Key][]diagnose.Cause{deployment: of(diagnose.Lasting, v1.ReasonImageNotFound, v1.ReasonOutOfMemory)}, true},
		"one of nodes too":   {map[kube.Key][]diagnose.Cause{deployment: of(diagnose.Passing, v1.ReasonImageNotFound, v1.ReasonUnschedulable)}, false},
		"a registry":         {map[kube.Key][]diagnose.Cause{deployment: of(diagnose.Lasting, v1.ReasonImagePullUnauthorized)}, false},
		"advice":             {map[kube.Key][]diagnose.Cause{deployment: of(diagnose.Advice, v1.ReasonUnschedulable)}, true},
		"of an Ingress":      {map[kube.Key][]diagnose.Cause{ingress: of(diagnose.Lasting, v1.ReasonCertificateMissing)}, true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if got := ofRelease(test.causes); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

// A Secret that is rotated restarts the running pods, before and after a return, and is no new try.
func TestARotatedSecretRestartsWhatReturned(t *testing.T) {
	for name, between := range map[string]bool{"after the return": false, "before it": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorldOf(t, 1)
			w.rotate("first")
			w.sick = func(d appsv1.DeploymentSpec) bool { return d.Template.Spec.Containers[0].Image == "bad" }
			w.edit(0, func(spec *v1.AppServiceSpec) { spec.OnFailure = &v1.OnFailure{Action: v1.OnFailureReturn} })
			w.run()
			w.edit(0, func(spec *v1.AppServiceSpec) { spec.Image = "bad" })
			if !between {
				w.run()
				w.isReturned()
			}
			w.rotate("second")
			w.pass()
			w.isReturned()
			if _, values := w.templates(postrender.AnnotationReferences); len(values) != 1 {
				t.Errorf("not all have the second content: %v", values)
			}
			failed := 0
			for _, event := range w.warnings() {
				failed += strings.Count(event, v1.ReasonReturnedToRelease)
			}
			if failed != 1 {
				t.Errorf("%d returned, want one", failed)
			}
		})
	}
}

// A release that fails for what it takes, and for nothing that it changed, has no earlier one to return to.
func TestARotatedSecretIsNotTakenBack(t *testing.T) {
	w := newWorldOf(t, 1)
	w.rotate("first")
	w.edit(0, func(spec *v1.AppServiceSpec) { spec.OnFailure = &v1.OnFailure{Action: v1.OnFailureReturn} })
	w.run()
	w.stuck = func(name string) bool { return name == nameOf(0) }
	w.rotate("second")
	if got := w.readyCondition(); got.Reason != v1.ReasonRolloutStalled || !strings.Contains(got.Message, "differs only in what restarts pods") {
		t.Errorf("got %+v", got)
	}
}

// A size that brings a PodDisruptionBudget is no other release; anything else is.
func TestWhatIsNoOtherRelease(t *testing.T) {
	object := func(kind, spec string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"kind": kind, "metadata": map[string]any{"name": "web"}, "spec": spec}}
	}
	web, budget := object("Deployment", "a"), object("PodDisruptionBudget", "a")
	for name, test := range map[string]struct {
		other []*unstructured.Unstructured
		same  bool
	}{
		"the same":                     {[]*unstructured.Unstructured{web.DeepCopy()}, true},
		"a budget more":                {[]*unstructured.Unstructured{budget, web}, true},
		"a field":                      {[]*unstructured.Unstructured{object("Deployment", "b")}, false},
		"an object more":               {[]*unstructured.Unstructured{web, object("NetworkPolicy", "a")}, false},
		"an object less, and a budget": {[]*unstructured.Unstructured{budget}, false},
	} {
		assert.Equal(t, test.same, sameApartFromBudgets([]*unstructured.Unstructured{web}, test.other), name)
		assert.Equal(t, test.same, sameApartFromBudgets(test.other, []*unstructured.Unstructured{web}), name)
	}
}

// The causes for which a release fails that was Ready came later.
func TestAReleaseThatWasReadyDoesNotFailByItself(t *testing.T) {
	stalled := &v1.AppServiceStatus{Conditions: []metav1.Condition{
		{Type: v1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1.ReasonRolloutStalled},
		{Type: v1.ConditionStalled, Status: metav1.ConditionTrue},
	}}
	wanted := rendering{rendered: &rendered{}}
	isTrue := []metav1.Condition{{Type: v1.ConditionReady, Status: metav1.ConditionTrue}}
	for name, test := range map[string]struct {
		record   livestate.Record
		previous v1.AppServiceStatus
		want     bool
	}{
		"never":                         {livestate.Record{Revision: 2}, v1.AppServiceStatus{Release: &v1.ReleaseStatus{Revision: 2}}, true},
		"until now":                     {livestate.Record{Revision: 2}, v1.AppServiceStatus{Release: &v1.ReleaseStatus{Revision: 2}, Conditions: isTrue}, false},
		"before":                        {livestate.Record{Revision: 2}, v1.AppServiceStatus{Release: &v1.ReleaseStatus{Revision: 2, WasReady: true}}, false},
		"the release before was":        {livestate.Record{Revision: 2}, v1.AppServiceStatus{Release: &v1.ReleaseStatus{Revision: 1}, Conditions: isTrue}, true},
		"without replicas":              {livestate.Record{Revision: 2}, v1.AppServiceStatus{Release: &v1.ReleaseStatus{Revision: 2}, Conditions: []metav1.Condition{{Type: v1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1.ReasonScaledToZero}}}, true},
		"its record says so":            {livestate.Record{Revision: 2, Ready: true}, v1.AppServiceStatus{}, false},
		"nothing is known of a release": {livestate.Record{Revision: 2}, v1.AppServiceStatus{Conditions: isTrue}, true},
	} {
		s := &scope{previous: &test.previous}
		done := attempt{observed: &livestate.Snapshot{Record: &test.record}}
		if got := s.failsByItself(wanted, done, stalled, nil); got != test.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
