package tree

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
)

// withoutPods is someone who may read anything except pods.
type withoutPods struct{ client.Reader }

func (r withoutPods) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, pods := list.(*corev1.PodList); pods {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", nil)
	}
	return r.Reader.List(ctx, list, options...)
}

func TestWithoutARightTheOperatorsWordIsToldOnce(t *testing.T) {
	w := recorded(t, "crash-panic")
	found := w.look(t, w.said(t), func(c client.Client) client.Reader { return withoutPods{c} })
	text := printed(t, Why(found), w.at)
	inOrder(t, text, "Ready=False", "Deployment web", "ContainerCrashed: ", "hint: ", "not read: pods of Deployment web: you lack the right to read pods in namespace")
	if n := strings.Count(text, "ContainerCrashed: "); n != 2 { // the condition, and the cause
		t.Errorf("it is said %d times:\n%s", n, text)
	}
}

func TestWhatIsHeldBack(t *testing.T) {
	at := func(after time.Duration) *metav1.Time {
		return &metav1.Time{Time: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).Add(after)}
	}
	for name, test := range map[string]struct {
		change func(*world, *v1.AppServiceStatus)
		want   []string
	}{
		"an attempt": {
			func(_ *world, s *v1.AppServiceStatus) { s.NextAttemptTime = at(40 * time.Second) },
			[]string{"held back", "the next attempt", "(2026-11-21T12:00:40Z, in 40s)"},
		},
		"all, since it is paused": {
			func(w *world, _ *v1.AppServiceStatus) { w.app.Object["spec"].(map[string]any)["paused"] = true },
			[]string{"held back", "spec.paused is set", "hint: kubectl appservice resume web"},
		},
		"a new chart": {
			func(_ *world, s *v1.AppServiceStatus) {
				s.Problems = append(s.Problems, v1.Problem{Type: v1.ProblemWarning, Reason: v1.ReasonRolloutHeldBack, Message: "3 resources are before it", Hint: "wait"})
			},
			[]string{"held back", "a new chart, operator or defaults  3 resources are before it", "hint: wait"},
		},
		"a route": {
			func(_ *world, s *v1.AppServiceStatus) {
				s.Conditions[0].Status, s.Conditions[0].Reason = metav1.ConditionFalse, v1.ReasonHostConflict
				s.Problems = append(s.Problems, v1.Problem{Type: v1.ProblemError, Reason: v1.ReasonHostConflict, Message: "Ingress other/web serves it", Hint: "take another host"})
			},
			[]string{"HostConflict: Ingress other/web serves it", "hint: take another host", "held back", "until the host is free"},
		},
		"its end": {
			func(_ *world, s *v1.AppServiceStatus) { s.ExpirationTime = at(2 * time.Hour) },
			[]string{"held back", "deletion", "in 120m"},
		},
		"its deletion": {
			func(w *world, _ *v1.AppServiceStatus) {
				w.app.SetDeletionTimestamp(at(-time.Minute))
				w.app.SetFinalizers([]string{"example.com/backup"})
			},
			[]string{"held back", "deletion", "example.com/backup", "60s ago"},
		},
		"a rollout that somebody paused": {
			func(w *world, s *v1.AppServiceStatus) {
				w.deployment.Object["spec"].(map[string]any)["paused"] = true
				s.Resources[0].State, s.Resources[0].Message = v1.ResourceWaiting, "0 of 1 replicas are up to date"
			},
			[]string{"held back", "Deployment web  spec.paused of the object is set"},
		},
		"nothing": {func(*world, *v1.AppServiceStatus) {}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := recorded(t, "well")
			said := w.said(t)
			w.at = at(0).Time
			test.change(w, said)
			text := printed(t, Why(w.look(t, said, nil)), w.at)
			inOrder(t, text, test.want...)
			if len(test.want) == 0 && strings.Contains(text, "held back") {
				t.Errorf("something is held back:\n%s", text)
			}
		})
	}
}

func TestWhereValuesComeFrom(t *testing.T) {
	w := recorded(t, "well")
	said := w.said(t)
	w.app.Object["spec"] = map[string]any{"resources": map[string]any{"limits": map[string]any{"memory": "64Mi"}}, "size": int64(2)}
	said.Defaults = []v1.DefaultsStatus{
		{Source: "ConfigMap appservice-defaults", Fields: []string{"resources.requests", "tolerations"}},
		{Source: "defaultValues of watches.yaml", Fields: []string{"security.profile"}},
	}
	said.Problems = []v1.Problem{{Type: v1.ProblemWarning, Reason: "X", Message: "spec.size, spec.resources and spec.strategy.type are odd", Hint: "raise spec.resources.limits.memory, or spec.progressDeadlineSeconds."}}
	w.others = append(w.others, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.app.GetNamespace(), Name: "appservice-defaults"},
		Data:       map[string]string{"appservice.yaml": "resources: {requests: {cpu: 10m}}"},
	})
	found := w.look(t, said, nil)
	found.Resource.SetManagedFields([]metav1.ManagedFieldsEntry{
		{Manager: "argocd", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:resources":{"f:limits":{"f:memory":{}}}}}`)},
		{Manager: "kubectl-scale", Subresource: "scale", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:size":{}}}`)},
	})
	found.Chart = map[string]any{"strategy": map[string]any{"type": "RollingUpdate"}}
	inOrder(t, printed(t, Why(found), w.at),
		"worth knowing", "X: ", "where values come from",
		"spec.progressDeadlineSeconds  not set: the chart decides",
		`spec.resources  {"limits":{"memory":"64Mi"}}  spec, set by argocd; parts of it are from ConfigMap appservice-defaults`,
		`spec.resources.limits.memory  "64Mi"  spec, set by argocd`,
		`spec.resources.requests  {"cpu":"10m"}  ConfigMap appservice-defaults`,
		"spec.security.profile  defaultValues of watches.yaml",
		"spec.size  2  spec\n",
		`spec.strategy.type  "RollingUpdate"  values.yaml of the chart`,
		"spec.tolerations  ConfigMap appservice-defaults",
	)
}

func TestAStatusOfAnEarlierSpecSaysSo(t *testing.T) {
	w := recorded(t, "well")
	said := w.said(t)
	w.app.SetGeneration(4)
	found := w.look(t, said, nil)
	inOrder(t, printed(t, Why(found), w.at), "the operator has not processed generation 4 of the spec yet; everything else is about generation 3", "hint: ")
	if Well(found) {
		t.Error("it counts as well")
	}
}

func TestSomebodyElsesObjectIsNotTaken(t *testing.T) {
	w := recorded(t, "crash-panic")
	said := w.said(t)
	w.deployment.SetOwnerReferences(nil)
	text := printed(t, Why(w.look(t, said, nil)), w.at)
	if strings.Contains(text, "Pod web-") {
		t.Errorf("pods of somebody else's Deployment are there:\n%s", text)
	}
	inOrder(t, text, "Deployment web", "ContainerCrashed: ")
}
