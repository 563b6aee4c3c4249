//go:build cluster

package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/test/page"
)

// saved are a service whose release task has run, with a generated password and a volume, a database with a volume for each replica, and a Job.
const saved = `
apiVersion: v1
kind: Secret
metadata: {name: token}
stringData: {token: abc}
---
apiVersion: app.example.com/v1
kind: AppService
metadata: {name: shop}
spec:
  size: 2
  image: nginx:1.27
  ports: [{port: 80}]
  envs: [{name: TOKEN, valueFrom: {secretKeyRef: {name: token, key: token}}}]
  config: {environment: {COLOR: blue}, generated: {PASSWORD: {}}, retainGenerated: true}
  release: {command: [migrate]}
  persistence: {size: 1Gi, mountPath: /data, storageClassName: none}
  ingress: {className: nginx, hosts: [{host: shop.example.com}]}
---
apiVersion: app.example.com/v1
kind: AppService
metadata: {name: database}
spec:
  image: postgres:17
  ports: [{port: 5432}]
  persistence: {perReplica: true, size: 1Gi, mountPath: /data, storageClassName: none}
---
apiVersion: app.example.com/v1
kind: AppJob
metadata: {name: report}
spec: {image: busybox, command: [report]}
`

// rival has the host of the shop, and is there before it.
const rival = `
apiVersion: app.example.com/v1
kind: AppService
metadata: {name: rival}
spec: {image: nginx:1.27, ports: [{port: 80}], ingress: {className: nginx, hosts: [{host: shop.example.com}]}}
`

// TestABackupIsRestored takes a namespace from one control plane to another by the commands of docs/backup.md. It does not run beside other
// tests, since CLUSTER_NAME is that of the second control plane meanwhile.
func TestABackupIsRestored(t *testing.T) {
	before := newUser(t, cluster.Namespace(t))
	cluster.Manager(t, before.namespace)
	files.Write(t, filepath.Join(before.folder, "saved.yaml"), saved)
	before.must(t, 0, "kubectl apply -f saved.yaml")
	before.must(t, 0, "kubectl wait --for=condition=Ready appservices,appjobs --all --timeout=3m")
	require.Contains(t, before.must(t, 0, "kubectl get jobs -o name"), "job.batch/shop-release-")

	t.Setenv("CLUSTER_NAME", cluster.Name+"-restored")
	other, stop, err := harness.Start(t.Context(), cluster.Name+"-restored")
	if stop != nil {
		t.Cleanup(stop)
	}
	require.NoError(t, err)
	other.Create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: before.namespace}})
	others := other.Namespace(t)
	policy := filepath.Join(before.folder, "granted.yaml")
	files.Write(t, policy, "namespaces:\n- names: ["+before.namespace+"]\n  hosts: [\"+\", shop.example.com]\n")
	manager := other.Manager(t, before.namespace, func(options *operator.Options, _ *harness.Requests) {
		options.WatchNamespaces, options.Policy = append(options.WatchNamespaces, others), policy
	})
	after := &user{namespace: before.namespace, folder: before.folder, kubeconfig: kubeconfigOf(t, other, before.namespace)}
	files.Write(t, filepath.Join(after.folder, "rival.yaml"), rival)
	after.must(t, 0, "kubectl apply -n "+others+" -f rival.yaml")

	const of = "kubectl get secret shop-generated -o jsonpath='{.data}'"
	const claims = "kubectl get pvc -o name"
	for _, part := range strings.Split(string(files.Text(t, "docs/backup.md")), "\n## ")[1:] {
		who := after
		if strings.HasPrefix(part, "Back up\n") {
			who = before
		}
		blocks, err := page.Blocks(part)
		require.NoError(t, err)
		for _, block := range blocks {
			if block.Language != "console" {
				name, content, err := block.File()
				require.NoError(t, err)
				files.Write(t, filepath.Join(who.folder, name), content)
				continue
			}
			for _, each := range block.Commands() {
				who.must(t, 0, each.Text)
			}
		}
	}
	manager.Rest(t)
	other.Ready(t, harness.Seed(after.namespace, "shop"))
	assert.Equal(t, before.must(t, 0, of), after.must(t, 0, of), "generated passwords")
	assert.Equal(t, before.must(t, 0, claims), after.must(t, 0, claims))
	assert.Empty(t, after.must(t, 0, "kubectl get jobs -o jsonpath='{.items[?(@.spec.suspend!=true)].metadata.name}'"), "Jobs ran again")
	assert.Equal(t, "shop.example.com", after.must(t, 0, "kubectl get ingress shop -o jsonpath='{.spec.rules[*].host}'"))
	assert.Empty(t, after.must(t, 0, "kubectl get ingress -n "+others+" -o name"), "the host is another namespace's")
}
