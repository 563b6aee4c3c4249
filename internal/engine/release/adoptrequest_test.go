package release

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/postrender"
)

func someones(kind, namespace string, annotations map[string]string, controller *metav1.OwnerReference) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetAPIVersion(map[string]string{"Secret": "v1", "Deployment": "apps/v1"}[kind])
	object.SetKind(kind)
	object.SetNamespace(namespace)
	object.SetName("web")
	object.SetAnnotations(annotations)
	if controller != nil {
		yes := true
		controller.Controller = &yes
		object.SetOwnerReferences([]metav1.OwnerReference{*controller})
	}
	return object
}

func TestWhatMayBeTakenOver(t *testing.T) {
	owner := someones("", "prod", nil, nil)
	helm := func(release, namespace string) map[string]string {
		return map[string]string{helmReleaseName: release, helmReleaseNamespace: namespace}
	}
	cases := map[string]struct {
		live    *unstructured.Unstructured
		release string
		refused string // a part of the refusal; empty for none
	}{
		"what nobody controls":                        {live: someones("Deployment", "prod", nil, nil)},
		"what a controller has":                       {live: someones("Deployment", "prod", nil, &metav1.OwnerReference{Kind: "Widget", Name: "w"}), refused: "controlled by Widget"},
		"what a controller has, of a release":         {live: someones("Deployment", "prod", helm("r", "prod"), &metav1.OwnerReference{Kind: "Widget", Name: "w"}), release: "r", refused: "controlled by Widget"},
		"what is of the release":                      {live: someones("Deployment", "prod", helm("r", "prod"), nil), release: "r"},
		"what is of a release that nobody names":      {live: someones("Deployment", "prod", helm("r", "prod"), nil), refused: v1.AnnotationAdoptRelease},
		"what is of another release":                  {live: someones("Deployment", "prod", helm("r", "prod"), nil), release: "other", refused: `names "other"`},
		"what is of a release of another namespace":   {live: someones("Deployment", "prod", helm("r", "test"), nil), release: "r", refused: `namespace "test"`},
		"what is in another namespace":                {live: someones("Deployment", "test", nil, nil), refused: "not managed"},
		"what nobody controls, of another kind":       {live: someones("Secret", "prod", nil, nil), refused: "not adopted"},
		"what is of the release, without a namespace": {live: someones("Deployment", "prod", map[string]string{helmReleaseName: "r"}, nil), release: "r", refused: `namespace ""`},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			err := (&Adoption{Release: test.release}).mayTake(owner, kube.KeyOf(test.live), test.live)
			if (err == nil) != (test.refused == "") || err != nil && !strings.Contains(err.Error(), test.refused) {
				t.Errorf("got %v, want %q", err, test.refused)
			}
		})
	}
}

func TestWhatWasLeftIsTakenBack(t *testing.T) {
	owner, asking := someones("", "prod", nil, nil), someones("", "prod", map[string]string{v1.AnnotationAdopt: "true"}, nil)
	ours := func(change func(map[string]string)) *unstructured.Unstructured {
		annotations := map[string]string{helmReleaseName: "web", helmReleaseNamespace: "prod", postrender.AnnotationStamp: "x"}
		change(annotations)
		object := someones("Deployment", "prod", annotations, nil)
		object.SetLabels(map[string]string{v1.LabelManaged: "true"})
		return object
	}
	same := func(map[string]string) {}
	controlled, unlabeled := ours(same), ours(same)
	yes := true
	controlled.SetOwnerReferences([]metav1.OwnerReference{{Kind: "Widget", Controller: &yes}})
	unlabeled.SetLabels(nil)
	cases := map[string]struct {
		live *unstructured.Unstructured
		want bool
	}{
		"with stamp, label and name":    {ours(same), true},
		"without the stamp":             {ours(func(a map[string]string) { delete(a, postrender.AnnotationStamp) }), false},
		"of another name":               {ours(func(a map[string]string) { a[helmReleaseName] = "other" }), false},
		"of another namespace":          {ours(func(a map[string]string) { a[helmReleaseNamespace] = "test" }), false},
		"without the label":             {unlabeled, false},
		"that somebody controls by now": {controlled, false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if got := left(asking, test.live); got != test.want {
				t.Errorf("got %t, want %t", got, test.want)
			}
			if left(owner, test.live) {
				t.Error("it is taken by an owner who does not ask for it")
			}
		})
	}
}
