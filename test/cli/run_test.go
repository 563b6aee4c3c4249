//go:build cluster

package cli

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// staying has a simulated pod run, and never end.
const staying = `{phase: Running, conditions: [{type: Initialized, status: "True"}, {type: Ready, status: "True", lastTransitionTime: NOW}], ` +
	`containerStatuses: [{name: app, image: x, imageID: "", ready: true, started: true, restartCount: 0, state: {running: {startedAt: NOW}}}]}`

// A Job is gone when its command has ended, although the log of a simulated container never ends, and when it is
// interrupted, whatever it does at that time.
func TestRunLeavesNoJob(t *testing.T) {
	u := newUser(t, cluster.Namespace(t))
	cluster.Manager(t, u.namespace)
	app := u.web(t)
	const line = "a simulated container writes this line only"
	assert.Contains(t, u.must(t, 0, "kubectl appservice run web -- env"), line)
	noJobs(t, u.namespace)

	cluster.Change(t, app, func(app *v1.AppService) {
		app.Spec.PodAnnotations = map[string]v1.Annotation{"script.kwok.x-k8s.io/status": staying}
	})
	u.must(t, 0, "kubectl appservice wait web")
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		got := u.run(t, "kubectl appservice run web -- sleep 100", func(p *os.Process) { _ = p.Signal(signal) })
		assert.Equal(t, 2, got.code, "%s: %s%s", signal, got.stdout, got.stderr)
		assert.Contains(t, got.stderr, "interrupted", signal)
		noJobs(t, u.namespace)
	}
	u.must(t, 0, "kubectl appservice run web -- sleep 100 | true")
	noJobs(t, u.namespace)
	assert.Contains(t, u.must(t, 0, "kubectl appservice run web --detach -- sleep 100"), "job.batch/web-run-")
}

// noJobs waits until a namespace has no Jobs: they go after their pods.
func noJobs(t *testing.T, namespace string) {
	t.Helper()
	harness.Eventually(t, "there are no Jobs", func() error {
		list := &batchv1.JobList{}
		if err := cluster.Client.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
			return err
		}
		for _, job := range list.Items {
			if job.DeletionTimestamp == nil {
				return errors.New(fmt.Sprint(job.Name, " is there"))
			}
		}
		return nil
	})
}
