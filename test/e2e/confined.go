package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/poll"
)

// confined is the only namespace that a manager serves, and beyond one that it does not.
const confined, beyond = "appservice-e2e-confined", "appservice-e2e-beyond"

// confinedByMake installs a manager for one namespace with make deploy.
func confinedByMake(ctx context.Context, s *suite) {
	variables := []string{"IMG=" + s.present.Image, "NAMESPACES=" + confined}
	s.confine(ctx,
		append([]string{"make", "deploy"}, variables...),
		append([]string{"make", "undeploy"}, variables...))
}

// confinedByHelm installs a manager for one namespace with the chart.
func confinedByHelm(ctx context.Context, s *suite) {
	at := strings.LastIndex(s.present.Image, ":")
	helm := []string{"go", "tool", "-modfile=tools/pins/helm/go.mod", "helm"}
	s.confine(ctx,
		append(slices.Clone(helm), "install", "appservice-operator", "config/chart", "--namespace="+operatorNamespace, "--create-namespace", "--skip-crds",
			"--set=image.repository="+s.present.Image[:at]+",image.tag="+s.present.Image[at+1:]+",watchNamespaces={"+confined+"}"),
		append(slices.Clone(helm), "uninstall", "appservice-operator", "--namespace="+operatorNamespace, "--wait"))
}

// confine shows what a manager that serves one namespace does there, and that it may do nothing elsewhere.
func (s *suite) confine(ctx context.Context, install, remove []string) {
	try.Do(s.command(ctx, "make", "undeploy"))
	for _, name := range []string{confined, beyond} {
		s.makeNamespace(ctx, name, nil)
	}
	try.Do(s.command(ctx, install...))
	s.isConfined(ctx)
	for _, name := range []string{confined, beyond} { // while the operator is there to see it
		try.Do(client.IgnoreNotFound(s.client.Delete(ctx, web(name, "web", 0))))
	}
	try.Do(s.command(ctx, remove...))
	s.deleteNamespaces(ctx, confined, beyond, operatorNamespace)
	try.Do(poll.Until(ctx, func(ctx context.Context) error {
		var all corev1.NamespaceList
		if err := s.client.List(ctx, &all); err != nil {
			return err
		}
		for _, namespace := range all.Items {
			if slices.Contains([]string{confined, beyond, operatorNamespace}, namespace.Name) {
				return fmt.Errorf("namespace %s is still there", namespace.Name)
			}
		}
		return nil
	}))
}

func (s *suite) isConfined(ctx context.Context) {
	app, other := web(confined, "web", 0), web(beyond, "web", 0)
	for _, object := range []client.Object{app, other} {
		try.Do(s.client.Create(ctx, object))
	}
	s.untilReady(ctx, app)
	try.Do(s.client.Get(ctx, client.ObjectKeyFromObject(other), other))
	if len(other.Status.Conditions) > 0 {
		try.Fail("the AppService in %s has a status: %+v", beyond, other.Status.Conditions)
	}
	manager := &appsv1.Deployment{}
	try.Do(s.client.Get(ctx, client.ObjectKey{Namespace: operatorNamespace, Name: managerName}, manager))
	s.boundToNoClusterRole(ctx)
	here := s.mayDo(ctx, confined, managerName)
	if !slices.Contains(here, "list secrets") || !slices.Contains(here, "create apps/deployments") {
		try.Fail("the manager may not do what it needs in %s: %v", confined, here)
	}
	everybody := s.mayDo(ctx, beyond, "nobody")
	there := s.mayDo(ctx, beyond, managerName)
	s.say("    the manager may do %d things in %s, and in %s the %d that every account may", len(here), confined, beyond, len(there))
	if !slices.Equal(there, everybody) {
		try.Fail("in %s, the manager may %v, every account may %v", beyond, there, everybody)
	}
}

// boundToNoClusterRole returns an error if the manager has rights in all of the cluster, or a ClusterRole in a namespace.
func (s *suite) boundToNoClusterRole(ctx context.Context) {
	var everywhere rbacv1.ClusterRoleBindingList
	var inNamespaces rbacv1.RoleBindingList
	for _, list := range []client.ObjectList{&everywhere, &inNamespaces} {
		try.Do(s.client.List(ctx, list))
	}
	manager := func(subject rbacv1.Subject) bool {
		return subject.Name == managerName && subject.Namespace == operatorNamespace
	}
	for _, binding := range everywhere.Items {
		if slices.ContainsFunc(binding.Subjects, manager) {
			try.Fail("ClusterRoleBinding %s binds the manager to %s", binding.Name, binding.RoleRef.Name)
		}
	}
	for _, binding := range inNamespaces.Items {
		if slices.ContainsFunc(binding.Subjects, manager) && binding.RoleRef.Kind != "Role" {
			try.Fail("RoleBinding %s of %s binds the manager to ClusterRole %s", binding.Name, binding.Namespace, binding.RoleRef.Name)
		}
	}
}

// mayDo lists what an account of the operator's namespace may do in a namespace, as kubectl auth can-i --list does: rights in all of the cluster
// are among them.
func (s *suite) mayDo(ctx context.Context, namespace, account string) []string {
	config := rest.CopyConfig(s.cluster.config)
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + operatorNamespace + ":" + account,
		Groups:   []string{"system:authenticated", "system:serviceaccounts", "system:serviceaccounts:" + operatorNamespace},
	}
	as := try.Get(client.New(config, client.Options{Scheme: s.client.Scheme()}))
	review := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace}}
	try.Do(as.Create(ctx, review))
	if review.Status.Incomplete {
		try.Fail("the API server does not know all rights: %s", review.Status.EvaluationError)
	}
	var list []string
	for _, rule := range review.Status.ResourceRules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					list = append(list, verb+" "+strings.TrimPrefix(group+"/"+resource, "/"))
				}
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
