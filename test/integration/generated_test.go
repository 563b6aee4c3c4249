//go:build cluster

package integration

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/kube/generate"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/harness"
)

// generating is an AppService with two values that the operator makes.
func generating(namespace string) *v1.AppService {
	app := harness.Seed(namespace, "web")
	app.Spec.Ports[0].NodePort = nil
	app.Spec.Config = &v1.Config{Generated: map[string]v1.GeneratedValue{
		"PASSWORD": {}, "KEY": {Bytes: ptr.To[int32](64), Encoding: "hex"}}}
	return app
}

// generatedOf returns the Secret with these values.
func generatedOf(t *testing.T, app *v1.AppService) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{}
	cluster.Get(t, client.ObjectKey{Namespace: app.Namespace, Name: app.Name + "-generated"}, secret)
	return secret
}

// deleteKey deletes a key of the Secret.
func deleteKey(t *testing.T, secret *corev1.Secret, key string) {
	t.Helper()
	cluster.Patch(t, secret, client.RawPatch(types.JSONPatchType, fmt.Appendf(nil, `[{"op":"remove","path":"/data/%s"}]`, key)))
}

// A rotation rolls the pods of an AppService that waits for its turn with a new chart, and does not bring it that chart.
func TestARotationReachesPodsOfAReleaseThatWaits(t *testing.T) {
	t.Parallel()
	namespace, first := cluster.ManagedNamespace(t)
	app, unfit := generating(namespace), harness.Seed(namespace, "unfit")
	unfit.Spec.Ports[0].NodePort = nil
	cluster.CreateReady(t, app)
	cluster.CreateReady(t, unfit)
	first.Stop(t)
	in := &charts{dir: chartWith(t, "templates/refused.yaml", `{{ if eq .Release.Name "unfit" }}{{ fail "no more" }}{{ end }}`)}
	in.next(t)
	manager := cluster.Manager(t, namespace, func(options *operator.Options, _ *harness.Requests) {
		options.ChartDir, options.MaxFailedRollouts = in.dir, 0
	})
	heldBack(t, app, "is halted: ")
	manager.Rest(t)
	before := generatedOf(t, app)
	deleteKey(t, before.DeepCopy(), "KEY")
	harness.Eventually(t, "the pods roll", func() error {
		return want("version", deployment(t, app).Spec.Template.Annotations[v1.AnnotationGeneratedVersion], "web-generated=1.1")
	})
	takes(t, app, 30)
	cluster.Ready(t, app)
	manager.Rest(t)
	assert.NotEqual(t, before.Data["KEY"], generatedOf(t, app).Data["KEY"])
	assert.Equal(t, before.Data["PASSWORD"], generatedOf(t, app).Data["PASSWORD"])
	heldBack(t, app, "is halted: ")
}

func TestRetainedValuesComeBackByAdoption(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := generating(namespace)
	cluster.CreateReady(t, app)
	before := generatedOf(t, app)
	require.NotEmpty(t, before.OwnerReferences)
	for _, retain := range []bool{true, false, true} { // on a live Secret
		cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Config.RetainGenerated = retain })
		harness.Eventually(t, "the owner reference", func() error {
			return want("owner references", len(generatedOf(t, app).OwnerReferences) == 0, retain)
		})
		cluster.Ready(t, app)
	}
	deleteKey(t, generatedOf(t, app), "PASSWORD")
	harness.Eventually(t, "a retained Secret is watched", func() error { return want("keys", len(generatedOf(t, app).Data), 2) })
	before = generatedOf(t, app)
	cluster.Delete(t, app)
	harness.Eventually(t, "the AppService is gone", func() error {
		return gone(t, namespace, "web", &v1.AppService{}, &appsv1.Deployment{})
	})
	assert.Equal(t, before.UID, generatedOf(t, app).UID)

	again := generating(namespace)
	again.Spec.Config.RetainGenerated = true
	cluster.Create(t, again)
	refused := cluster.Condition(t, again, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonResourceExists)
	assert.Contains(t, refused.Message, `Secret "web-generated" exists and is left by an earlier resource of this name (annotation`)
	adopts(t, again)
	cluster.Ready(t, again)
	assert.Equal(t, before.UID, generatedOf(t, app).UID)
	assert.Equal(t, before.Data, generatedOf(t, app).Data)
}

// tlsChart is a chart that has the operator make certificates.
const tlsChart = `apiVersion: v1
kind: Secret
metadata:
  name: {{ include "appservice.name" . }}-tls
  annotations: {app.example.com/generate: "ca:300d,tls:30d"}
type: kubernetes.io/tls
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ include "appservice.name" . }}-second}
spec:
  selector: {matchLabels: {app: second}}
  template:
    metadata: {labels: {app: second}}
    spec:
      containers: [{name: app, image: nginx}]
      volumes: [{name: tls, secret: {secretName: {{ include "appservice.name" . }}-tls, items: [{key: tls.crt, path: tls.crt}, {key: tls.key, path: tls.key}]}}]
`

func TestCertificatesAreRenewed(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t, func(options *operator.Options, _ *harness.Requests) {
		options.ChartDir = chartWith(t, "templates/tls.yaml", tlsChart)
	})
	app := harness.Seed(namespace, "web")
	app.Spec.Ports[0].NodePort = nil
	cluster.CreateReady(t, app)
	secret := &corev1.Secret{}
	cluster.Get(t, client.ObjectKey{Namespace: namespace, Name: "web-tls"}, secret)
	assert.Equal(t, []string{"ca.crt", "ca.key", "tls.crt", "tls.key"}, slices.Sorted(maps.Keys(secret.Data)))
	manager.Rest(t)

	// as if the certificates had been made 25 days ago
	wanted := generate.Of(withKind(secret))
	old, err := generate.Maker{Random: rand.Reader, Now: func() time.Time { return time.Now().Add(-25 * 24 * time.Hour) }}.Fill(
		wanted, nil, generate.Note{}, "1")
	require.NoError(t, err)
	secret.Data = old.Data
	maps.Copy(secret.Annotations, old.Annotations)
	cluster.Update(t, secret)
	harness.Eventually(t, "the certificate is renewed", func() error {
		cluster.Refresh(t, secret)
		return want("as it was", bytes.Equal(secret.Data["tls.crt"], old.Data["tls.crt"]), false)
	})
	assert.Equal(t, old.Data["ca.crt"], secret.Data["ca.crt"])
	assert.Equal(t, old.Data["ca.key"], secret.Data["ca.key"])
	second := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web-second"}}
	cluster.Becomes(t, "the pods roll", second, func() error {
		return want("pods", [2]string{second.Spec.Template.Annotations[v1.AnnotationGeneratedVersion], revisionOfPods(second)},
			[2]string{"web-tls=1.1", "2"})
	})
	cluster.Ready(t, app)
	manager.Rest(t)
	cluster.Refresh(t, second)
	assert.Equal(t, "2", revisionOfPods(second), "they roll once: %v", second.Spec.Template.Annotations)
	assert.Equal(t, "1", revisionOfPods(deployment(t, app)), "others do not")
}

// revisionOfPods is how many versions of its pods a Deployment has had, as far as its controller has seen.
func revisionOfPods(deployment *appsv1.Deployment) string {
	return deployment.Annotations["deployment.kubernetes.io/revision"]
}

// withKind sets the kind, which clients leave out.
func withKind(secret *corev1.Secret) *corev1.Secret {
	out := secret.DeepCopy()
	out.SetGroupVersionKind(kube.SecretKind)
	return out
}
