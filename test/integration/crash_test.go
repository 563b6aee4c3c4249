//go:build cluster

package integration

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// The program is killed with SIGKILL at each write of an install, before the write is sent and after it is committed, and
// started again: the end is always the same.
func TestAnInstallSurvivesSIGKILLAtEveryWrite(t *testing.T) {
	t.Parallel()
	atEachWrite(t, 5, killedInInstall)
}

// atEachWrite kills the program at its first write, at its second, and so on, before the write is sent and after it is committed. Killed does
// so at one write, and reports whether there are as many; there have to be some.
func atEachWrite(t *testing.T, fewest int, killed func(t *testing.T, proxy *harness.Proxy, namespace string, write int, committed bool) bool) {
	t.Helper()
	for name, committed := range map[string]bool{"before the write is sent": false, "after it is committed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace, proxy := cluster.Namespace(t), cluster.NewProxy(t)
			writes := 0
			for killed(t, proxy, namespace, writes+1, committed) {
				writes++
			}
			if writes < fewest {
				t.Errorf("there were only %d writes, want at least %d", writes, fewest)
			}
		})
	}
}

// killedInInstall reports whether an install has as many writes. The program is killed at that one, and another one completes the install.
func killedInInstall(t *testing.T, proxy *harness.Proxy, namespace string, write int, committed bool) bool {
	t.Helper()
	app := harness.Seed(namespace, fmt.Sprintf("web-%d", write))
	crash := &harness.Crash{Write: write, Committed: committed}
	if !diesAt(t, proxy, crash, namespace, func() { cluster.Create(t, app) }, func() error { return isRunning(t, app) }) {
		return false
	}
	healer := healed(t, proxy, app)
	installedOnce(t, app)
	healer.Kill()
	return true
}

// diesAt reports whether the program makes the write of a crash between begin and done. It has ended then, in either case.
func diesAt(t *testing.T, proxy *harness.Proxy, crash *harness.Crash, namespace string, begin func(), done func() error) bool {
	t.Helper()
	victim := harness.Run(t, proxy.Kubeconfig, "--watch-namespaces="+namespace)
	crash.Kill = victim.Kill
	proxy.CrashAt(crash)
	begin()
	harness.Eventually(t, "the program dies or is done", func() error {
		select {
		case <-victim.Ended():
			return nil
		default:
			return done()
		}
	})
	struck, crashed := proxy.Disarm()
	victim.Kill()
	if crashed {
		t.Logf("killed at write %d, %s", crash.Write, struck)
	}
	return crashed
}

// healed restarts the program and waits until an AppService is ready.
func healed(t *testing.T, proxy *harness.Proxy, app *v1.AppService) *harness.Process {
	t.Helper()
	begin := time.Now()
	healer := harness.Run(t, proxy.Kubeconfig, "--watch-namespaces="+app.Namespace)
	cluster.Ready(t, app)
	t.Logf("ready %.1f s after the restart", time.Since(begin).Seconds())
	return healer
}

// isRunning returns an error unless the status says that an AppService runs.
func isRunning(t *testing.T, app *v1.AppService) error {
	t.Helper()
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(app), app); err != nil {
		return err
	}
	return want("phase", app.Status.Phase, v1.PhaseRunning)
}

// installedOnce checks that one deployed release and one of each object exist.
func installedOnce(t *testing.T, app *v1.AppService) {
	t.Helper()
	list := &corev1.SecretList{}
	cluster.List(t, list, client.InNamespace(app.Namespace), client.MatchingLabels{"owner": "helm", "name": app.Name})
	if len(list.Items) != 1 || list.Items[0].Labels["status"] != "deployed" {
		t.Errorf("%s: got %d release records, the first %s, want one that is deployed", app.Name, len(list.Items), list.Items[0].Labels["status"])
	}
	get(t, app, &appsv1.Deployment{})
	get(t, app, &corev1.Service{})
	sets := &appsv1.ReplicaSetList{}
	cluster.List(t, sets, client.InNamespace(app.Namespace), client.MatchingLabels{"app.kubernetes.io/instance": app.Name})
	if len(sets.Items) != 1 {
		t.Errorf("%s: got %d ReplicaSets, want 1", app.Name, len(sets.Items))
	}
}
