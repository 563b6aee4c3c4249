package readywhen

import (
	"cmp"
	"fmt"

	"github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/text"
)

// State is the readiness of an object by its own annotation.
type State struct {
	Ready bool
	// Fault says that the expression itself is wrong, or that the operator cannot read what it needs: waiting does not
	// help.
	Fault bool
	// Message is one line that says what is waited for or what is wrong; empty if the object is ready.
	Message string
}

// Of returns the state of a live object by its annotation; false if it has none. The object may be an outline, which is
// all that the caches hold of Secrets and of large objects: the expression then sees only its metadata.
func Of(object client.Object) (State, bool) {
	annotations := object.GetAnnotations()
	expression, found := annotations[v1.AnnotationReadyWhen]
	if !found {
		return State{}, false
	}
	self, full := seen(object)
	ready, err := evaluate[bool](expression, self)
	if err != nil {
		return unanswered(expression, annotations, self, full, err), true
	}
	if ready {
		return State{Ready: true}, true
	}
	return State{Message: message(annotations, self, quote(expression)+" is not true yet")}, true
}

// seen returns what an expression sees of an object, and whether that is all of it.
func seen(object client.Object) (map[string]any, bool) {
	if content, full := kube.Content(object); full {
		return content, true
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, false
	}
	return map[string]any{"apiVersion": content["apiVersion"], "kind": content["kind"],
		"metadata": content["metadata"]}, false
}

// unanswered returns the state of an object whose expression returned an error.
func unanswered(expression string, annotations map[string]string, self map[string]any, full bool, err error) State {
	absent, waits := err.(*absentError) //nolint:errorlint // evaluate does not wrap it
	switch {
	case waits && full:
		return State{Message: message(annotations, self,
			fmt.Sprintf("%s is not set yet, and %s reads it", absent.path, quote(expression)))}
	case waits:
		return State{Fault: true, Message: fmt.Sprintf("%s reads %s, but of Secrets and of large objects the operator knows only metadata: change annotation %s",
			quote(expression), absent.path, v1.AnnotationReadyWhen)}
	}
	return State{Fault: true, Message: oneLine(fmt.Sprintf("annotation %s, %s: %s", v1.AnnotationReadyWhen,
		quote(expression), err))}
}

// message returns the object's own message about what is waited for, else the given one.
func message(annotations map[string]string, self map[string]any, otherwise string) string {
	if expression, found := annotations[v1.AnnotationReadyMessage]; found {
		if said, err := evaluate[string](expression, self); err == nil && oneLine(said) != "" {
			return oneLine(said)
		}
	}
	return otherwise
}

// evaluate returns the result of an expression for an object; an absentError if it reads a missing value.
func evaluate[T bool | string](expression string, self map[string]any) (T, error) {
	var none T
	compiled, err := programs.of(expression)
	if err != nil {
		return none, err
	}
	value, _, err := compiled.program.Eval(map[string]any{"self": self})
	if err != nil {
		return none, compiled.explain(err)
	}
	result, ok := value.Value().(T)
	if !ok {
		return none, fmt.Errorf("returns %s, but must return %s", article(value.Type().TypeName()),
			article(typeOf(none).TypeName()))
	}
	return result, nil
}

// typeOf returns the CEL type of a result.
func typeOf(value any) *types.Type {
	if _, isBool := value.(bool); isBool {
		return types.BoolType
	}
	return types.StringType
}

func article(name string) string {
	if name == "int" {
		return "an int"
	}
	return "a " + name
}

// The maximum number of characters that are shown of an expression and of a message.
const maxQuoted, maxMessage = 128, 512

func quote(expression string) string {
	return cmp.Or(text.Cut(text.Line(expression), maxQuoted), `""`)
}

func oneLine(said string) string { return text.Cut(text.Line(said), maxMessage) }
