//go:build cluster

package integration

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
)

// A foreign object of the name is read, whatever its kind, and reported as being in the way.
func TestObjectsThatHaveTheName(t *testing.T) {
	t.Parallel()
	withForeignKinds(t)
	const cronJob = "{schedule: '0 3 1 1 *', jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: app, image: x}]}}}}}"
	for file, foreign := range map[string]string{
		"appservice_autoscaling.yaml":   "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nspec: {maxReplicas: 1, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: none}}",
		"appservice_networkpolicy.yaml": "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nspec: {podSelector: {}}",
		"appservice_monitoring.yaml":    "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nspec: {selector: {}, endpoints: []}",
		"appjob_schedule.yaml":          "apiVersion: batch/v1\nkind: CronJob\nspec: " + cronJob,
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			namespace := cluster.Namespace(t)
			sample := documents(t, filepath.Join(samples, file))[0]
			sample.SetNamespace(namespace)
			theirs := &unstructured.Unstructured{}
			require.NoError(t, yaml.Unmarshal([]byte(foreign), &theirs.Object))
			theirs.SetNamespace(namespace)
			theirs.SetName(sample.GetName())
			for _, object := range []client.Object{theirs, sample} {
				cluster.Create(t, object)
			}
			cluster.Manager(t, namespace)
			cluster.Becomes(t, "it is in the way", sample, func() error {
				return stands(sample, map[string]string{v1.ConditionReady: "False " + v1.ReasonResourceExists})
			})
		})
	}
}
