package importer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	aWorkload = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: 'web:1'}]}}}\n"
	aHook     = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: migrate, annotations: {helm.sh/hook: 'pre-install,pre-upgrade'}}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: m, image: 'web:1', command: [migrate]}]}}}\n"
)

// TestWhichHookBecomesTheReleaseTask: one that runs before anything changes, and has the image of one workload and a command.
func TestWhichHookBecomesTheReleaseTask(t *testing.T) {
	t.Parallel()
	change := func(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }
	second := change(aWorkload, "name: web}", "name: api}", "app: web", "app: api")
	for name, test := range map[string]struct {
		manifest string
		command  string // of the first AppService; empty for none
		note     string
	}{
		"a hook before upgrades":    {aWorkload + "---\n" + aHook, "migrate", "Job migrate: it becomes spec.release"},
		"no hook":                   {aWorkload + "---\n" + change(aHook, ", annotations: {helm.sh/hook: 'pre-install,pre-upgrade'}", ""), "", "kind: AppJob"},
		"a hook after upgrades":     {aWorkload + "---\n" + change(aHook, "pre-install,pre-upgrade", "post-upgrade"), "", "the annotation app.example.com/stage: after takes its place"},
		"another image":             {aWorkload + "---\n" + change(aHook, "web:1", "web:2"), "", "the annotation app.example.com/stage: before takes its place"},
		"no command":                {aWorkload + "---\n" + change(aHook, ", command: [migrate]", ""), "", "Job migrate: it has no command"},
		"two containers":            {aWorkload + "---\n" + change(aHook, "[migrate]}", "[migrate]}, {name: second, image: 'web:1'}"), "", "the annotation app.example.com/stage: before takes its place"},
		"two workloads of an image": {aWorkload + "---\n" + second + "---\n" + aHook, "", "the annotation app.example.com/stage: before takes its place"},
		"another workload":          {aWorkload + "---\n" + change(second, "web:1", "api:1") + "---\n" + aHook, "migrate", "Job migrate: it becomes spec.release"},
		"two hooks, by weight":      {aWorkload + "---\n" + change(aHook, "name: migrate,", "name: later,", "helm.sh/hook:", "helm.sh/hook-weight: '1', helm.sh/hook:", "[migrate]", "[later]") + "---\n" + aHook, "migrate", "Job later: an AppService has one release task"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := imported(t, []byte(test.manifest))
			command, _, _ := unstructured.NestedStringSlice(made.Results[0].Resource.Object, "spec", "release", "command")
			require.Equal(t, test.command, strings.Join(command, " "))
			require.Contains(t, printed(t, made), test.note)
		})
	}
}

// TestATaskKeepsHowOftenAndHowLongItIsTried: a Job without backoffLimit is tried seven times.
func TestATaskKeepsHowOftenAndHowLongItIsTried(t *testing.T) {
	t.Parallel()
	made := imported(t, []byte(aWorkload+"---\n"+aHook))
	retries, _, _ := unstructured.NestedInt64(made.Results[0].Resource.Object, "spec", "release", "retries")
	require.EqualValues(t, 6, retries)
	require.Contains(t, printed(t, made), "Job migrate spec.activeDeadlineSeconds: a release task is ended after an hour; set spec.release.timeoutSeconds if it takes longer")
	made = imported(t, []byte(aWorkload+"---\n"+strings.Replace(aHook, "spec: {template", "spec: {backoffLimit: 0, activeDeadlineSeconds: 60, template", 1)))
	release, _, _ := unstructured.NestedMap(made.Results[0].Resource.Object, "spec", "release")
	require.Equal(t, map[string]any{"command": []any{"migrate"}, "timeoutSeconds": int64(60)}, release)
}
