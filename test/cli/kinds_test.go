//go:build cluster

package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/example/appservice-operator/test/harness"
)

// newJob makes the AppJob migrate of the samples, whose Job runs once, and returns the name of that.
func newJob(t *testing.T, u *user) string {
	t.Helper()
	u.applyFile(t, root+"/config/samples/app_v1_appjob.yaml")
	return u.anotherJob(t, "")
}

// anotherJob waits until one Job exists, which is not the earlier one, and returns its name.
func (u *user) anotherJob(t *testing.T, before string) (name string) {
	t.Helper()
	harness.Eventually(t, "another Job than "+before, func() error {
		names := strings.Fields(u.must(t, 0, "kubectl get jobs -o name"))
		if len(names) != 1 || names[0] == before {
			return fmt.Errorf("there are %v", names)
		}
		name = names[0]
		return nil
	})
	return name
}

// A kind without a Go type is undone like an AppService.
func TestUndoOfAnotherKind(t *testing.T) {
	t.Parallel()
	u := newUser(t, cluster.Namespace(t))
	cluster.Manager(t, u.namespace)
	first := newJob(t, u)
	image := func() string { return u.must(t, 0, "kubectl get appjob migrate -o jsonpath={.spec.image}") }
	u.must(t, 0, `kubectl patch appjob migrate --type merge -p '{"spec":{"image":"nginx:1.30"}}' --field-manager ada`)
	second := u.anotherJob(t, first)
	u.says(t, "kubectl appservice history appjob/migrate", "1  ", "superseded", "2  ", "deployed", "appjob-", "ada", "spec.image nginx:1.29 → nginx:1.30")
	if said := u.must(t, 0, "kubectl appservice undo appjob/migrate --dry-run=server"); !strings.Contains(said, "spec.image nginx:1.30 → nginx:1.29") || image() != "nginx:1.30" {
		t.Errorf("it says %q, and the image is %s then", said, image())
	}
	if said := u.must(t, 0, "kubectl appservice undo appjob/migrate --yes"); !strings.Contains(said, "appjob/migrate has the spec of revision 1 again") || image() != "nginx:1.29" {
		t.Errorf("it says %q, and the image is %s then", said, image())
	}
	assert.EqualValues(t, first, u.anotherJob(t, second))
	u.says(t, "kubectl appservice history appjob/migrate", "3  ", "kubectl-appservice", "spec.image nginx:1.30 → nginx:1.29")
}

func TestRestartOfAnAppJobRunsItAgain(t *testing.T) {
	t.Parallel()
	u := newUser(t, cluster.Namespace(t))
	cluster.Manager(t, u.namespace)
	before := newJob(t, u)
	assert.EqualValues(t, "appjob/migrate restarted\n", u.must(t, 0, "kubectl appservice restart appjob/migrate"))
	u.anotherJob(t, before)
}

// Only AppServices are paused. For other kinds, the message names the alternative; for AppJob, its command works.
func TestPauseOfAnotherKindNamesWhatItHasInstead(t *testing.T) {
	t.Parallel()
	u := newUser(t, cluster.Namespace(t))
	u.applyFile(t, root+"/config/samples/app_v1_appjob.yaml")
	suspended := func() string { return u.must(t, 0, "kubectl get appjob migrate -o jsonpath={.spec.suspend}") }
	for _, step := range []struct{ verb, done, suspended string }{{"pause", "paused", "true"}, {"resume", "resumed", ""}} {
		for _, dry := range []string{"", " --dry-run=client"} {
			got := u.run(t, "kubectl appservice "+step.verb+" appjob/migrate"+dry, nil)
			refusal, remedy, _ := strings.Cut(strings.TrimSpace(got.stderr), " by kubectl ")
			want := "error: cannot " + step.verb + " appjob/migrate: the operator honors spec.paused of AppServices only. " +
				"kubectl explain appjob.spec lists the fields that its chart declares; a kind with spec.suspend, such as AppJob, is " + step.done
			if got.code != 2 || got.stdout != "" || refusal != want {
				t.Errorf("got %d: %s", got.code, got.stderr)
			}
			if dry == "" {
				u.must(t, 0, "kubectl "+remedy)
			}
			if is := suspended(); dry == "" && is != step.suspended {
				t.Errorf("after kubectl %s, spec.suspend is %q", remedy, is)
			}
		}
	}
}
