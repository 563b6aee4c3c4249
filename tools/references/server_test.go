package references

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/environment"
	"sigs.k8s.io/yaml"
)

// oldest is what the API server of the oldest Kubernetes that is served, 1.34, takes in new policies: what the one before it knows.
var oldest = version.MajorMinor(1, 33)

// guard is a policy as the API server has compiled it.
type guard struct {
	*admissionregistrationv1.ValidatingAdmissionPolicy
	matches, checks, messages cel.ConditionEvaluator
	validator                 validating.Validator
}

// guards compiles the policies of a file of config/admission as an API server does.
func guards(t testing.TB, file string) []*guard {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../config/admission", file))
	require.NoError(t, err)
	var list []*guard
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return list
		}
		require.NoError(t, err)
		policy := &admissionregistrationv1.ValidatingAdmissionPolicy{}
		require.NoError(t, yaml.Unmarshal(document, policy))
		if policy.Kind == "ValidatingAdmissionPolicy" {
			list = append(list, compile(t, policy))
		}
	}
}

func compile(t testing.TB, policy *admissionregistrationv1.ValidatingAdmissionPolicy) *guard {
	t.Helper()
	compiler, err := cel.NewCompositedCompiler(environment.MustBaseEnvSet(oldest))
	require.NoError(t, err)
	g := &guard{ValidatingAdmissionPolicy: policy}
	with, without := cel.OptionalVariableDeclarations{HasAuthorizer: true}, cel.OptionalVariableDeclarations{}
	for _, variable := range policy.Spec.Variables {
		result := compiler.CompileAndStoreVariable(&validating.Variable{Name: variable.Name, Expression: variable.Expression}, with, environment.NewExpressions)
		if result.Error != nil {
			t.Fatalf("%s, variable %s: %v", policy.Name, variable.Name, result.Error)
		}
	}
	var conditions, checks, messages []cel.ExpressionAccessor
	for _, condition := range policy.Spec.MatchConditions {
		conditions = append(conditions, (*matchconditions.MatchCondition)(&condition))
	}
	for _, validation := range policy.Spec.Validations {
		checks = append(checks, &validating.ValidationCondition{Expression: validation.Expression, Message: validation.Message, Reason: validation.Reason})
		messages = append(messages, &validating.MessageExpressionCondition{MessageExpression: validation.MessageExpression})
	}
	g.matches = compiler.CompileCondition(conditions, with, environment.NewExpressions)
	g.checks = compiler.CompileCondition(checks, with, environment.NewExpressions)
	g.messages = compiler.CompileCondition(messages, without, environment.NewExpressions)
	for what, compiled := range map[string]cel.ConditionEvaluator{"match conditions": g.matches, "validations": g.checks, "messages": g.messages} {
		if err := errors.Join(compiled.CompilationErrors()...); err != nil {
			t.Fatalf("%s, %s: %v", policy.Name, what, err)
		}
	}
	matcher := matchconditions.NewMatcher(g.matches, policy.Spec.FailurePolicy, "policy", "validate", policy.Name)
	g.validator = validating.NewValidator(g.checks, matcher, compiler.CompileCondition(nil, with, environment.NewExpressions), g.messages, policy.Spec.FailurePolicy, nil)
	return g
}

// write is a request of a user: specs as YAML.
type write struct {
	kind, plural string
	before, now  string
	may          func(authorizer.Attributes) bool
}

func (w write) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	if w.may != nil && w.may(a) {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

func (w write) resource(t testing.TB, spec string) *unstructured.Unstructured {
	t.Helper()
	if spec == "" {
		return nil
	}
	object := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte("{spec: "+spec+"}"), &object.Object))
	object.SetAPIVersion("app.example.com/v1")
	object.SetKind(w.kind)
	object.SetName("web")
	object.SetNamespace("shop")
	return object
}

// of is what the API server makes of the write before policies are asked.
func (w write) of(t testing.TB) *admission.VersionedAttributes {
	t.Helper()
	group := schema.GroupVersion{Group: "app.example.com", Version: "v1"}
	kind, resource, writer := group.WithKind(w.kind), group.WithResource(w.plural), &user.DefaultInfo{Name: "tina"}
	attributes := &admission.VersionedAttributes{VersionedKind: kind}
	now, before := w.resource(t, w.now), w.resource(t, w.before)
	attributes.VersionedObject.Set(now)
	if before == nil {
		attributes.Attributes = admission.NewAttributesRecord(now, nil, kind, "shop", "web", resource, "", admission.Create, &metav1.CreateOptions{}, false, writer)
		return attributes
	}
	attributes.VersionedOldObject.Set(before)
	attributes.Attributes = admission.NewAttributesRecord(now, before, kind, "shop", "web", resource, "", admission.Update, &metav1.UpdateOptions{}, false, writer)
	return attributes
}

// refusal is the first refusal of a write; empty if it passes.
func (g *guard) refusal(t testing.TB, w write) string {
	t.Helper()
	resource := schema.GroupVersionResource{Group: "app.example.com", Version: "v1", Resource: w.plural}
	result := g.validator.Validate(t.Context(), resource, w.of(t), nil, nil, celconfig.RuntimeCELCostBudget, w)
	for _, decision := range result.Decisions {
		if decision.Action == validating.ActionDeny {
			return fmt.Sprintf("%s: %s", g.Name, decision.Message)
		}
	}
	return ""
}

// cost is what a write costs of the budget of a policy, and of that of its match conditions.
func (g *guard) cost(t testing.TB, w write) (conditions, all int64) {
	t.Helper()
	attributes := w.of(t)
	request := cel.CreateAdmissionRequest(attributes.Attributes, metav1.GroupVersionResource(attributes.GetResource()), metav1.GroupVersionKind(attributes.VersionedKind))
	spend := func(evaluator cel.ConditionEvaluator, bindings cel.OptionalVariableBindings, budget int64) int64 {
		results, left, err := evaluator.ForInput(t.Context(), attributes, request, bindings, nil, budget)
		if err != nil {
			t.Fatalf("%s: %v", g.Name, err)
		}
		for _, result := range results {
			if result.Error != nil && evaluator != g.messages {
				t.Fatalf("%s: %v", g.Name, result.Error)
			}
			if evaluator == g.matches && result.EvalResult != types.True {
				return 0
			}
		}
		return budget - left
	}
	conditions = spend(g.matches, cel.OptionalVariableBindings{Authorizer: w}, celconfig.RuntimeCELCostBudgetMatchConditions)
	all = spend(g.checks, cel.OptionalVariableBindings{Authorizer: w}, celconfig.RuntimeCELCostBudget)
	return conditions, all + spend(g.messages, cel.OptionalVariableBindings{}, celconfig.RuntimeCELCostBudget-all)
}
