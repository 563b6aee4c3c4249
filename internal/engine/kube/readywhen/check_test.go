package readywhen

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
)

func TestAWrongAnnotationIsRefusedWithItsPlace(t *testing.T) {
	const end = "; correct it in the template"
	cases := map[string]struct {
		annotations map[string]any
		want        string
	}{
		"none":                        {nil, ""},
		"others":                      {map[string]any{"a": "self."}, ""},
		"a bool":                      {map[string]any{v1.AnnotationReadyWhen: `self.status.phase == "Bound"`}, ""},
		"true":                        {map[string]any{v1.AnnotationReadyWhen: `true`}, ""},
		"what is known when it is":    {map[string]any{v1.AnnotationReadyWhen: `self.status.ready`, v1.AnnotationReadyMessage: `self.status.message`}, ""},
		"a message":                   {map[string]any{v1.AnnotationReadyWhen: `false`, v1.AnnotationReadyMessage: `"phase " + self.status.phase`}, ""},
		"a text instead of a bool":    {map[string]any{v1.AnnotationReadyWhen: `"true"`}, `annotation app.example.com/ready-when, "true": returns a string, but must return a bool`},
		"a number instead of a bool":  {map[string]any{v1.AnnotationReadyWhen: `1 + 1`}, `annotation app.example.com/ready-when, 1 + 1: returns an int, but must return a bool`},
		"a bool instead of a message": {map[string]any{v1.AnnotationReadyWhen: `true`, v1.AnnotationReadyMessage: `self.a == "b"`}, `annotation app.example.com/ready-message, self.a == "b": returns a bool, but must return a string`},
		"words without quotes":        {map[string]any{v1.AnnotationReadyWhen: `true`, v1.AnnotationReadyMessage: `waiting for it`}, `annotation app.example.com/ready-message, waiting for it: column 9: Syntax error: mismatched input 'for' expecting <EOF>`},
		"one sign too few":            {map[string]any{v1.AnnotationReadyWhen: `self.a = 1`}, `annotation app.example.com/ready-when, self.a = 1: column 8: Syntax error: token recognition error at: '= '`},
		"types that do not fit":       {map[string]any{v1.AnnotationReadyWhen: `1 > "a"`}, `annotation app.example.com/ready-when, 1 > "a": column 3: found no matching overload for '_>_' applied to '(int, string)'`},
		"what always fails":           {map[string]any{v1.AnnotationReadyWhen: `int("x") == 1`}, `annotation app.example.com/ready-when, int("x") == 1: type conversion error from 'string' to 'int'`},
		"nothing":                     {map[string]any{v1.AnnotationReadyWhen: " "}, `annotation app.example.com/ready-when, "": empty: leave the annotation out`},
		"true without quotes":         {map[string]any{v1.AnnotationReadyWhen: true}, `annotation app.example.com/ready-when, true: not a string: quote it`},
		"a message alone":             {map[string]any{v1.AnnotationReadyMessage: `"a"`}, `annotation app.example.com/ready-message, "a": has no effect without annotation app.example.com/ready-when`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			object := &unstructured.Unstructured{Object: map[string]any{"kind": "Database", "metadata": map[string]any{"name": "db"}}}
			if tc.annotations != nil {
				object.Object["metadata"].(map[string]any)["annotations"] = tc.annotations
			}
			err := Check(object)
			if tc.want == "" {
				assert.NoError(t, err)
				return
			}
			var wrong *CheckError
			if want := `Database "db": ` + tc.want + end; !errors.As(err, &wrong) || err.Error() != want {
				t.Errorf("got %v\nwant %s", err, want)
			}
		})
	}
}
