package plugin

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

func TestWhatTheAPIServerRefusesIsExplained(t *testing.T) {
	jobs := schema.GroupResource{Group: "app.example.com", Resource: "appjobs"}
	name := resourceName{schema.GroupVersionKind{Group: jobs.Group, Version: "v1", Kind: "AppJob"}, types.NamespacedName{Namespace: "shop", Name: "migrate"}}
	for what, test := range map[string]struct {
		err   error
		words []string
	}{
		"a right that is missing": {
			apierrors.NewForbidden(jobs, "migrate", errors.New("no")),
			[]string{"cannot change appjob/migrate: ", `the role "edit" of the namespace has that right`},
		},
		"a field that the kind has no longer": {
			apierrors.NewBadRequest(`strict decoding error: unknown field "spec.former"`),
			[]string{`cannot change appjob/migrate: its kind has no field "spec.former", so it cannot be set`},
		},
		"all else": {errors.New("out of order"), []string{"cannot change appjob/migrate: out of order"}},
	} {
		t.Run(what, func(t *testing.T) {
			got := explainRefusal(name, test.err)
			for _, words := range test.words {
				if !strings.Contains(got.Error(), words) {
					t.Errorf("got %q, which lacks %q", got, words)
				}
			}
		})
	}
}

// The error names a command that works for AppJob, a kind of the operator with spec.suspend.
func TestPauseOfAnotherKindIsRefusedWithARemedy(t *testing.T) {
	kind := schema.GroupVersionKind{Group: "app.example.com", Version: "v1", Kind: "AppJob"}
	name := resourceName{kind, types.NamespacedName{Namespace: "shop", Name: "migrate"}}
	got := change{verb: "pause", suspend: "true", done: "paused"}.refusal(name).Error()
	for _, words := range []string{
		"cannot pause appjob/migrate: ", "kubectl explain appjob.spec lists",
		`is paused by kubectl patch appjob migrate --namespace=shop --type=merge --patch='{"spec":{"suspend":true}}'`,
	} {
		if !strings.Contains(got, words) {
			t.Errorf("got %q, which lacks %q", got, words)
		}
	}
}
