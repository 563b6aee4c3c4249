//go:build cluster

package integration

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
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

// tlsChart is a chart that once had the operator make certificates.
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

// withCertificates has the version before make certificates for an AppService, and returns it with their Secret.
func withCertificates(t *testing.T, before *former) (*v1.AppService, *corev1.Secret) {
	t.Helper()
	before.dir = chartWith(t, "templates/tls.yaml", tlsChart)
	before.start(t)
	app := harness.Seed(before.namespace, "web")
	app.Spec.Ports[0].NodePort = nil
	cluster.CreateReady(t, app)
	secret := &corev1.Secret{}
	cluster.Get(t, client.ObjectKey{Namespace: before.namespace, Name: "web-tls"}, secret)
	require.Equal(t, []string{"ca.crt", "ca.key", "tls.crt", "tls.key"}, slices.Sorted(maps.Keys(secret.Data)))
	return app, secret
}

func TestCertificatesThatAnEarlierVersionMadeStayAsTheyAre(t *testing.T) {
	t.Parallel()
	commit, err := os.ReadFile(fleetBefore)
	require.NoError(t, err)
	before := &former{namespace: cluster.Namespace(t), binary: managerOf(t, strings.TrimSpace(string(commit))),
		kubeconfig: cluster.NewProxy(t).Kubeconfig, concurrent: 10, failed: 3, deadline: 15 * time.Minute}
	app, secret := withCertificates(t, before)
	before.stop()
	made, running := secret.DeepCopy(), uidsOf(t, before.namespace)
	second := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: before.namespace, Name: "web-second"}}

	manager := cluster.Manager(t, before.namespace, before.options)
	manager.Rest(t)
	cluster.Refresh(t, secret)
	assert.Equal(t, made.ResourceVersion, secret.ResourceVersion, "the Secret was written")
	assert.Equal(t, running, uidsOf(t, before.namespace))
	cluster.Ready(t, app)
	assert.EqualValues(t, 1, app.Status.Release.Revision)
	chart := filepath.Join(before.dir, "helm-charts/appservice")
	assert.Contains(t, commandLine(t, 0, before.namespace, "diff", "web", "--live", "--chart", chart), "nothing changes")

	// of the next release, and of one of other Services
	for i, change := range []func(*v1.AppServiceSpec){
		func(s *v1.AppServiceSpec) { s.Image = "nginx:1.27" },
		func(s *v1.AppServiceSpec) { s.Services = []v1.FurtherService{{Name: "more"}} },
	} {
		cluster.Change(t, app, func(app *v1.AppService) { change(&app.Spec) })
		cluster.Ready(t, app)
		assert.EqualValues(t, 2+i, app.Status.Release.Revision)
		cluster.Refresh(t, secret)
		assert.Equal(t, made.Data, secret.Data)
	}
	cluster.Refresh(t, second)
	assert.Equal(t, "1", revisionOfPods(second), "pods that take the certificate do not roll")

	// without the Secret, the rest of the release is kept
	cluster.Delete(t, secret)
	refused := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonRenderFailed)
	assert.Contains(t, refused.Message, `Secret "web-tls" has a wrong annotation app.example.com/generate: ca.crt is a certificate`)
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: before.namespace, Name: "web"}}
	returns(t, service, vanish(t, service))
	restored := made.DeepCopy()
	restored.UID, restored.ResourceVersion = "", ""
	cluster.Create(t, restored)
	cluster.Ready(t, app)
	cluster.Get(t, client.ObjectKeyFromObject(made), secret)
	assert.Equal(t, made.Data, secret.Data)
}

func TestAChartThatAsksForCertificatesIsRefused(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	dir := files.Charts(t)
	manager := cluster.Manager(t, namespace, func(options *operator.Options, _ *harness.Requests) { options.ChartDir = dir })
	app := harness.Seed(namespace, "web")
	app.Spec.Ports[0].NodePort = nil
	cluster.CreateReady(t, app)
	running := uidsOf(t, namespace)

	files.Write(t, filepath.Join(dir, "helm-charts/appservice/templates/tls.yaml"), tlsChart)
	cluster.Becomes(t, "it keeps its release", app, func() error {
		if !slices.ContainsFunc(app.Status.Problems, func(p v1.Problem) bool { return strings.Contains(p.Message, "ca.crt is a certificate") }) {
			return fmt.Errorf("problems: %v", app.Status.Problems)
		}
		return nil
	})
	cluster.Ready(t, app)
	assert.Equal(t, running, uidsOf(t, namespace))

	mark := manager.Requests.Mark()
	another := harness.Seed(namespace, "another")
	another.Spec.Ports[0].NodePort = nil
	cluster.Create(t, another)
	refused := cluster.Condition(t, another, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonRenderFailed)
	for _, part := range []string{`Secret "another-tls"`, "app.example.com/generate", "ca.crt is a certificate", "cert-manager"} {
		assert.Contains(t, refused.Message, part)
	}
	for _, write := range manager.Requests.WritesSince(mark) {
		assert.Contains(t, write.Path, "/status", "it wrote: %s", write)
	}
}

// revisionOfPods is how many versions of its pods a Deployment has had, as far as its controller has seen.
func revisionOfPods(deployment *appsv1.Deployment) string {
	return deployment.Annotations["deployment.kubernetes.io/revision"]
}
