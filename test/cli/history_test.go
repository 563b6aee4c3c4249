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
	if got := u.run(t, "kubectl appservice undo web </dev/null", nil); got.code != 2 || !strings.Contains(got.stderr, "nothing was written: nobody can be asked") || image() != "nginx:1.28" {
		t.Errorf("nobody was asked: %d, %s", got.code, got.stderr)
	}
	if said := u.must(t, 0, "kubectl appservice undo web --yes"); !strings.Contains(said, "appservice/web has the spec of revision 1 again") || image() != before {
		t.Errorf("it says %q, and the image is %s then", said, image())
	}
	u.says(t, "kubectl appservice history web", "3  ", "kubectl-appservice")
	assert.Contains(t, u.must(t, 0, "kubectl appservice undo web --to-revision 1"), "already")
}

// What a GitOps tool applies is changed at its source.
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
