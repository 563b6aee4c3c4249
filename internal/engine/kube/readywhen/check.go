package readywhen

import (
	"errors"
	"fmt"

	"github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
)

// CheckError reports that an annotation of a rendered object is invalid.
type CheckError struct {
	Kind, Name string
	Annotation string
	Expression string
	Err        error
}

func (e *CheckError) Error() string {
	return fmt.Sprintf("%s %q: annotation %s, %s: %v; correct it in the template", e.Kind, e.Name, e.Annotation,
		quote(e.Expression), e.Err)
}

// Unwrap returns the cause.
func (e *CheckError) Unwrap() error { return e.Err }

// Check returns a CheckError if the annotations of a rendered object cannot be evaluated.
func Check(object *unstructured.Unstructured) error {
	// Not by GetAnnotations, which returns none at all if one of them is not a string.
	content, _, _ := unstructured.NestedFieldNoCopy(object.Object, "metadata", "annotations")
	annotations, _ := content.(map[string]any)
	for _, name := range []string{v1.AnnotationReadyWhen, v1.AnnotationReadyMessage} {
		value, found := annotations[name]
		if !found {
			continue
		}
		text, isText := value.(string)
		err := Expression(name, text)
		if !isText {
			text, err = fmt.Sprint(value), errors.New("not a string: quote it")
		}
		if _, both := annotations[v1.AnnotationReadyWhen]; err == nil && !both {
			err = fmt.Errorf("has no effect without annotation %s", v1.AnnotationReadyWhen)
		}
		if err != nil {
			return &CheckError{Kind: object.GetKind(), Name: object.GetName(), Annotation: name, Expression: text, Err: err}
		}
	}
	return nil
}

// Expression returns an error if a text is invalid as the value of one of the two annotations.
func Expression(annotation, text string) error {
	compiled, err := programs.of(text)
	if err != nil {
		return err
	}
	want := types.BoolType
	if annotation == v1.AnnotationReadyMessage {
		want = types.StringType
	}
	if got := compiled.ast.OutputType(); !got.IsExactType(types.DynType) && !got.IsExactType(want) {
		return fmt.Errorf("returns %s, but must return %s", article(got.String()), article(want.String()))
	}
	return nil
}
