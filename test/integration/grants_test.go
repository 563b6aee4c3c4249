//go:build cluster

package integration

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/granted"
	"github.com/example/appservice-operator/test/harness"
)

// A chart whose Role grants more than the operator's account may: the status names the rules that the account lacks, and
// the resource is served when it has them.
func TestARoleWithMoreRightsThanTheOperatorHas(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	lacking := rbacv1.PolicyRule{APIGroups: []string{"example.com"}, Resources: []string{"gadgets"}, Verbs: []string{"list", "watch"}}
	own := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "writes-roles"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{rbacv1.GroupName}, Resources: []string{"roles"}, Verbs: []string{"get", "list", "watch", "create", "patch", "delete"}},
	}}
	cluster.Create(t, own)
	cluster.Create(t, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: own.Name},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: own.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: granted.Namespace, Name: granted.Account}}})
	dir := files.Charts(t)
	templates := filepath.Join(dir, "helm-charts/appjob/templates")
	require.NoError(t, os.RemoveAll(templates))
	files.Write(t, filepath.Join(templates, "role.yaml"), `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: {{ .Release.Name | quote }}}
rules:
- {apiGroups: [example.com], resources: [gadgets], verbs: [list, watch]}
`)
	cluster.Manager(t, namespace, func(options *operator.Options, _ *harness.Requests) { options.ChartDir = dir })
	job := appJob(namespace, map[string]any{"image": "busybox"})
	cluster.Create(t, job)
	tells(t, job, v1.ReasonMissingRights, `roles "report": the operator is attempting to grant RBAC permissions not currently held: {APIGroups:["example.com"], Resources:["gadgets"], Verbs:["list" "watch"]}`)

	cluster.Edit(t, own, func() { own.Rules = append(own.Rules, lacking) })
	becomesReady(t, job)
}
