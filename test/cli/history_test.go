//go:build cluster

package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Earlier releases can be inspected and restored.
func TestHistoryAndUndo(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	u := newUser(t, namespace)
	u.web(t)
	image := func() string {
		return strings.TrimSpace(u.must(t, 0, "kubectl get appservice web -o jsonpath='{.spec.image}'"))
	}
	before := image()
	u.must(t, 0, `kubectl patch appservice web --type merge -p '{"spec":{"image":"nginx:1.28"}}' --field-manager ada`)
	u.says(t, "kubectl appservice history web", "REVISION", "1  ", "superseded", "2  ", "deployed", "ada", fmt.Sprintf("spec.image %s → nginx:1.28 (restarts pods)", before))
	u.says(t, "kubectl appservice history web --revision 2", "image: nginx:1.28")
	var list []map[string]any
	if err := yaml.Unmarshal([]byte(u.must(t, 0, "kubectl appservice history web -o yaml")), &list); err != nil || len(list) != 2 || !strings.Contains(fmt.Sprint(list[1]["changedBy"]), "ada") {
		t.Errorf("as YAML it is %v: %v", list, err)
	}
	if got := u.run(t, "kubectl appservice history web --revision 7", nil); got.code != 2 || !strings.Contains(got.stderr, "revision 7 of web is not kept") {
		t.Errorf("a revision that is not kept: %d, %s", got.code, got.stderr)
	}

	for _, dry := range []string{"--dry-run", "--dry-run=server"} {
		if said := u.must(t, 0, "kubectl appservice undo web "+dry); !strings.Contains(said, "spec.image nginx:1.28 → "+before) || image() != "nginx:1.28" {
			t.Errorf("%s says %q, and the image is %s then", dry, said, image())
		}
	}
	if got := u.run(t, "kubectl appservice undo web </dev/null", nil); got.code != 2 || !strings.Contains(got.stderr, "nothing was written: stdin is not a terminal") || image() != "nginx:1.28" {
		t.Errorf("nobody was asked: %d, %s", got.code, got.stderr)
	}
	if said := u.must(t, 0, "kubectl appservice undo web --yes"); !strings.Contains(said, "appservice/web has the spec of revision 1 again") || image() != before {
		t.Errorf("it says %q, and the image is %s then", said, image())
	}
	u.says(t, "kubectl appservice history web", "3  ", "kubectl-appservice")
	assert.Contains(t, u.must(t, 0, "kubectl appservice undo web --to-revision 1"), "already")
}

// The release task of a version that is gone back to does not run again, unless that is asked for.
func TestUndoAndReleaseTasks(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	u := newUser(t, namespace)
	u.web(t)
	change := func(image string) {
		u.must(t, 0, fmt.Sprintf(`kubectl patch appservice web --type merge -p '{"spec":{"image":%q,"release":{"command":["bin/migrate"]}}}'`, image))
		u.must(t, 0, "kubectl wait appservice/web --timeout 2m --for jsonpath='{.status.image}'="+image)
		u.must(t, 0, "kubectl wait appservice/web --timeout 2m --for condition=Ready")
	}
	change("shop:1")
	change("shop:2")
	skipped := func() string {
		return u.must(t, 0, `kubectl get appservice web -o jsonpath='{.metadata.annotations.app\.example\.com/skip-release-task}'`)
	}
	u.says(t, "kubectl appservice tree web", "Job web-release-", "[before]")
	u.says(t, "kubectl appservice history web --revision 3", "Job web-release-", ": Complete")
	u.must(t, 0, "kubectl get appservice web -o json | sed s/shop:2/shop:3/ > next.yaml")
	assert.Contains(t, u.must(t, 1, "kubectl appservice diff -f next.yaml --live"), "  ! the release task WILL run: bin/migrate\n")
	u.must(t, 0, "kubectl get appservice web -o json | sed 's/\"size\": [0-9]*/\"size\": 7/' > larger-web.yaml")
	assert.Contains(t, u.must(t, 1, "kubectl appservice diff -f larger-web.yaml --live"), "    the release task does not run\n")

	const rests = "the release task does not run again (--run-task runs it); what a task has done, as the migration of a database, is not undone"
	assert.Contains(t, u.must(t, 0, "kubectl appservice undo web --dry-run=server"), rests)
	assert.Empty(t, skipped())
	assert.Contains(t, u.must(t, 0, "kubectl appservice undo web --yes"), rests)
	assert.Len(t, skipped(), 24)
	u.must(t, 0, "kubectl wait appservice/web --timeout 2m --for jsonpath='{.status.runs[0].result}'=Skipped")
	u.must(t, 0, "kubectl wait appservice/web --timeout 2m --for condition=Ready")
	assert.Contains(t, u.must(t, 0, "kubectl appservice undo web --to-revision 3 --run-task --yes"), "the release task runs before anything else changes")
	assert.Empty(t, skipped())
	u.must(t, 0, "kubectl wait appservice/web --timeout 2m --for jsonpath='{.status.runs[0].result}'=Complete")
}

// An AppService that a GitOps tool applies is changed at its source.
func TestUndoPrintsWhatASourceHasToSay(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	u := newUser(t, namespace)
	u.web(t)
	u.must(t, 0, `kubectl patch appservice web --type merge -p '{"spec":{"image":"nginx:1.28"}}'`)
	u.must(t, 0, "kubectl annotate appservice web argocd.argoproj.io/tracking-id=shop:app.example.com/AppService:demo/web")
	u.says(t, "kubectl appservice history web", "2  ", "nginx:1.28")
	got := u.run(t, "kubectl appservice undo web", nil)
	if got.code != 0 || !strings.Contains(got.stderr, `appservice/web is applied by Argo CD application "shop"`) {
		t.Errorf("it ended with %d: %s", got.code, got.stderr)
	}
	source := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(got.stdout), &source.Object))
	image, _, _ := unstructured.NestedString(source.Object, "spec", "image")
	if image == "nginx:1.28" || image == "" || source.GetUID() != "" || len(source.GetAnnotations()) > 0 || source.Object["status"] != nil {
		t.Errorf("it prints\n%s", got.stdout)
	}
	assert.EqualValues(t, "nginx:1.28", u.must(t, 0, "kubectl get appservice web -o jsonpath='{.spec.image}'"))
}
