// Package admission evaluates the admission policies of config/admission as an API server does, without one: whether a write of a user is refused,
// with which words, and what it costs of the budget of expressions.
package admission

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/types"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/environment"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/test/try"
)

// oldest is what the API server of the oldest Kubernetes that is served, 1.34, accepts in new policies: what the one before it knows.
var oldest = version.MajorMinor(1, 33)

// Policy is a policy as the API server has compiled it.
type Policy struct {
	*admissionregistrationv1.ValidatingAdmissionPolicy
	matches, checks, messages cel.ConditionEvaluator
	validator                 validating.Validator
}

// Policies returns the policies for resources of the operator, compiled.
func Policies() []*Policy {
	var list []*Policy
	for _, file := range []string{"references.yaml", "beyond-edit.yaml", "adoption.yaml", "lifetime.yaml"} {
		list = append(list, read(file))
	}
	return list
}

// OwnWrites returns the policy for what the operator writes itself, compiled.
func OwnWrites() *Policy { return read("own-writes.yaml") }

// read compiles the policy of a file, which comes before its binding.
func read(file string) *Policy {
	text, _, _ := strings.Cut(string(try.Get(os.ReadFile(filepath.Join("../../config/admission", file)))), "\n---\n")
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{}
	try.Do(yaml.UnmarshalStrict([]byte(text), policy))
	return compile(policy)
}

func compile(policy *admissionregistrationv1.ValidatingAdmissionPolicy) *Policy {
	compiler := try.Get(cel.NewCompositedCompiler(environment.MustBaseEnvSet(oldest)))
	p := &Policy{ValidatingAdmissionPolicy: policy}
	with, without := cel.OptionalVariableDeclarations{HasAuthorizer: true}, cel.OptionalVariableDeclarations{}
	for _, variable := range policy.Spec.Variables {
		result := compiler.CompileAndStoreVariable(&validating.Variable{Name: variable.Name, Expression: variable.Expression}, with, environment.NewExpressions)
		if result.Error != nil {
			try.Fail("%s, variable %s: %v", policy.Name, variable.Name, result.Error)
		}
	}
	var conditions, checks, messages []cel.ExpressionAccessor
	for _, condition := range policy.Spec.MatchConditions {
		conditions = append(conditions, (*matchconditions.MatchCondition)(&condition))
	}
	for _, validation := range policy.Spec.Validations {
		checks = append(checks, &validating.ValidationCondition{Expression: validation.Expression, Message: validation.Message, Reason: validation.Reason})
		said := cmp.Or(validation.MessageExpression, strconv.Quote(validation.Message))
		messages = append(messages, &validating.MessageExpressionCondition{MessageExpression: said})
	}
	p.matches = compiler.CompileCondition(conditions, with, environment.NewExpressions)
	p.checks = compiler.CompileCondition(checks, with, environment.NewExpressions)
	p.messages = compiler.CompileCondition(messages, without, environment.NewExpressions)
	for what, compiled := range map[string]cel.ConditionEvaluator{"match conditions": p.matches, "validations": p.checks, "messages": p.messages} {
		if err := errors.Join(compiled.CompilationErrors()...); err != nil {
			try.Fail("%s, %s: %v", policy.Name, what, err)
		}
	}
	matcher := matchconditions.NewMatcher(p.matches, policy.Spec.FailurePolicy, "policy", "validate", policy.Name)
	p.validator = validating.NewValidator(p.checks, matcher, compiler.CompileCondition(nil, with, environment.NewExpressions), p.messages, policy.Spec.FailurePolicy, nil)
	return p
}

// Write is a request of a user to create or change the resource web in namespace shop.
type Write struct {
	Kind string
	// Before and Now are specs as YAML; without Before, the resource is created.
	Before, Now string
	// Metadata is more metadata of both, as YAML.
	Metadata string
	// May reports whether the user has a right; nil for a user who has none.
	May func(authorizer.Attributes) bool
}

// Authorize answers for the user whether a right is given.
func (w Write) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	if w.May != nil && w.May(a) {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

func (w Write) resource(spec string) *unstructured.Unstructured {
	if spec == "" {
		return nil
	}
	object := &unstructured.Unstructured{}
	try.Do(yaml.Unmarshal([]byte("{metadata: {"+w.Metadata+"}, spec: "+spec+"}"), &object.Object))
	object.SetAPIVersion("app.example.com/v1")
	object.SetKind(w.Kind)
	object.SetName("web")
	object.SetNamespace("shop")
	return object
}

// of is what the API server makes of the write before policies are asked.
func (w Write) of() *admission.VersionedAttributes {
	group := schema.GroupVersion{Group: "app.example.com", Version: "v1"}
	kind, resource, writer := group.WithKind(w.Kind), group.WithResource(strings.ToLower(w.Kind)+"s"), &user.DefaultInfo{Name: "tina"}
	attributes := &admission.VersionedAttributes{VersionedKind: kind}
	now, before := w.resource(w.Now), w.resource(w.Before)
	attributes.VersionedObject.Set(now)
	if before == nil {
		attributes.Attributes = admission.NewAttributesRecord(now, nil, kind, "shop", "web", resource, "", admission.Create, &metav1.CreateOptions{}, false, writer)
		return attributes
	}
	attributes.VersionedOldObject.Set(before)
	attributes.Attributes = admission.NewAttributesRecord(now, before, kind, "shop", "web", resource, "", admission.Update, &metav1.UpdateOptions{}, false, writer)
	return attributes
}

// Refusals returns what the policies say to a write, each as POLICY: MESSAGE; none if it passes.
func Refusals(policies []*Policy, w Write) []string {
	var list []string
	for _, p := range policies {
		for _, message := range p.refusals(w.of(), w) {
			list = append(list, fmt.Sprintf("%s: %s", p.Name, message))
		}
	}
	return list
}

func (p *Policy) refusals(attributes *admission.VersionedAttributes, may authorizer.UnconditionalAuthorizer) (messages []string) {
	result := p.validator.Validate(context.Background(), attributes.GetResource(), attributes, nil, nil, celconfig.RuntimeCELCostBudget, may)
	for _, decision := range result.Decisions {
		if decision.Action == validating.ActionDeny || decision.Evaluation == validating.EvalError { // an error denies nothing if it is ignored
			messages = append(messages, decision.Message)
		}
	}
	return messages
}

// cost is what a write costs of the budget of a policy, and of that of its match conditions.
func (p *Policy) cost(w Write) (conditions, all int64) { return p.costOf(w.of(), w) }

func (p *Policy) costOf(attributes *admission.VersionedAttributes, w authorizer.UnconditionalAuthorizer) (conditions, all int64) {
	request := cel.CreateAdmissionRequest(attributes.Attributes, metav1.GroupVersionResource(attributes.GetResource()), metav1.GroupVersionKind(attributes.VersionedKind))
	spend := func(evaluator cel.ConditionEvaluator, bindings cel.OptionalVariableBindings, budget int64) int64 {
		results, left, err := evaluator.ForInput(context.Background(), attributes, request, bindings, nil, budget)
		if err != nil {
			try.Fail("%s: %v", p.Name, err)
		}
		for _, result := range results {
			if result.Error != nil && evaluator != p.messages {
				try.Fail("%s: %v", p.Name, result.Error)
			}
			if evaluator == p.matches && result.EvalResult != types.True {
				return 0
			}
		}
		return budget - left
	}
	conditions = spend(p.matches, cel.OptionalVariableBindings{Authorizer: w}, celconfig.RuntimeCELCostBudgetMatchConditions)
	all = spend(p.checks, cel.OptionalVariableBindings{Authorizer: w}, celconfig.RuntimeCELCostBudget)
	return conditions, all + spend(p.messages, cel.OptionalVariableBindings{}, celconfig.RuntimeCELCostBudget-all)
}
