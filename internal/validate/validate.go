// Package validate predicts the problems of a resource before it is applied: what the API server refuses by the custom resource
// definition, and what the operator refuses by its limits, the chart and the platform's policy. It calls no cluster, so it does not know
// what is missing there.
package validate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/chart"
	"github.com/example/appservice-operator/internal/definition"
	"github.com/example/appservice-operator/internal/policy"
	"github.com/example/appservice-operator/internal/postrender"
	"github.com/example/appservice-operator/internal/render"
)

// Platform is what resources are checked against.
type Platform struct {
	// Definition of the kind; nil if it is not available: then the API server's checks are left out.
	Definition *definition.Definition
	Renderer   *render.Renderer
	// Policy of the platform, with the labels of namespaces; nil allows everything.
	Policy *policy.Policy
	Labels map[string]string
}

// Problem is why a resource would be refused.
type Problem struct {
	// Field that it is about, for example spec.ports[0].port; empty if that is not known.
	Field string
	// Message is one line. It begins with the field if the API server's does.
	Message string
	// Line and Column in the text of the resource, from 1; 0 if it is about no field.
	Line, Column int
}

// Check lists the problems of a resource by its text, which is YAML or JSON. Namespace is used if it names none. Problems of the API
// server come first; the operator checks only what the server accepts.
func (p Platform) Check(ctx context.Context, text []byte, namespace string) []Problem {
	if line, column, message := chart.YAMLMistake(string(text)); message != "" {
		return []Problem{{Message: message, Line: line, Column: column}}
	}
	resource, err := read(text, namespace)
	if err != nil {
		return []Problem{{Message: err.Error()}}
	}
	places := placesOf(text)
	if p.Definition != nil {
		admitted := p.Definition.Admit(ctx, resource)
		if problems := p.server(admitted, places); len(problems) > 0 {
			return problems
		}
		resource = admitted.Resource
	}
	if err := p.operator(ctx, resource); err != nil {
		return []Problem{ofOperator(err, places)}
	}
	return nil
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

// server lists the API server's errors, in its words, under strict field validation.
func (p Platform) server(admitted definition.Admitted, at *places) []Problem {
	var problems []Problem
	slices.Sort(admitted.Unknown)
	for _, field := range admitted.Unknown {
		problems = append(problems, at.problem(field, fmt.Sprintf("unknown field %q%s", field, p.Definition.DidYouMean(field))))
	}
	for _, err := range admitted.Errors {
		problems = append(problems, at.problem(strings.TrimPrefix(err.Field, "<nil>"), strings.TrimPrefix(err.Error(), "<nil>: ")))
	}
	return problems
}

// operator returns why the operator would not render a resource, or not apply what it renders.
func (p Platform) operator(ctx context.Context, resource *unstructured.Unstructured) error {
	in := render.Input{Resource: resource, Capabilities: render.Serving(p.Renderer.Chart)}
	_, err := p.Renderer.Predict(ctx, in, func(context.Context, *render.Draft) (postrender.Facts, error) {
		return postrender.FactsOf(resource.GetNamespace(), p.Labels, p.Policy), nil
	})
	return err
}

// ofOperator returns the problem for an error of the operator. For a mistake of the chart, it shows the template.
func ofOperator(err error, at *places) Problem {
	var ofChart *render.ChartError
	if errors.As(err, &ofChart) {
		return Problem{Message: strings.TrimSuffix(chart.Explain(err), "\n")}
	}
	message := strings.Join(strings.Fields(err.Error()), " ")
	return at.problem(fieldIn.FindString(message), message)
}
