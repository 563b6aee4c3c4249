package stage

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
)

func TestWhichNamesAreStages(t *testing.T) {
	for named, want := range map[string]Stage{"before": Before, "early": Early, "main": Main, "after": After, "": Main, "befor": Main, "Before": Main} {
		object := &unstructured.Unstructured{}
		object.SetAnnotations(map[string]string{v1.AnnotationStage: named})
		valid := named == string(want)
		if got := Of(object); got != want || (Check(object) == nil) != valid || (CheckName(named) == nil) != valid {
			t.Errorf("%q is %s: %v", named, got, Check(object))
		}
	}
}
