//go:build cluster

package scenario

import (
	"fmt"
	"slices"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/test/granted"
	"github.com/example/appservice-operator/test/harness"
)

// rights are the incidents of T5 in which the operator loses the right to write a kind, and gets it back.
func rights() []incident {
	var list []incident
	for _, kind := range policed {
		list = append(list, incident{"T5/right-withdrawn/" + kind.resource, func(s *scene) {
			user, role := s.restricted()
			s.with(whole)
			all := role.DeepCopy().Rules
			s.withdraw(user, role, kind.group, kind.resource)
			s.drop(kind.what)
			s.mentions("the operator may not ")
			s.giveBack(role, all)
			s.endsAs(whole)
		}})
	}
	return append(list, incident{"T5/right-withdrawn/status", func(s *scene) { statusRefused(s, 0) }})
}

// refusal is for how long the status is refused in the longest plan.
const refusal = 20 * time.Minute

// lasting are the incidents in which a fault lasts long. They begin first, and are in no sample.
func lasting() []incident {
	return []incident{{"T5/right-withdrawn/status-for-20-minutes", func(s *scene) { statusRefused(s, refusal) }}}
}

// statusRefused removes the right to write the status for a while, in which the spec changes. Then the status is right within the time between two
// attempts.
func statusRefused(s *scene, lasts time.Duration) {
	user, role := s.restricted()
	s.with(small)
	all := role.DeepCopy().Rules
	s.withdraw(user, role, "app.example.com", "appservices/status")
	s.line.Start()
	s.want(changed)
	harness.Eventually(s.T, "the objects are written without the status", func() error {
		objects, err := seen.objects(s.Context(), s.namespace)
		if err != nil {
			return err
		}
		if objects["Secret sh.helm.release.v1.web.v2"] == nil {
			return fmt.Errorf("there is no second release")
		}
		return nil
	})
	select { // what is tested is the interval that the attempts have reached by then
	case <-time.After(lasts):
	case <-s.Context().Done():
	}
	attempts := 0
	for _, point := range s.line.Points() {
		if point.Target == "appservices/web/status" {
			attempts++
		}
	}
	s.Logf("%d attempts to write the status were refused in %s", attempts, lasts)
	if least := int(lasts / (2 * time.Minute)); attempts < least {
		s.Errorf("the status was tried %d times in %s, want at least %d", attempts, lasts, least)
	}
	s.giveBack(role, all)
	s.endsAs(changed)
	s.Logf("the status was right %s after it was allowed", s.recovery.Round(100*time.Millisecond))
}

// restricted has the operator run with the rights of config/rbac and no others.
func (s *scene) restricted() (user string, role *rbacv1.Role) {
	s.Helper()
	shipped, err := granted.WithOptions()
	if err != nil {
		s.Fatal(err)
	}
	user = "operator-of-" + s.namespace
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}}
	here := metav1.ObjectMeta{Namespace: s.namespace, Name: "operator"}
	everywhere := metav1.ObjectMeta{Name: user}
	role = &rbacv1.Role{ObjectMeta: here, Rules: shipped.InNamespaces}
	for _, object := range []client.Object{
		role,
		&rbacv1.RoleBinding{ObjectMeta: here, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: here.Name}},
		&rbacv1.ClusterRole{ObjectMeta: everywhere, Rules: shipped.Everywhere},
		&rbacv1.ClusterRoleBinding{ObjectMeta: everywhere, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user}},
	} {
		cluster.Create(s.T, object)
	}
	config := rest.CopyConfig(cluster.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:authenticated"}}
	s.as = &harness.Cluster{Cluster: cluster.Cluster, Config: config, Client: cluster.Client}
	s.until(user, "apps", "deployments", true)
	return user, role
}

// withdraw removes the rights to write a kind.
func (s *scene) withdraw(user string, role *rbacv1.Role, group, resource string) {
	s.Helper()
	var rules []rbacv1.PolicyRule
	for _, rule := range role.Rules {
		if !slices.Contains(rule.APIGroups, group) || !slices.Contains(rule.Resources, resource) {
			rules = append(rules, rule)
			continue
		}
		others, reads := *rule.DeepCopy(), *rule.DeepCopy()
		others.Resources = slices.DeleteFunc(others.Resources, func(other string) bool { return other == resource })
		reads.Resources, reads.Verbs = []string{resource}, []string{"get", "list", "watch"}
		if len(others.Resources) > 0 {
			rules = append(rules, others)
		}
		rules = append(rules, reads)
	}
	s.giveBack(role, rules)
	s.until(user, group, resource, false)
}

func (s *scene) giveBack(role *rbacv1.Role, rules []rbacv1.PolicyRule) {
	s.Helper()
	cluster.Edit(s.T, role, func() { role.Rules = rules })
	s.fault()
}

// until waits until a right is granted, or no longer.
func (s *scene) until(user, group, resource string, allowed bool) {
	s.Helper()
	harness.Eventually(s.T, "the right is as it is to be", func() error {
		attributes := &authorizationv1.ResourceAttributes{Namespace: s.namespace, Verb: "patch", Group: group, Resource: resource}
		if resource == "appservices/status" {
			attributes.Resource, attributes.Subresource = "appservices", "status"
		}
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: attributes}}
		if err := cluster.Client.Create(s.Context(), review); err != nil {
			return err
		}
		if review.Status.Allowed != allowed {
			return fmt.Errorf("allowed: %t", review.Status.Allowed)
		}
		return nil
	})
}
