//go:build cluster

package integration

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	helmtime "helm.sh/helm/v3/pkg/time"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

func TestAForeignObjectOfTheNameIsLeftAlone(t *testing.T) {
	t.Parallel()
	foreign := map[string]metav1.ObjectMeta{
		"plain": {Name: "web"},
		"with helm's metadata": {
			Name:        "web",
			Labels:      map[string]string{"app.kubernetes.io/managed-by": "Helm"},
			Annotations: map[string]string{"meta.helm.sh/release-name": "web"},
		},
		"with our cache label": {Name: "web", Labels: map[string]string{v1.LabelManaged: "true"}},
		"of another controller": {Name: "web", OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "v1", Kind: "ConfigMap", Name: "boss", Controller: new(true),
		}}},
	}
	for name, meta := range foreign {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace, manager := cluster.ManagedNamespace(t)
			boss := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "boss"}}
			cluster.Create(t, boss)
			meta.Namespace = namespace
			if len(meta.Annotations) > 0 {
				meta.Annotations["meta.helm.sh/release-namespace"] = namespace
			}
			if len(meta.OwnerReferences) > 0 {
				meta.OwnerReferences[0].UID = boss.UID
			}
			service := &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{
				Selector: map[string]string{"app": "theirs"}, Ports: []corev1.ServicePort{{Port: 1234}},
			}}
			cluster.Create(t, service)

			app := harness.Seed(namespace, "web")
			mark := manager.Requests.Mark()
			cluster.Create(t, app)
			condition := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonResourceExists)
			if !strings.Contains(condition.Message, `Service "web"`) {
				t.Errorf("the message does not name the object: %s", condition.Message)
			}
			cluster.Condition(t, app, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonResourceExists)
			eventually(t, app, v1.ReasonResourceExists, `Service "web"`)
			for _, write := range manager.Requests.WritesSince(mark) {
				if !strings.HasSuffix(write.Path, "/status") {
					t.Errorf("something was written: %s", write)
				}
			}
			cluster.Delete(t, app)
			harness.Eventually(t, "the AppService is gone", func() error { return gone(t, namespace, "web", &v1.AppService{}) })
			after := &corev1.Service{}
			get(t, app, after)
			if after.UID != service.UID || after.ResourceVersion != service.ResourceVersion {
				t.Errorf("the foreign Service was touched: %s %s, want %s %s", after.UID, after.ResourceVersion, service.UID, service.ResourceVersion)
			}
		})
	}
}

func TestARefusalHealsWhenTheForeignObjectGoes(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	foreign := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 1}}}}
	cluster.Create(t, foreign)
	app := harness.Seed(namespace, "web")
	cluster.Create(t, app)
	cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonResourceExists)
	cluster.Delete(t, foreign)
	cluster.Ready(t, app)
}

func TestAForeignHelmReleaseOfTheNameIsLeftAlone(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	clients, err := kubernetes.NewForConfig(cluster.Config)
	require.NoError(t, err)
	records := driver.NewSecrets(clients.CoreV1().Secrets(namespace))
	theirs := &helmrelease.Release{
		Name: "web", Namespace: namespace, Version: 1, Chart: &chart.Chart{Metadata: &chart.Metadata{Name: "theirs", Version: "1.0.0"}},
		Info: &helmrelease.Info{Status: helmrelease.StatusDeployed, FirstDeployed: helmtime.Now(), LastDeployed: helmtime.Now()},
	}
	require.NoError(t, records.Create("sh.helm.release.v1.web.v1", theirs))
	app := harness.Seed(namespace, "web")
	cluster.Create(t, app)
	condition := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonResourceExists)
	if !strings.Contains(condition.Message, `Helm release "web"`) {
		t.Errorf("the message does not name the release: %s", condition.Message)
	}
	assert.NoError(t, gone(t, namespace, "web", &appsv1.Deployment{}, &corev1.Service{}))
	cluster.Delete(t, app)
	harness.Eventually(t, "the AppService is gone", func() error { return gone(t, namespace, "web", &v1.AppService{}) })
	record := &corev1.Secret{}
	if err := cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "sh.helm.release.v1.web.v1"}, record); err != nil {
		t.Errorf("their release is gone: %v", err)
	}
}
