//go:build cluster

package integration

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// The program is killed with SIGKILL at each write of a release with a task, before the write is sent and after it is committed, and started
// again: each task runs once, before the pods of its version.
func TestAReleaseTaskSurvivesSIGKILLAtEveryWrite(t *testing.T) {
	t.Parallel()
	atEachWrite(t, 8, killedInRelease)
}

// killedInRelease reports whether a release with a task has as many writes. The program is killed at that one, and another one completes the
// release; then it installs the next AppService.
func killedInRelease(t *testing.T, proxy *harness.Proxy, namespace string, write int, committed bool) bool {
	t.Helper()
	counted := countRuns(t, namespace)
	first, second := fmt.Sprintf("shop-%d:1", write), fmt.Sprintf("shop-%d:2", write)
	app := migrated(namespace, first)
	app.Name = fmt.Sprintf("shop-%d", write)
	cluster.Create(t, app)
	installer := harness.Run(t, proxy.Kubeconfig, "--watch-namespaces="+namespace)
	cluster.Ready(t, app)
	installer.Kill()
	runsFirst := make(chan string, 2)
	reads := app.DeepCopy() // the function runs while the test reads app
	counted.when(second, func() { runsFirst <- imageOf(t, reads) })
	crash := &harness.Crash{Write: write, Committed: committed}
	changed := func() {
		cluster.Change(t, app, func(app *v1.AppService) {
			app.Spec.Image, app.Spec.Config.Environment["VERSION"] = second, v1.ConfigValue(second)
		})
	}
	crashed := diesAt(t, proxy, crash, namespace, changed, func() error {
		if err := isRunning(t, app); err != nil {
			return err
		}
		return want("image", imageOf(t, app), second)
	})
	if crashed {
		healed(t, proxy, app).Kill()
	}
	require.Equal(t, second, imageOf(t, app))
	require.Equal(t, first, <-runsFirst, "the Deployment was changed before the task ran")
	require.NoError(t, counted.once(first, second))
	return crashed
}

// once returns an error unless each of these images has run once.
func (r *runCount) once(images ...string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, image := range images {
		times := 0
		for _, ran := range r.jobs {
			if ran == image {
				times++
			}
		}
		if times != 1 {
			return fmt.Errorf("%s has run %d times: %v", image, times, slices.Clone(r.jobs))
		}
	}
	return nil
}

// A leader that dies while the task runs is followed by another one, which waits for the task that runs, and starts no other.
func TestAReleaseTaskUnderAnotherLeader(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	counted := countRuns(t, namespace)
	compete := func() *harness.Process {
		return harness.Run(t, cluster.Kubeconfig, "--watch-namespaces="+namespace, "--leader-elect", "--leader-election-namespace="+namespace)
	}
	first := compete()
	app := migrated(namespace, "shop:1")
	cluster.CreateReady(t, app)
	second := compete()
	cluster.Change(t, app, func(app *v1.AppService) {
		app.Spec.Image = "shop:2"
		scriptTask(app, runsOn)
	})
	task := taskPod(t, namespace)
	leader := leaderOf(t, namespace, "")
	first.Kill()
	leaderOf(t, namespace, leader)
	require.Equal(t, "shop:1", imageOf(t, app))
	succeeds(t, task)
	cluster.Ready(t, app)
	require.Equal(t, "shop:2", imageOf(t, app))
	require.NoError(t, counted.are("shop:1", "shop:2"))
	second.Kill()
}

// leaderOf waits until a manager other than the given one leads, and returns it.
func leaderOf(t *testing.T, namespace, not string) (holder string) {
	t.Helper()
	harness.Eventually(t, "somebody leads", func() error {
		list := &coordinationv1.LeaseList{}
		if err := cluster.Client.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
			return err
		}
		for _, lease := range list.Items {
			if lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != "" && *lease.Spec.HolderIdentity != not {
				holder = *lease.Spec.HolderIdentity
				return nil
			}
		}
		return errors.New("nobody does, or still the one before")
	})
	return holder
}

// A return that was recorded and not yet written is completed although the next version, with a task, came meanwhile.
func TestAReturnIsCompletedWhileTheNextTaskRuns(t *testing.T) {
	t.Parallel()
	namespace, proxy := cluster.Namespace(t), cluster.NewProxy(t)
	app := migrated(namespace, "shop:1")
	app.Spec.Ports[0].NodePort = nil
	app.Spec.OnFailure = &v1.OnFailure{Action: v1.OnFailureReturn, AfterTask: true}
	first := harness.Run(t, proxy.Kubeconfig, "--watch-namespaces="+namespace)
	cluster.CreateReady(t, app)
	harness.Eventually(t, "it counts as Ready", func() error { return isMarked(t, app) })
	crash := &harness.Crash{Write: 2, Committed: true, Kill: first.Kill, At: func(r harness.Request) bool {
		return r.Verb == "create" && strings.HasSuffix(strings.SplitN(r.Path, "?", 2)[0], "/secrets")
	}}
	proxy.CrashAt(crash)
	cluster.Change(t, app, func(app *v1.AppService) {
		notThere(&app.Spec)
		app.Spec.PodAnnotations[jobScript] = "{phase: Succeeded, containerStatuses: []}"
		app.Spec.Image = "shop:2"
	})
	harness.Eventually(t, "it dies", func() error {
		select {
		case <-first.Ended():
			return nil
		default:
			return errors.New("it lives")
		}
	})
	proxy.Disarm()
	require.Equal(t, "shop:2", imageOf(t, app))
	cluster.Change(t, app, func(app *v1.AppService) {
		scriptTask(app, runsOn)
		app.Spec.Image = "shop:3"
	})
	harness.Run(t, proxy.Kubeconfig, "--watch-namespaces="+namespace)
	task := taskPod(t, namespace)
	harness.Eventually(t, "the earlier version runs again", func() error { return want("image", imageOf(t, app), "shop:1") })
	succeeds(t, task)
	cluster.Ready(t, app)
	require.Equal(t, "shop:3", imageOf(t, app))
}
