package stage

import (
	"slices"
	"testing"

	v1 "github.com/example/appservice-operator/api/v1"
)

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
