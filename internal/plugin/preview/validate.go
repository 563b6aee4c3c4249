package preview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/chart/crd"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/operator/policy"
)

// Check lists the problems of a resource by its text, which is YAML or JSON: those of the API server by the
// definition of its kind, if that is available, and those of the operator by its limits, the chart and the
// platform's policy. Namespace is used if it names none. Problems of the API server come first; the operator checks
// only resources that the server accepts.
func (c *Cluster) Check(
	ctx context.Context, renderer *render.Renderer, d *crd.Definition, text []byte, namespace string,
) []Problem {
	if line, column, message := chart.YAMLMistake(string(text)); message != "" {
		return []Problem{{Message: message, Line: line, Column: column}}
	}
	resource, err := read(text, namespace)
	if err != nil {
		return []Problem{{Message: err.Error()}}
	}
	places := positionsOf(text)
	problems := misread(places)
	if d != nil {
		plain, admitted := admitPlainly(ctx, d, resource, places)
		problems = slices.Concat(problems, plain, ofServer(d, resource, admitted, places))
		resource = admitted.Resource
	}
	if len(problems) > 0 {
		slices.SortStableFunc(problems, func(a, b Problem) int {
			if a.Line == 0 || b.Line == 0 { // those about no field come last
				return cmp.Compare(b.Line, a.Line)
			}
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		return problems
	}
	if err := c.refusal(ctx, renderer, resource); err != nil {
		return []Problem{ofOperator(err, places)}
	}
	return nil
}

// refusal returns the error with which the operator would refuse a resource. Its recorded release matters to the policy
// only.
func (c *Cluster) refusal(ctx context.Context, renderer *render.Renderer, resource *unstructured.Unstructured) error {
	err := OutcomeOf(c.Render(ctx, renderer, resource, nil)).Err
	if _, policed := errors.AsType[*policy.Error](err); !policed || c.Assumed() {
		return err
	}
	live, failed := c.Resource(ctx, resource.GroupVersionKind(), client.ObjectKeyFromObject(resource))
	if failed != nil {
		return err // it does not exist, or may not be read
	}
	last, failed := c.Release(ctx, live)
	if failed != nil || last == nil {
		return err
	}
	return OutcomeOf(c.Render(ctx, renderer, resource, last)).Err
}

func read(text []byte, namespace string) (*unstructured.Unstructured, error) {
	data, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, err
	}
	resource := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(data, &resource.Object); err != nil { // whole numbers are int64, as clients read them
		return nil, err
	}
	if resource.GetNamespace() == "" {
		resource.SetNamespace(namespace)
	}
	resource.SetUID(render.PlaceholderUID)
	return resource, nil
}

// ofServer lists the API server's errors about a resource, in its words, under strict field validation.
func ofServer(d *crd.Definition, of *unstructured.Unstructured, admitted crd.Admitted, at *fieldPositions) []Problem {
	var problems []Problem
	slices.Sort(admitted.Unknown)
	for _, field := range admitted.Unknown {
		problems = append(problems, at.problem(field, fmt.Sprintf("unknown field %q%s", field,
			cmp.Or(gatewayHint(of.Object, field), d.DidYouMean(field)))))
	}
	for _, err := range admitted.Errors {
		if err.Detail == crd.RulesUnchecked {
			continue // the others say what to correct
		}
		problems = append(problems, at.problem(strings.TrimPrefix(err.Field, "<nil>"),
			strings.TrimPrefix(err.Error(), "<nil>: ")))
	}
	return problems
}

// ofOperator returns the problem for an error of the operator. For a mistake of the chart, it shows the template.
func ofOperator(err error, at *fieldPositions) Problem {
	if _, found := errors.AsType[*render.ChartError](err); found {
		return Problem{Message: strings.TrimSuffix(chart.Explain(err), "\n")}
	}
	message := text.Line(err.Error())
	return at.problem(fieldIn.FindString(message), message)
}
