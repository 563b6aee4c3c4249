//go:build cluster

package dashboard

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/example/appservice-operator/api/v1"
)

// started runs the command until it prints an address, or ends, or for as long as nobody waits.
func started(t *testing.T, args ...string) (out, complaints string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	command := exec.CommandContext(ctx, program, append([]string{"dashboard", "--kubeconfig=" + cluster.Kubeconfig}, args...)...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	pipe, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		out += lines.Text() + "\n"
		if strings.HasPrefix(lines.Text(), "http://") {
			require.NoError(t, command.Process.Signal(os.Interrupt))
		}
	}
	_ = command.Wait() // its code is returned
	require.NoError(t, ctx.Err(), "it hangs, without a word")
	return out, stderr.String(), command.ProcessState.ExitCode()
}

// reads lets a user list and watch AppServices, and nothing else.
func reads(t *testing.T, namespace, user string) *rbacv1.RoleBinding {
	t.Helper()
	meta := metav1.ObjectMeta{Namespace: namespace, GenerateName: "reader-"}
	role := &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{v1.GroupVersion.Group}, Resources: []string{"appservices"}, Verbs: []string{"list", "watch"}}}}
	cluster.Create(t, role)
	binding := &rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}}
	cluster.Create(t, binding)
	return binding
}

func TestKindsThatTheUserMayNotListAreLeftOut(t *testing.T) {
	namespace := cluster.Namespace(t)
	user := "reader-of-" + namespace
	reads(t, namespace, user)

	t.Run("one of the kinds", func(t *testing.T) {
		out, complaints, _ := started(t, "--namespace="+namespace, "--as="+user)
		assert.Contains(t, out, "namespace "+namespace+", read-only")
		assert.Contains(t, out, "http://127.0.0.1:")
		assert.Equal(t, "AppJob is not shown: you may not list them in namespace "+namespace+"\n", complaints)
	})
	t.Run("none", func(t *testing.T) {
		out, complaints, code := started(t, "--namespace="+namespace, "--as=nobody")
		assert.Empty(t, out)
		assert.Equal(t, 2, code)
		for _, kind := range []string{"AppService", "AppJob"} {
			assert.Contains(t, strings.Join(strings.Fields(complaints), " "), kind+" is not shown: you may not list them in namespace "+namespace)
		}
	})
	t.Run("all, in all namespaces", func(t *testing.T) {
		out, complaints, _ := started(t)
		assert.Contains(t, out, "all namespaces, read-only")
		assert.Empty(t, complaints)
	})
}
