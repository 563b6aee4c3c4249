//go:build cluster

package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/test/harness"
)

// The AppService that import writes for a running workload is adopted; since the main container gets another name, that needs the permission to restart.
func TestWhatWasImportedIsAdopted(t *testing.T) {
	t.Parallel()
	u := newUser(t, cluster.Namespace(t))
	cluster.Manager(t, u.namespace)
	u.applyFile(t, "testdata/cluster/import.yaml")
	before := u.running(t)
	u.must(t, 0, "kubectl appservice import deployment/legacy > legacy.yaml")
	said := u.must(t, 1, "kubectl appservice adopt -f legacy.yaml --release legacy --yes")
	for _, words := range []string{
		"cannot take over the existing objects", "! Deployment legacy: its pods would restart: spec.template.spec.containers[nginx]", "! Deployment legacy: its pods would restart: spec.template.spec.containers[app]",
		"keep these fields in the spec, or allow it: --restart", "~ Deployment legacy, unowned", "~ Service legacy, unowned",
	} {
		assert.Contains(t, said, words)
	}
	assert.Empty(t, u.must(t, 0, "kubectl get appservices --output name"), "something was written although it is refused")
	u.must(t, 0, "kubectl appservice adopt -f legacy.yaml --release legacy --restart --yes")
	app := harness.Seed(u.namespace, "legacy")
	cluster.Ready(t, app)
	u.owns(t, app, "deployment service")
	if ended := u.ended(t, before); len(ended) != len(before) {
		t.Errorf("of %d pods, %d restarted: the comparison that counts restarts is blind", len(before), len(ended))
	}
	// With the kept selector, nothing is left to change.
	u.must(t, 0, "kubectl appservice diff legacy")
	if fleet := u.run(t, "kubectl appservice diff --all-namespaces --chart helm-charts/appservice", nil); fleet.code == 2 || strings.Contains(fleet.stdout, "spec.selector") || !strings.Contains(fleet.stdout, "AppService") {
		t.Errorf("of the fleet, it says\n%s%s", fleet.stdout, fleet.stderr)
	}
}

// Obstacles are reported, with exit code 1, and nothing is written.
func TestWhatStandsAgainstAnAdoptionIsSaid(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change string // before adopt
		flags  string
		says   []string
	}{
		"another controller's":     {change: `uid=$(kubectl create configmap boss --output jsonpath={.metadata.uid}); kubectl patch service plain --patch '{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"boss","uid":"'$uid'","controller":true}]}}'`, says: []string{`Service plain is controlled by ConfigMap "boss"`}},
		"of a release":             {change: "kubectl annotate deployment,service plain meta.helm.sh/release-name=theirs", says: []string{`Deployment plain is part of Helm release "theirs", which annotation app.example.com/adopt-release does not name`}},
		"of another release":       {change: "kubectl annotate deployment,service plain meta.helm.sh/release-name=theirs", flags: "--release other", says: []string{`Helm release "theirs"`, `names "other"`}},
		"the name is a release's":  {change: "kubectl create secret generic sh.helm.release.v1.plain.v1 --type helm.sh/release.v1; kubectl label secret sh.helm.release.v1.plain.v1 owner=helm name=plain version=1 status=deployed", says: []string{`Helm release "plain" has the name of the AppService`}},
		"pods would restart":       {change: "kubectl set image deployment/plain app=nginx:1.28", says: []string{"Deployment plain: its pods would restart: spec.template.spec.containers[app].image nginx:1.28 → nginx:1.27"}},
		"pods would end":           {change: "kubectl scale deployment plain --replicas 3", says: []string{"Deployment plain: 1 of its pods would end: spec.replicas 3 → 2"}},
		"a Service stays headless": {change: "kubectl delete service plain; kubectl create service clusterip plain --clusterip None --tcp 80:8080", says: []string{"clusterIP"}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t, cluster.Namespace(t))
			u.must(t, 0, "kubectl apply -f adopt/plain.yaml")
			u.must(t, 0, test.change)
			said := u.must(t, 1, "kubectl appservice adopt -f adopt/plain-app.yaml --yes "+test.flags)
			for _, words := range test.says {
				assert.Contains(t, said, words)
			}
			assert.Empty(t, u.must(t, 0, "kubectl get appservices --output name"), "something was written")
		})
	}
}

// An existing AppService is annotated; one that a tool applies from a source is printed as the source has to have it.
func TestAnAppServiceThatIsThereAdopts(t *testing.T) {
	t.Parallel()
	u := newUser(t, cluster.Namespace(t))
	u.must(t, 0, "kubectl apply -f adopt/plain.yaml -f adopt/plain-app.yaml")
	annotations := "kubectl get appservice plain --output jsonpath='{.metadata.annotations}'"

	var reports []struct {
		Against  []string
		Restarts *bool `json:"restartsPods"`
		Asked    bool
		Objects  []struct{ Kind, Name, Owner string }
	}
	require.NoError(t, json.Unmarshal([]byte(u.must(t, 0, "kubectl appservice adopt plain --output json")), &reports))
	if r := reports[0]; len(r.Against) > 0 || r.Restarts == nil || *r.Restarts || r.Asked || len(r.Objects) != 2 || r.Objects[0].Owner != "unowned" {
		t.Errorf("as JSON it is %+v", r)
	}
	assert.NotContains(t, u.must(t, 0, annotations), "app.example.com/adopt", "it was annotated before anybody agreed")

	u.must(t, 0, "kubectl annotate appservice plain argocd.argoproj.io/tracking-id=shop:app.example.com/AppService:demo/plain")
	got := u.run(t, "kubectl appservice adopt plain --yes", nil)
	source := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(got.stdout), &source.Object); err != nil || got.code != 0 {
		t.Fatalf("it ended with %d, %v: %s%s", got.code, err, got.stdout, got.stderr)
	}
	if len(source.GetAnnotations()) != 1 || source.GetAnnotations()["app.example.com/adopt"] != "true" || source.GetUID() != "" || !strings.Contains(got.stderr, `Argo CD application "shop"`) {
		t.Errorf("its source has to say\n%s\n%s", got.stdout, got.stderr)
	}
	assert.NotContains(t, u.must(t, 0, annotations), "app.example.com/adopt", "it was annotated although it would be taken back")

	u.must(t, 0, "kubectl annotate appservice plain argocd.argoproj.io/tracking-id-")
	cluster.Manager(t, u.namespace)
	before := u.running(t)
	u.must(t, 0, "kubectl appservice adopt plain --yes")
	app := harness.Seed(u.namespace, "plain")
	cluster.Ready(t, app)
	u.owns(t, app, "deployment service")
	assert.Empty(t, u.ended(t, before), "pods restarted")
}
