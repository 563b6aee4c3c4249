//go:build cluster

package integration

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// A restore finds all that an earlier AppService left: each object is named, with the line that takes it over instead of one that deletes data.
func TestEachObjectThatWasLeftIsNamed(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	again := func() *v1.AppService {
		app := harness.Seed(namespace, "web")
		app.Spec.Ports[0].NodePort = nil
		app.Spec.Persistence = &v1.Persistence{Size: resource.MustParse("1Gi"), MountPath: "/data", StorageClassName: ptr.To(harness.StaticVolumes)}
		app.Spec.Config = &v1.Config{Environment: map[string]v1.ConfigValue{"A": "b"}}
		return app
	}
	app := again()
	cluster.CreateReady(t, app)
	cluster.Delete(t, app, client.PropagationPolicy(metav1.DeletePropagationOrphan))
	harness.Eventually(t, "it is gone", func() error { return gone(t, namespace, "web", &v1.AppService{}) })

	app = again()
	cluster.Create(t, app)
	harness.Eventually(t, "all are named", func() error {
		get(t, app, app)
		var kinds int
		for _, problem := range app.Status.Problems {
			if problem.Reason == v1.ReasonResourceExists {
				kinds++
			}
		}
		if kinds < 4 {
			return fmt.Errorf("%d are: %v", kinds, app.Status.Problems)
		}
		return nil
	})
	assert.Contains(t, app.Status.Problems[0].Hint, "kubectl annotate appservice web --namespace="+namespace+" app.example.com/adopt=true")
	refused := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonResourceExists)
	assert.Regexp(t, "; and [0-9]+ more$", refused.Message)
	cluster.Change(t, app, func(app *v1.AppService) { app.Annotations = map[string]string{v1.AnnotationAdopt: "true"} })
	cluster.Ready(t, app)
}
