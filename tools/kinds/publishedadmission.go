package kinds

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/example/appservice-operator/api/v1"
)

// publishedAdmission asks those who write a spec of a published chart for what such a spec may name: nobody knows in
// which of its fields. %s are rules of resources.
const publishedAdmission = generated + `# Which of their fields name a Secret, a claim or an account, charts of others do not say: so a spec of theirs takes the right to use all of these in
# its namespace.
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: published
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
%s
  matchConditions:
  - name: the-spec-is-written
    expression: has(object.spec) && (oldObject == null || !has(oldObject.spec) || object.spec != oldObject.spec)
  variables:
  - name: says
    expression: "'the chart of ' + object.kind + ' is served as it was published: any field of its spec may name a Secret, a claim or a service account, and you may not '"
  - name: asks
    expression: "' in namespace ' + request.namespace + '. Ask for that right, or have a user with it write this ' + object.kind"
  validations: # one for each right, since a question to the authorizer costs a third of what an expression may
  - expression: authorizer.group('').resource('secrets').namespace(request.namespace).check('get').allowed()
    reason: Forbidden
    messageExpression: "variables.says + 'get secrets' + variables.asks"
  - expression: authorizer.group('').resource('persistentvolumeclaims').namespace(request.namespace).check('get').allowed()
    reason: Forbidden
    messageExpression: "variables.says + 'get persistentvolumeclaims' + variables.asks"
  - expression: authorizer.group('').resource('serviceaccounts').namespace(request.namespace).check('impersonate').allowed()
    reason: Forbidden
    messageExpression: "variables.says + 'impersonate serviceaccounts' + variables.asks"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: published
spec:
  policyName: published
  validationActions: [Deny]
  matchResources:
    namespaceSelector:
      matchExpressions:
      - {key: app.example.com/references, operator: NotIn, values: [unchecked]}
`

// AdmissionOfPublished returns the policy for writes of some resources, with its binding.
func AdmissionOfPublished(resources ...schema.GroupResource) []byte {
	var rules []string
	for _, each := range resources {
		rules = append(rules, writesOf(each.Group, each.Resource))
	}
	return fmt.Appendf(nil, publishedAdmission, strings.Join(rules, "\n"))
}

// writesOf is the rule of a policy for writes of a resource.
func writesOf(group, resource string) string {
	return fmt.Sprintf(`    - {apiGroups: [%s], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: [%s]}`, group, resource)
}

// admit writes what is asked of those who write specs of published charts, or have them adopt objects, and leaves these kinds out of what is
// asked by the names of fields.
func admit(root string, list []kind) error {
	const name = "config/admission/published.yaml"
	link := filepath.Join(root, "config/chart/files/admission/published.yaml")
	var resources []schema.GroupResource
	var plurals, listed, condition, adopting []string
	for _, k := range list {
		if k.Is() {
			resources = append(resources, schema.GroupResource{Group: k.Group, Resource: k.plural()})
			plurals = append(plurals, fmt.Sprintf("'%s/%s'", k.Group, k.plural()))
			if k.Group != v1.GroupVersion.Group {
				adopting = append(adopting, writesOf(k.Group, k.plural()))
			}
		}
	}
	if len(resources) > 0 {
		slices.Sort(plurals)
		listed = []string{"- published.yaml"}
		condition = []string{fmt.Sprintf(`  - {name: its-fields-are-ours, expression: "!(request.resource.group + '/' + request.resource.resource in [%s])"}`, strings.Join(plurals, ", "))}
		if err := os.WriteFile(filepath.Join(root, name), AdmissionOfPublished(resources...), 0o644); err != nil {
			return err
		}
		if err := os.Symlink("../../../admission/published.yaml", link); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	} else if err := errors.Join(os.RemoveAll(filepath.Join(root, name)), os.RemoveAll(link)); err != nil {
		return err
	}
	for file, lines := range map[string][]string{
		"config/admission/kustomization.yaml": listed,
		"config/admission/beyond-edit.yaml":   condition,
		"config/admission/adoption.yaml":      adopting,
	} {
		if err := replace(filepath.Join(root, file), lines); err != nil {
			return err
		}
	}
	return nil
}
