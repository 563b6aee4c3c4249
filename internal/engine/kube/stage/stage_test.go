package stage

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
)

func annotated(annotations map[string]string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	object.SetAnnotations(annotations)
	return object
}

func TestTheStageOfAnObject(t *testing.T) {
	for value, test := range map[string]struct {
		want  Stage
		valid bool
	}{
		"before": {Before, true}, "main": {Main, true}, "after": {After, true}, "early": {Early, true},
		"": {Main, false}, "Before": {Main, false}, "pre-upgrade": {Main, false}, "befor": {Main, false},
	} {
		object := annotated(map[string]string{v1.AnnotationStage: value})
		if got := Of(object); got != test.want {
			t.Errorf("%q: got %s, want %s", value, got, test.want)
		}
		if err := Check(object); (err == nil) != test.valid {
			t.Errorf("%q: got the error %v", value, err)
		}
		if err := CheckName(value); (err == nil) != test.valid {
			t.Errorf("%q: got the error %v of the name", value, err)
		}
	}
	for _, annotations := range []map[string]string{nil, {"other": "before"}} {
		if object := annotated(annotations); Of(object) != Main || Check(object) != nil {
			t.Errorf("%v: got %s, %v", annotations, Of(object), Check(object))
		}
	}
}

func TestAnUnknownStageIsRefusedWithItsRemedy(t *testing.T) {
	err := Check(annotated(map[string]string{v1.AnnotationStage: "pre-upgrade"}))
	for _, part := range []string{v1.AnnotationStage, `"pre-upgrade"`, "write before, main or after"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not say %s", err, part)
		}
	}
}

func TestTheStageInPlaceOfHelmHooks(t *testing.T) {
	for list, want := range map[string]Stage{
		"pre-install": Before, "pre-upgrade": Before, "pre-install,pre-upgrade": Before, "pre-upgrade, pre-install": Before,
		"post-install": After, "post-upgrade,post-install": After,
		"pre-install,post-upgrade": "", "pre-install,test": "", "test": "", "pre-delete": "", "pre-rollback": "", "": "", ",": "",
	} {
		if got := OfHook(list); got != want {
			t.Errorf("%q: got %q, want %q", list, got, want)
		}
	}
}

func TestWhatAStageMakes(t *testing.T) {
	for name, test := range map[string]struct {
		stage, makes string
		want         []string
		valid        bool
	}{
		"one object":             {"before", "Secret/a", []string{"Secret/a"}, true},
		"several objects":        {"before", "Secret/a, ConfigMap/b", []string{"Secret/a", "ConfigMap/b"}, true},
		"in the stage main":      {"main", "Secret/a", nil, false},
		"in no stage":            {"", "Secret/a", nil, false},
		"a name without a kind":  {"before", "a", []string{"a"}, false},
		"a kind without a name":  {"before", "Secret/", []string{"Secret/"}, false},
		"nothing":                {"before", "", []string{""}, false},
		"a comma too many":       {"before", "Secret/a,", []string{"Secret/a", ""}, false},
		"a name without a slash": {"before", "Secret a", []string{"Secret a"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			annotations := map[string]string{v1.AnnotationStage: test.stage, v1.AnnotationMakes: test.makes}
			if test.stage == "" {
				delete(annotations, v1.AnnotationStage)
			}
			object := annotated(annotations)
			if got := Makes(object); !slices.Equal(got, test.want) {
				t.Errorf("it makes %q", got)
			}
			if err := Check(object); (err == nil) != test.valid {
				t.Errorf("got %v", err)
			}
		})
	}
}
