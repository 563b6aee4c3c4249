package history

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1 "github.com/example/appservice-operator/api/v1"
)

// reporting returns a resource whose status reports a release.
func reporting(resource *unstructured.Unstructured, revision int64) *unstructured.Unstructured {
	resource.Object["status"] = map[string]any{"release": map[string]any{"revision": revision}}
	return resource
}

func TestWhatUndoGoesBackTo(t *testing.T) {
	superseded, deployed := helmrelease.StatusSuperseded, helmrelease.StatusDeployed
	list := listed(t, secret(t, made{1, superseded, "1.0.0", 0, "", "a"}), secret(t, made{2, superseded, "1.0.0", 2, "x", "b"}),
		secret(t, made{3, superseded, "1.0.0", 3, "x", "c"}), secret(t, made{4, deployed, "1.1.0", 3, "x", "c"}),
		secret(t, made{5, superseded, "1.1.0", 3, "x", "e"})) // the operator has not reported it
	cases := map[string]struct {
		image string // that the spec has now
		to    int
		want  int
		spec  string
		err   string
	}{
		"the release before, another chart is none": {"c", 0, 2, "b", ""},
		"a refused spec: what is deployed":          {"refused", 0, 4, "c", ""},
		"back from having gone back":                {"b", 0, 4, "c", ""},
		"a revision":                                {"c", 2, 2, "b", ""},
		"a revision of the same spec":               {"c", 3, 3, "c", ""},
		"a revision above the reported release":     {"c", 5, 5, "e", ""},
		"a revision that is not kept":               {"c", 7, 0, "", "revision 7 of web is not kept: there are 1, 2, 3, 4, 5"},
		"a revision of an earlier operator":         {"c", 1, 0, "", "revision 1 has no spec"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			resource := reporting(app(test.image), 4)
			got, err := PlanUndo(resource, list, test.to)
			if test.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), test.err) {
					t.Errorf("got %v, want %q", err, test.err)
				}
				return
			}
			require.NoError(t, err)
			image, _, _ := unstructured.NestedString(got.Resource.Object, "spec", "image")
			if got.To != test.want || image != test.spec || (len(got.Changes) == 0) != (test.image == test.spec) {
				t.Errorf("it goes back to revision %d with image %s and changes %v", got.To, image, got.Changes)
			}
			if now, _, _ := unstructured.NestedString(resource.Object, "spec", "image"); now != test.image {
				t.Error("the resource that was given is another one")
			}
		})
	}
	if _, err := PlanUndo(app("a"), nil, 0); err == nil || !strings.Contains(err.Error(), "nothing of web was released yet") {
		t.Errorf("without releases: %v", err)
	}
	if _, err := PlanUndo(reporting(app("c"), 4), list[2:4], 0); err == nil || !strings.Contains(err.Error(), "no earlier release of web with another spec is kept: there are 3, 4") {
		t.Errorf("without another spec: %v", err)
	}
}

func TestUndoWritesWhatWasReadOrNothing(t *testing.T) {
	list := listed(t, secret(t, made{1, helmrelease.StatusSuperseded, "1.0.0", 1, "x", "a"}), secret(t, made{2, helmrelease.StatusDeployed, "1.0.0", 2, "x", "b"}))
	scheme := runtime.NewScheme()
	require.NoError(t, v1.AddToScheme(scheme))
	server := fake.NewClientBuilder().WithScheme(scheme).WithObjects(reporting(app("b"), 2)).Build()
	read := func() *unstructured.Unstructured {
		t.Helper()
		resource := app("")
		require.NoError(t, server.Get(t.Context(), client.ObjectKeyFromObject(resource), resource))
		return resource
	}
	image := func() string {
		text, _, _ := unstructured.NestedString(read().Object, "spec", "image")
		return text
	}
	plan, err := PlanUndo(read(), list, 0)
	require.NoError(t, err)
	if err := plan.Write(t.Context(), server, "kubectl-appservice", true); err != nil || image() != "b" {
		t.Errorf("a dry run: %v, the image is %s", err, image())
	}
	touch := func(change func(*unstructured.Unstructured)) {
		t.Helper()
		resource := read()
		change(resource)
		require.NoError(t, server.Update(t.Context(), resource))
	}
	touch(func(resource *unstructured.Unstructured) { resource.SetGeneration(resource.GetGeneration() + 1) })
	if err := plan.Write(t.Context(), server, "kubectl-appservice", false); !errors.Is(err, ErrChanged) || image() != "b" {
		t.Errorf("of another spec: %v, the image is %s", err, image())
	}
	if plan, err = PlanUndo(read(), list, 0); err != nil {
		t.Fatal(err)
	}
	touch(func(resource *unstructured.Unstructured) { resource.SetLabels(map[string]string{"a": "b"}) })
	if err := plan.Write(t.Context(), server, "kubectl-appservice", false); err != nil || image() != "a" || read().GetLabels()["a"] != "b" {
		t.Errorf("of this spec: %v, the image is %s, the labels are %v", err, image(), read().GetLabels())
	}
}

func TestWhoOwnsAResource(t *testing.T) {
	cases := map[string]struct {
		labels, annotations map[string]string
		want                string
	}{
		"nobody":                          {nil, nil, ""},
		"other labels":                    {map[string]string{"app.kubernetes.io/instance": "web"}, nil, ""},
		"Argo CD by its annotation":       {nil, map[string]string{"argocd.argoproj.io/tracking-id": "shop:app.example.com/AppService:demo/web"}, `Argo CD application "shop"`},
		"Argo CD by its label":            {map[string]string{"argocd.argoproj.io/instance": "shop"}, nil, `Argo CD application "shop"`},
		"a Kustomization of Flux":         {map[string]string{"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}, nil, `Flux Kustomization "apps"`},
		"a HelmRelease of Flux":           {map[string]string{"helm.toolkit.fluxcd.io/name": "apps"}, nil, `Flux HelmRelease "apps"`},
		"an annotation that says nothing": {nil, map[string]string{"argocd.argoproj.io/tracking-id": ""}, ""},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			resource := app("a")
			resource.SetLabels(test.labels)
			resource.SetAnnotations(test.annotations)
			if got := OwnerOf(resource); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if test.want == "" {
				return
			}
			resource.SetResourceVersion("7")
			resource.SetLabels(map[string]string{"team": "shop"})
			source := SourceOf(resource)
			if source.GetResourceVersion() != "" || source.GetUID() != "" || len(source.GetAnnotations()) > 0 || len(source.GetLabels()) != 1 || source.GetName() != "web" {
				t.Errorf("its source is to say %v", source.Object)
			}
		})
	}
}
