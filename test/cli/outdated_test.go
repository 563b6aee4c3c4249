//go:build cluster

package cli

import (
	"path/filepath"
	"testing"

	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// Fields that earlier versions of the policy allowed are refused by commands as by the operator: not for a resource whose recorded release has them.
func TestCommandsKnowWhatTheRecordedReleaseHas(t *testing.T) {
	t.Parallel()
	u := newUser(t, cluster.Namespace(t))
	open := filepath.Join(t.TempDir(), "open.yaml")
	files.Write(t, open, "builtIn: open\n")
	cluster.Manager(t, u.namespace, func(options *operator.Options, _ *harness.Requests) { options.Policy = open })
	files.Write(t, filepath.Join(u.folder, "old.yaml"), head+"  podAnnotations: {cluster-autoscaler.kubernetes.io/safe-to-evict: \"false\"}\n")
	u.must(t, 1, "kubectl appservice validate -f old.yaml --live")
	u.must(t, 0, "kubectl apply -f old.yaml")
	cluster.Ready(t, harness.Seed(u.namespace, "web"))
	u.must(t, 0, "kubectl appservice validate -f old.yaml --live")
	u.must(t, 1, "kubectl appservice validate -f old.yaml")
	u.must(t, 0, "sed -i s/nginx/nginx:2/ old.yaml")
	u.says(t, "kubectl appservice diff -f old.yaml --live", "pods WILL restart")
	u.must(t, 0, "sed -i s/false/no/ old.yaml")
	u.must(t, 1, "kubectl appservice validate -f old.yaml --live")
	u.says(t, "kubectl appservice diff -f old.yaml --live", "refused", "safe-to-evict")
}
