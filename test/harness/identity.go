package harness

import (
	"context"
	"fmt"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/example/appservice-operator/test/granted"
	"github.com/example/appservice-operator/tools/controlplane"
)

// operatorAudit has the API server record each request of the operator's own account, and no others.
const operatorAudit = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- level: Metadata
  userGroups: ["system:serviceaccounts:` + granted.Namespace + `"]
- level: None
`

// Audited has a cluster keep an audit log of what the operator asks for.
func Audited(options *controlplane.Options) { options.AuditPolicy = operatorAudit }

// enroll creates the operator's service account with the rights that an installation with all options grants it in all namespaces, and logs in
// as it.
func (c *Cluster) enroll(ctx context.Context) error {
	shipped, err := granted.WithOptions()
	if err != nil {
		return fmt.Errorf("cannot read the rights of the operator: %w", err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: granted.Namespace, Name: granted.Account}}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: granted.Account}}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: granted.Account}}
	for object, set := range map[client.Object]func(){
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: granted.Namespace}}: func() {},
		role: func() {
			role.Rules = slices.Concat(shipped.InNamespaces, shipped.Everywhere, shipped.Leading, shipped.Metrics)
		},
		binding: func() {
			binding.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name}
			binding.Subjects = []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: account.Namespace, Name: account.Name}}
		},
	} {
		if _, err := controllerutil.CreateOrUpdate(ctx, c.Client, object, func() error { set(); return nil }); err != nil {
			return fmt.Errorf("cannot give the operator its rights: %w", err)
		}
	}
	if err := client.IgnoreAlreadyExists(c.Client.Create(ctx, account)); err != nil {
		return fmt.Errorf("cannot make the operator's account: %w", err)
	}
	day := int64(24 * 60 * 60)
	token := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &day}}
	if err := c.Client.SubResource("token").Create(ctx, account, token); err != nil {
		return fmt.Errorf("cannot log in as the operator: %w", err)
	}
	c.Operator = rest.AnonymousClientConfig(c.Config)
	c.Operator.BearerToken, c.Operator.QPS = token.Status.Token, -1
	return nil
}

// Unbound returns the cluster with its administrator's rights, for operators that serve kinds which config/rbac does not cover.
func (c *Cluster) Unbound() *Cluster {
	return &Cluster{Cluster: c.Cluster, Config: c.Config, Client: c.Client}
}

// identity is the account of an operator.
func (c *Cluster) identity() *rest.Config {
	if c.Operator == nil {
		return c.Config
	}
	return c.Operator
}
