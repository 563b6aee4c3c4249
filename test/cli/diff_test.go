//go:build cluster

package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// otherChart is the chart, except for a field of the pods.
const otherChart = `cp -rL helm-charts/appservice next && ` +
	`sed -i 's/^\( *\)terminationMessagePolicy.*/&\n\1terminationMessagePath: \/dev\/other/' next/templates/_pod.tpl`

func TestDiffAgainstTheCluster(t *testing.T) {
	u := newUser(t, cluster.Namespace(t))
	cluster.Manager(t, u.namespace)
	u.web(t)
	viewer := tenant(t, u, "view", "appservice_viewer_role.yaml")
	u.must(t, 0, otherChart)
	nothing := "AppService " + u.namespace + "/web: nothing changes\n"
	restarts := "terminationMessagePath (none) → /dev/other; restarts pods\n"
	u.says(t, "kubectl appservice diff web", nothing) // once it is recorded, too
	for _, row := range []struct {
		line   string
		code   int
		stdout []string
		stderr string
	}{
		{"kubectl appservice diff -f app.yaml --live", 0, []string{nothing}, ""},
		{"sed 's/nginx:1.27/nginx:1.28/; s/port: 80/port: 81/' app.yaml | kubectl appservice diff -f - --live", 1,
			[]string{"; pods WILL restart\n  ! pods of Deployment web WILL restart\n  ! Service web: port 80 is removed\n"}, ""},
		{"sed 's/name: web/name: other/' app.yaml | kubectl appservice diff -f - --live", 1, []string{"/other: 4 objects change; no pod restarts\n", "  + Deployment other\n"}, ""},
		{"kubectl appservice diff web --chart next", 1, []string{restarts}, ""},
		{"kubectl appservice diff -A --chart next", 1, []string{" restart pods\n", restarts}, ""},
		{"kubectl appservice diff -f app.yaml --live --as=" + viewer, 0, []string{nothing}, "release records may not be read: the current spec is rendered again instead"},
		{"kubectl appservice diff web --chart next --as=" + viewer, 1, []string{}, "release records may not be read"},
		{"kubectl appservice diff none", 2, nil, `"none" not found`},
	} {
		got := u.run(t, row.line, nil)
		if got.code != row.code || !strings.Contains(got.stderr, row.stderr) {
			t.Errorf("%s\nended with %d, want %d\n%s%s", row.line, got.code, row.code, got.stdout, got.stderr)
		}
		for _, want := range row.stdout {
			assert.Contains(t, got.stdout, want, "%s\ndoes not say %q:\n%s", row.line, want, got.stdout)
		}
	}
}

// The API server refuses what diff predicts that it refuses, and accepts the rest.
func TestTheAPIServerRefusesWhatIsForetold(t *testing.T) {
	namespace := cluster.Namespace(t)
	const (
		pods = "template: {metadata: {labels: {app: web}}, spec: {restartPolicy: POLICY, containers: [{name: app, image: nginx}]}}"
		head = "metadata: {name: web}, "
	)
	running, ending := strings.Replace(pods, "POLICY", "Always", 1), strings.Replace(pods, "POLICY", "Never", 1)
	for name, test := range map[string]struct{ object, from, to string }{
		"the selector of a Deployment":        {"{apiVersion: apps/v1, kind: Deployment, " + head + "spec: {selector: {matchLabels: {app: web}SELECTOR}, " + running + "}}", "SELECTOR", ", matchExpressions: [{key: app, operator: Exists}]"},
		"the replicas of a Deployment":        {"{apiVersion: apps/v1, kind: Deployment, " + head + "spec: {replicas: 0, selector: {matchLabels: {app: web}}, " + running + "}}", "replicas: 0", "replicas: 1"},
		"the selector of a DaemonSet":         {"{apiVersion: apps/v1, kind: DaemonSet, " + head + "spec: {selector: {matchLabels: {app: web}SELECTOR}, " + running + "}}", "SELECTOR", ", matchExpressions: [{key: app, operator: Exists}]"},
		"the Service of a StatefulSet":        {"{apiVersion: apps/v1, kind: StatefulSet, " + head + "spec: {serviceName: a, selector: {matchLabels: {app: web}}, " + running + "}}", "serviceName: a", "serviceName: b"},
		"how a StatefulSet starts its pods":   {"{apiVersion: apps/v1, kind: StatefulSet, " + head + "spec: {podManagementPolicy: Parallel, selector: {matchLabels: {app: web}}, " + running + "}}", "Parallel", "OrderedReady"},
		"how a StatefulSet updates its pods":  {"{apiVersion: apps/v1, kind: StatefulSet, " + head + "spec: {updateStrategy: {type: OnDelete}, selector: {matchLabels: {app: web}}, " + running + "}}", "OnDelete", "RollingUpdate"},
		"what a StatefulSet does with claims": {"{apiVersion: apps/v1, kind: StatefulSet, " + head + "spec: {persistentVolumeClaimRetentionPolicy: {whenDeleted: Retain, whenScaled: Retain}, selector: {matchLabels: {app: web}}, " + running + "}}", "whenScaled: Retain", "whenScaled: Delete"},
		"the pods of a Job":                   {"{apiVersion: batch/v1, kind: Job, " + head + "spec: {" + ending + "}}", "image: nginx", "image: caddy"},
		"how often a Job is tried":            {"{apiVersion: batch/v1, kind: Job, " + head + "spec: {backoffLimit: 1, " + ending + "}}", "backoffLimit: 1", "backoffLimit: 2"},
		"how many pods a Job has at a time":   {"{apiVersion: batch/v1, kind: Job, " + head + "spec: {parallelism: 1, " + ending + "}}", "parallelism: 1", "parallelism: 2"},
		"the class of a claim":                {"{apiVersion: v1, kind: PersistentVolumeClaim, " + head + "spec: {storageClassName: a, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}", "storageClassName: a", "storageClassName: b"},
		"a claim that shrinks":                {"{apiVersion: v1, kind: PersistentVolumeClaim, " + head + "spec: {storageClassName: a, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}", "1Gi", "1Mi"},
		"a Service that becomes headless":     {"{apiVersion: v1, kind: Service, " + head + "spec: {ports: [{port: 80}] ADDRESS}}", " ADDRESS", ", clusterIP: None"},
		"another port of a Service":           {"{apiVersion: v1, kind: Service, " + head + "spec: {ports: [{port: 80}]}}", "port: 80", "port: 81"},
		"the type of a Secret":                {"{apiVersion: v1, kind: Secret, " + head + "type: example.com/a}", "example.com/a", "example.com/b"},
		"an immutable ConfigMap":              {"{apiVersion: v1, kind: ConfigMap, " + head + "immutable: true, data: {a: b}}", "a: b", "a: c"},
		"the role of a binding":               {"{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, " + head + "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}}", "name: view", "name: edit"},
	} {
		t.Run(name, func(t *testing.T) {
			old, rendered := parsed(t, namespace, name, strings.Replace(test.object, test.from, before(test.from), 1)), parsed(t, namespace, name, strings.Replace(test.object, test.from, test.to, 1))
			apply := func(object *unstructured.Unstructured, options ...client.ApplyOption) error {
				return cluster.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object.DeepCopy()), append(options, client.FieldOwner("test"), client.ForceOwnership)...)
			}
			require.NoError(t, apply(old))
			err := apply(rendered, client.DryRunAll)
			foretold := plan.Immutable(old, rendered)
			if refused := apierrors.IsInvalid(err) || apierrors.IsForbidden(err); refused != (foretold != nil) || err != nil && !refused {
				t.Errorf("foretold is %v, the API server says %v", foretold, err)
			}
		})
	}
}

// before is what stands for a placeholder in the object as it was: nothing.
func before(from string) string {
	if strings.ToUpper(from) == from {
		return ""
	}
	return from
}

func parsed(t *testing.T, namespace, name, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	require.NoError(t, utilyaml.Unmarshal([]byte(text), &object.Object))
	object.SetNamespace(namespace)
	object.SetName(strings.ReplaceAll(strings.ToLower(name), " ", "-"))
	return object
}
