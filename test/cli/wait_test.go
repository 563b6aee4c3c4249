//go:build cluster

package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

func TestWaitEndsAtReadyOrAtWhatStaysWrong(t *testing.T) {
	u := newUser(t, cluster.Namespace(t))
	cluster.Manager(t, u.namespace)
	u.applyFile(t, "testdata/app.yaml")
	out := u.must(t, 0, "kubectl appservice wait web")
	assert.Contains(t, out, "appservice/web  ")
	assert.Contains(t, out, "2 ready")

	app := harness.Seed(u.namespace, "web")
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Paused = true })
	assert.Contains(t, u.must(t, 1, "kubectl appservice wait web"), "reconciles are paused: kubectl appservice resume web")
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Paused = false })
	u.must(t, 0, "kubectl appservice wait web")

	crash(t, app)
	out = u.must(t, 1, "kubectl appservice wait web")
	assert.Contains(t, out, "ContainerCrashed")
	assert.Contains(t, out, "Ready=False", "what why says follows")

	got := u.run(t, "kubectl appservice wait other", nil)
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stdout, "resource does not exist")
	got = u.run(t, "kubectl appservice wait web --timeout=1ns", nil)
	assert.Equal(t, 1, got.code)
}

func TestLogsAreOfTheNewestPods(t *testing.T) {
	u := newUser(t, cluster.Namespace(t))
	cluster.Manager(t, u.namespace)
	app := u.web(t)
	const line = "a simulated container writes this line only"
	out := u.must(t, 0, "kubectl appservice logs web")
	assert.Equal(t, 2, strings.Count(out, line), "of two pods:\n%s", out)
	assert.Contains(t, out, "[pod/web-")
	for flag, want := range map[string]string{"--previous": "no container of web was started again", "--task": "no Job of a release of web has pods"} {
		got := u.run(t, "kubectl appservice logs web "+flag, nil)
		assert.Equal(t, 1, got.code, flag)
		assert.Contains(t, got.stderr, want)
	}
	crash(t, app)
	assert.Contains(t, u.must(t, 0, "kubectl appservice logs web --previous"), line)
}
