package stage

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
)

func TestStagesOfObjects(t *testing.T) {
	for named, want := range map[string]Stage{"before": Before, "early": Early, "main": Main, "after": After, "": Main, "befor": Main, "Before": Main} {
		object := &unstructured.Unstructured{}
		object.SetAnnotations(map[string]string{v1.AnnotationStage: named})
		valid := named == string(want)
		if got := Of(object); got != want || (Check(object) == nil) != valid || (CheckName(named) == nil) != valid {
			t.Errorf("%q is %s: %v", named, got, Check(object))
		}
	}
	if object := (&unstructured.Unstructured{}); Of(object) != Main || Check(object) != nil {
		t.Error("an object without the annotation has no stage")
	}
}

func TestStagesInPlaceOfHooks(t *testing.T) {
	for hooks, want := range map[string]Stage{
		"pre-install": Before, "pre-install,pre-upgrade": Before, "pre-upgrade, pre-install": Before,
		"post-install": After, "post-install,post-upgrade": After,
		"pre-install,post-install": "", "pre-delete": "", "pre-upgrade,pre-rollback": "", "test": "", "": "",
	} {
		if got := OfHook(hooks); got != want {
			t.Errorf("%q: %q, want %q", hooks, got, want)
		}
	}
}
