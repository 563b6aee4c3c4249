//go:build cluster

package integration

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

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

// podRevisions returns how many revisions of pods an AppService has had.
func podRevisions(t *testing.T, app *v1.AppService) int {
	t.Helper()
	sets := &appsv1.ReplicaSetList{}
	cluster.List(t, sets, client.InNamespace(app.Namespace))
	return len(sets.Items)
}

// nowhere checks that no value of a Secret is in anything that the operator writes or says, but in the Secret.
func nowhere(t *testing.T, app *v1.AppService, data map[string][]byte) {
	t.Helper()
	cluster.Refresh(t, app)
	events, records, sets := &eventsv1.EventList{}, &corev1.SecretList{}, &appsv1.DeploymentList{}
	for _, list := range []client.ObjectList{events, sets} {
		cluster.List(t, list, client.InNamespace(app.Namespace))
	}
	cluster.List(t, records, client.InNamespace(app.Namespace), client.MatchingLabels{"owner": "helm"})
	var told []string
	for i := range records.Items {
		told = append(told, unpackedRecord(t, &records.Items[i]))
	}
	for _, each := range []any{app, events, sets, records} {
		text, err := yaml.Marshal(each)
		require.NoError(t, err)
		told = append(told, string(text))
	}
	for key, value := range data {
		for _, text := range told {
			if strings.Contains(text, string(value)) || strings.Contains(text, base64.StdEncoding.EncodeToString(value)) {
				t.Errorf("the value of %s is in %.300s…", key, text)
			}
		}
	}
	assert.Contains(t, strings.Join(told, ""), "app.example.com/generate", "the record does not say which keys are filled")
}

// unpackedRecord returns what is in a release record.
func unpackedRecord(t *testing.T, record *corev1.Secret) string {
	t.Helper()
	packed, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(record.Data["release"])))
	require.NoError(t, err)
	text, err := io.ReadAll(packed)
	require.NoError(t, err)
	return string(text)
}

// Values are there before the first pod, and whatever happens to the AppService and its operator, they stay.
func TestGeneratedValuesAreMadeOnceAndStay(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := generating(namespace)
	cluster.CreateReady(t, app)
	secret := generatedOf(t, app)
	assert.Len(t, secret.Data["PASSWORD"], 32)
	assert.Len(t, secret.Data["KEY"], 128)
	var order []string
	for _, write := range manager.Requests.WritesSince(0) {
		if target := write.Target(); target.Name == "web-generated" || target.Name == "web" && strings.Contains(write.Path, "/deployments/") {
			order = append(order, target.Name)
		}
	}
	assert.Equal(t, []string{"web-generated", "web-generated", "web"}, order, "the Secret is filled before the Deployment is created")
	same := func(what string, sets int) {
		t.Helper()
		cluster.Ready(t, app)
		manager.Rest(t)
		assert.Equal(t, secret.Data, generatedOf(t, app).Data, what)
		assert.Equal(t, sets, podRevisions(t, app), "%s: revisions of pods", what)
	}
	same("after the install", 1)
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:1.29" })
	same("after an upgrade", 2)
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.CommonLabels = map[string]v1.Label{"team": "a"} })
	same("after the Secret was applied with another label", 3)
	manager.Stop(t)
	manager = cluster.Manager(t, namespace)
	same("after a restart of the operator", 3)
	assert.Empty(t, manager.Requests.WritesSince(0), "a restart wrote")
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Config = nil })
	harness.Eventually(t, "the Secret is gone", func() error { return gone(t, namespace, "web-generated", &corev1.Secret{}) })
	nowhere(t, app, secret.Data)
}

func TestAGeneratedValueIsRotatedByDeletingItsKey(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := generating(namespace)
	cluster.CreateReady(t, app)
	before := generatedOf(t, app)
	for i, version := range []string{"1.1", "1.2"} {
		last := generatedOf(t, app)
		deleteKey(t, last.DeepCopy(), "PASSWORD")
		harness.Eventually(t, "the pods roll", func() error {
			return want("version", deployment(t, app).Spec.Template.Annotations[v1.AnnotationGeneratedVersion], "web-generated="+version)
		})
		cluster.Ready(t, app)
		manager.Rest(t)
		now := generatedOf(t, app)
		assert.NotEqual(t, last.Data["PASSWORD"], now.Data["PASSWORD"])
		assert.Len(t, now.Data["PASSWORD"], 32)
		assert.Equal(t, before.Data["KEY"], now.Data["KEY"])
		assert.Equal(t, i+2, podRevisions(t, app), "pods roll once for each")
	}
	eventually(t, app, v1.ReasonDriftCorrected, "Secret web-generated: data.PASSWORD")
	sets, generation := podRevisions(t, app), deployment(t, app).Generation
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Config.Generated["TOKEN"] = v1.GeneratedValue{Encoding: "base64"} })
	harness.Eventually(t, "the key is added", func() error { return want("keys", len(generatedOf(t, app).Data), 3) })
	cluster.Ready(t, app)
	manager.Rest(t)
	assert.Equal(t, sets+1, podRevisions(t, app), "pods roll once, for the new variable")
	assert.Equal(t, generation+1, deployment(t, app).Generation)

	// a value that someone writes is as good as one of the operator
	own := generatedOf(t, app)
	own.Data["PASSWORD"] = []byte("a value of their own")
	cluster.Update(t, own)
	manager.Rest(t)
	assert.Equal(t, "a value of their own", string(generatedOf(t, app).Data["PASSWORD"]))
	assert.Equal(t, sets+1, podRevisions(t, app))
	nowhere(t, app, before.Data)
	nowhere(t, app, generatedOf(t, app).Data)
}

// A rotation reaches the pods of an AppService whose spec is refused as well, once that ends; until then, the key is there again.
func TestAKeyIsMadeAgainWhileTheSpecIsRefused(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := generating(namespace)
	cluster.CreateReady(t, app)
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Config.DatabaseURLFrom = fromSecret("missing").DatabaseURLFrom })
	cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonDependencyMissing)
	manager.Rest(t)
	before := generatedOf(t, app)
	cluster.Delete(t, deployment(t, app))
	deleteKey(t, before.DeepCopy(), "KEY")
	harness.Eventually(t, "the key and the Deployment are there again", func() error {
		if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(app), &appsv1.Deployment{}); err != nil {
			return err
		}
		return want("keys", len(generatedOf(t, app).Data), 2)
	})
	assert.Equal(t, before.Data["PASSWORD"], generatedOf(t, app).Data["PASSWORD"])
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Config.DatabaseURLFrom = nil })
	cluster.Ready(t, app)
	harness.Eventually(t, "the pods have the new version", func() error {
		return want("version", deployment(t, app).Spec.Template.Annotations[v1.AnnotationGeneratedVersion], "web-generated=1.1")
	})
}

func TestALostSecretIsNotFilledInSilence(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := generating(namespace)
	cluster.CreateReady(t, app)
	backup := generatedOf(t, app)
	cluster.Delete(t, backup.DeepCopy())
	lost := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonGeneratedSecretLost)
	assert.Contains(t, lost.Message, "Secret web-generated is gone")
	cluster.Condition(t, app, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonGeneratedSecretLost)
	service := &corev1.Service{}
	get(t, app, service)
	cluster.Delete(t, service)
	harness.Eventually(t, "the rest is repaired", func() error {
		return cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(app), &corev1.Service{})
	})
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:1.29" })
	cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonGeneratedSecretLost)
	manager.Stop(t)
	manager = cluster.Manager(t, namespace)
	manager.Rest(t)
	require.NoError(t, gone(t, namespace, "web-generated", &corev1.Secret{}))
	assert.Equal(t, 1, podRevisions(t, app), "pods restart although they could not start")

	backup.ResourceVersion, backup.UID = "", ""
	cluster.Create(t, backup)
	cluster.Ready(t, app)
	assert.Equal(t, backup.Data, generatedOf(t, app).Data)
	manager.Rest(t)

	cluster.Delete(t, generatedOf(t, app))
	cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonGeneratedSecretLost)
	sets := podRevisions(t, app)
	cluster.Change(t, app, func(app *v1.AppService) {
		metav1.SetMetaDataAnnotation(&app.ObjectMeta, v1.AnnotationGenerateAgain, "other, web-generated")
	})
	cluster.Ready(t, app)
	manager.Rest(t)
	assert.NotEqual(t, backup.Data["KEY"], generatedOf(t, app).Data["KEY"])
	assert.Equal(t, sets+1, podRevisions(t, app), "pods roll once for the new values")
	nowhere(t, app, backup.Data)
	nowhere(t, app, generatedOf(t, app).Data)
}

// A Secret that no pod takes is lost as well. Nothing else waits for it.
func TestALostSecretThatNoPodTakes(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t, func(options *operator.Options, _ *harness.Requests) {
		options.ChartDir = chartWith(t, "templates/token.yaml", `apiVersion: v1
kind: Secret
metadata:
  name: {{ include "appservice.name" . }}-token
  annotations: {app.example.com/generate: "token=24"}
`)
	})
	app := harness.Seed(namespace, "web")
	app.Spec.Ports[0].NodePort = nil
	cluster.CreateReady(t, app)
	manager.Rest(t)
	token := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web-token"}}
	cluster.Delete(t, token.DeepCopy())
	cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonGeneratedSecretLost)
	cluster.Delete(t, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}})
	eventually(t, app, v1.ReasonDriftCorrected, "create Service web")
	require.NoError(t, gone(t, namespace, "web-token", &corev1.Secret{}))
	cluster.Change(t, app, func(app *v1.AppService) {
		metav1.SetMetaDataAnnotation(&app.ObjectMeta, v1.AnnotationGenerateAgain, "web-token")
	})
	cluster.Ready(t, app)
	cluster.Refresh(t, token)
	assert.Len(t, token.Data["token"], 24)
	assert.Equal(t, 1, podRevisions(t, app))
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

// The program is killed with SIGKILL at each write of an install: the first values are the last ones.
func TestGeneratedValuesSurviveSIGKILLAtEveryWrite(t *testing.T) {
	t.Parallel()
	atEachWrite(t, 6, valuesSurvive)
}

// valuesSurvive reports whether an install has as many writes. The program is killed at that one, and another one completes the install.
func valuesSurvive(t *testing.T, proxy *harness.Proxy, namespace string, write int, committed bool) bool {
	t.Helper()
	app := generating(namespace)
	app.Name = fmt.Sprintf("web-%d", write)
	crash := &harness.Crash{Write: write, Committed: committed}
	if !diesAt(t, proxy, crash, namespace, func() { cluster.Create(t, app) }, func() error { return isRunning(t, app) }) {
		return false
	}
	first := &corev1.Secret{}
	err := cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: app.Name + "-generated"}, first)
	healer := healed(t, proxy, app)
	installedOnce(t, app)
	last := generatedOf(t, app)
	assert.Len(t, last.Data, 2)
	assert.Equal(t, "1", last.Annotations[v1.AnnotationGeneratedVersion])
	if err == nil {
		assert.Equal(t, first.Data, last.Data, "a Secret is created with its values")
	}
	healer.Kill()
	return true
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
	harness.Eventually(t, "the pods roll", func() error {
		second := &appsv1.Deployment{}
		cluster.Get(t, client.ObjectKey{Namespace: namespace, Name: "web-second"}, second)
		return want("version", second.Spec.Template.Annotations[v1.AnnotationGeneratedVersion], "web-tls=1.1")
	})
	cluster.Ready(t, app)
	manager.Rest(t)
	assert.Equal(t, 3, podRevisions(t, app), "those of web, and two of web-second")
}

// withKind sets the kind, which clients leave out.
func withKind(secret *corev1.Secret) *corev1.Secret {
	out := secret.DeepCopy()
	out.SetGroupVersionKind(kube.SecretKind)
	return out
}
