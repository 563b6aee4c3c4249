package history

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/release"
)

func TestWhenEachReleaseWasAndSinceWhenItsSpecIs(t *testing.T) {
	superseded, deployed := helmrelease.StatusSuperseded, helmrelease.StatusDeployed
	list := listed(t, secret(t, made{1, superseded, "1.0.0", 1, "argocd", "a"}), secret(t, made{2, deployed, "1.1.0", 1, "argocd", "a"}))
	if len(list) != 2 {
		t.Fatalf("got %+v", list)
	}
	for i, r := range list {
		if want := noon.Add(time.Duration(i+1) * time.Hour); !r.Released.Equal(want) || r.Description != "Upgrade complete" {
			t.Errorf("release %d was at %s, want %s; it says %q", r.Revision, r.Released, want, r.Description)
		}
	}
	if !list[0].ChangedAt.Equal(noon) || !list[1].ChangedAt.Equal(list[1].Released) {
		t.Errorf("they were asked for at %s, when the spec was changed, and at %s, when the chart was", list[0].ChangedAt, list[1].ChangedAt)
	}
}

func object(kind, name, image string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"image": image}}}
	o.SetAPIVersion("v1")
	o.SetKind(kind)
	o.SetName(name)
	return o
}

func TestWhatAReleaseChangedOfObjects(t *testing.T) {
	of := func(objects ...*unstructured.Unstructured) *Revision {
		return &Revision{recorded: &release.Recorded{Objects: objects, Release: &helmrelease.Release{}}}
	}
	before := of(object("Service", "gone", "a"), object("Pod", "same", "a"), object("Pod", "other", "a"))
	after := of(object("Service", "new", "a"), object("Pod", "other", "b"), object("Pod", "same", "a"))
	want := []string{"Service gone is no longer there", "Service new is new", "Pod other: spec.image a → b"}
	if got := ObjectChanges(before, after); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := ObjectChanges(&Revision{}, after); got != nil {
		t.Errorf("of one that cannot be read: %q", got)
	}
	// They are reported if neither spec nor chart is another one, and only then.
	before.Spec, after.Spec = map[string]any{"size": int64(1)}, map[string]any{"size": int64(1)}
	if after.compare(before); !slices.Equal(after.Changes, want) {
		t.Errorf("of the same spec: %q", after.Changes)
	}
	after.Spec = map[string]any{"size": int64(2)}
	if after.compare(before); !slices.Equal(after.Changes, []string{"spec.size 1 → 2"}) {
		t.Errorf("of another spec: %q", after.Changes)
	}
}

func TestUndoLeavesOutWhatHasNoSpecAndRefusesThatOfAnotherKind(t *testing.T) {
	superseded, deployed := helmrelease.StatusSuperseded, helmrelease.StatusDeployed
	list := listed(t, secret(t, made{1, superseded, "1.0.0", 1, "x", "a"}), secret(t, made{2, superseded, "1.0.0", 0, "", "b"}), secret(t, made{3, deployed, "1.0.0", 3, "x", "c"}))
	if plan, err := PlanUndo(reporting(app("c"), 3), list, 0); err != nil || plan.To != 1 {
		t.Errorf("got %+v, %v", plan, err)
	}
	for _, change := range []func(*unstructured.Unstructured){
		func(o *unstructured.Unstructured) { o.SetKind("Other") },
		func(o *unstructured.Unstructured) { o.SetAPIVersion("app.example.com/v2") },
	} {
		resource := app("c")
		change(resource)
		if _, err := PlanUndo(resource, list, 1); err == nil || !strings.Contains(err.Error(), "revision 1 was made of a spec of app.example.com/v1 AppService, which is not "+resource.GetAPIVersion()+" "+resource.GetKind()) {
			t.Errorf("of a %s %s: %v", resource.GetAPIVersion(), resource.GetKind(), err)
		}
	}
}

// A field that the kind has no longer is refused rather than dropped.
func TestUndoIsStrictAboutFields(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, v1.AddToScheme(scheme))
	var sent client.PatchOptions
	server := fake.NewClientBuilder().WithScheme(scheme).WithObjects(app("b")).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			sent.ApplyOptions(options)
			return c.Patch(ctx, object, patch, options...)
		},
	}).Build()
	resource := app("")
	require.NoError(t, server.Get(t.Context(), client.ObjectKeyFromObject(resource), resource))
	require.NoError(t, (&Undo{Resource: resource}).Write(t.Context(), server, "kubectl-appservice", false))
	if sent.FieldValidation != "Strict" || sent.FieldManager != "kubectl-appservice" || len(sent.DryRun) > 0 {
		t.Errorf("it is sent with %+v", sent)
	}
}

// Labels and annotations of tools are not part of a source; those that people wrote are.
func TestASourceHasWhatPeopleWrote(t *testing.T) {
	resource := app("a")
	resource.SetLabels(map[string]string{"team": "shop", "kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"})
	resource.SetAnnotations(map[string]string{"note": "ours", "kubectl.kubernetes.io/last-applied-configuration": "{}"})
	source := SourceOf(resource)
	if labels, annotations := source.GetLabels(), source.GetAnnotations(); len(labels) != 1 || labels["team"] != "shop" || len(annotations) != 1 || annotations["note"] != "ours" {
		t.Errorf("got the labels %v and annotations %v", labels, annotations)
	}
	if len(resource.GetLabels()) != 3 {
		t.Error("the resource lost labels")
	}
}
