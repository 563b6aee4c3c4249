//go:build cluster

package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	helmtime "helm.sh/helm/v3/pkg/time"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// manifest is the one in Helm's record of a release that an AppService adopts, with one object more.
const manifest = `---
apiVersion: v1
kind: Service
metadata: {name: web}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: extra}
`

// ofHelm is the metadata that Helm adds to objects of a release.
func ofHelm(namespace, release string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Labels:      map[string]string{"app.kubernetes.io/managed-by": "Helm"},
		Annotations: map[string]string{"meta.helm.sh/release-name": release, "meta.helm.sh/release-namespace": namespace},
	}
}

// helms records a release of two revisions as Helm does.
func helms(t *testing.T, namespace, name string, last helmrelease.Status) {
	t.Helper()
	clients, err := kubernetes.NewForConfig(cluster.Config)
	require.NoError(t, err)
	records := driver.NewSecrets(clients.CoreV1().Secrets(namespace))
	for revision, status := range []helmrelease.Status{helmrelease.StatusSuperseded, last} {
		made := &helmrelease.Release{
			Name: name, Namespace: namespace, Version: revision + 1, Manifest: manifest, Chart: &chart.Chart{Metadata: &chart.Metadata{Name: "theirs", Version: "1.0.0"}},
			Info: &helmrelease.Info{Status: status, FirstDeployed: helmtime.Now(), LastDeployed: helmtime.Now()},
		}
		require.NoError(t, records.Create(fmt.Sprintf("sh.helm.release.v1.%s.v%d", name, revision+1), made))
	}
}

func TestAHelmReleaseIsAdoptedAndHelmForgetsIt(t *testing.T) {
	t.Parallel()
	for name, release := range map[string]string{"of another name": "theirs", "of the same name": "web"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace, label := cluster.Namespace(t), map[string]string{"app.kubernetes.io/name": "theirs", "app.kubernetes.io/instance": release}
			was := byHand(t, namespace, label, ofHelm(namespace, release))
			helms(t, namespace, release, helmrelease.StatusDeployed)
			helms(t, namespace, "bystander", helmrelease.StatusDeployed)
			extra := &corev1.ConfigMap{ObjectMeta: ofHelm(namespace, release)}
			extra.Namespace, extra.Name = namespace, "extra"
			cluster.Create(t, extra)
			pods := whatRuns(t, namespace)
			cluster.Manager(t, namespace)
			app := seedToAdopt(namespace)
			app.Annotations[v1.AnnotationAdoptRelease] = release
			cluster.CreateReady(t, app)
			adopted(t, app, was, label)
			eventually(t, app, v1.ReasonLeftOver, "ConfigMap extra")
			harness.Eventually(t, "Helm knows nothing of the release", func() error {
				return want("records", recordsOf(t, namespace), "bystander.v1 bystander.v2 web.v1")
			})
			if now := whatRuns(t, namespace); !slices.Equal(now, pods) {
				t.Errorf("pods or ReplicaSets were replaced: %v, want %v", now, pods)
			}
			stays := &corev1.ConfigMap{}
			if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(extra), stays); err != nil || stays.ResourceVersion != extra.ResourceVersion {
				t.Errorf("what is not rendered was touched: %v", err)
			}
		})
	}
}

// recordsOf lists the release records of a namespace.
func recordsOf(t *testing.T, namespace string) string {
	t.Helper()
	list := &corev1.SecretList{}
	cluster.List(t, list, client.InNamespace(namespace), client.MatchingLabels{"owner": "helm"})
	var names []string
	for _, secret := range list.Items {
		names = append(names, secret.Name[len("sh.helm.release.v1."):])
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// While a Helm operation on a release is pending, and while no annotation names it, nothing of it is adopted.
func TestAHelmReleaseIsNotAdoptedWhileHelmIsAtWork(t *testing.T) {
	t.Parallel()
	namespace, label := cluster.Namespace(t), map[string]string{"app": "web"}
	byHand(t, namespace, label, ofHelm(namespace, "theirs"))
	helms(t, namespace, "theirs", helmrelease.StatusPendingUpgrade)
	cluster.Manager(t, namespace)
	app := seedToAdopt(namespace)
	app.Annotations[v1.AnnotationAdoptRelease] = "theirs"
	cluster.Create(t, app)
	condition := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonAdoptionRefused)
	if !strings.Contains(condition.Message, "pending-upgrade") {
		t.Errorf("the message does not say what Helm does: %s", condition.Message)
	}
	assert.NoError(t, want("records", recordsOf(t, namespace), "theirs.v1 theirs.v2"))
}

// A release of the AppService's name that no annotation names is in the way of its record: that is found before anything is adopted.
func TestNothingIsAdoptedWhileAReleaseHasTheName(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	was := byHand(t, namespace, map[string]string{"app": "web"}, metav1.ObjectMeta{})
	helms(t, namespace, "web", helmrelease.StatusDeployed)
	cluster.Manager(t, namespace)
	app := seedToAdopt(namespace)
	cluster.Create(t, app)
	condition := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonAdoptionRefused)
	if !strings.Contains(condition.Message, `Helm release "web" has the name of the AppService`) {
		t.Errorf("the message does not say what is in the way: %s", condition.Message)
	}
	now := &corev1.Service{}
	get(t, app, now)
	if now.ResourceVersion != was.service.ResourceVersion {
		t.Error("the Service was written")
	}
	cluster.Change(t, app, func(app *v1.AppService) { app.Annotations[v1.AnnotationAdoptRelease] = "web" })
	cluster.Ready(t, app)
}
