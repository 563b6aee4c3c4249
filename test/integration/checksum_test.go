//go:build cluster

package integration

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/digest"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/test/harness"
)

// databaseURL has a password that can be guessed.
const databaseURL = "postgres://web:summer2026@db"

// guessed is what a guess at a URL shows.
func guessed(url string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "{}\n{}\n%s", url))
	return hex.EncodeToString(sum[:])
}

// withDatabase returns an AppService with a database.
func withDatabase(namespace, name string) *v1.AppService {
	app := harness.Seed(namespace, name)
	app.Spec.Ports[0].NodePort = nil
	app.Spec.Config = &v1.Config{DatabaseURL: databaseURL}
	return app
}

// checksumOf is what the pods of an AppService show.
func checksumOf(t *testing.T, app *v1.AppService) string {
	t.Helper()
	return deployment(t, app).Spec.Template.Annotations[postrender.AnnotationChecksum]
}

// configured is the row of the mixed fleet with a database.
func configured(t *testing.T, before *former) {
	before.start(t)
	app := withDatabase(before.namespace, "web")
	cluster.CreateReady(t, app)
	require.Equal(t, guessed(databaseURL), checksumOf(t, app))
}

// showsNoChecksum is what becomes of it: its pods show the same until their configuration changes.
func showsNoChecksum(t *testing.T, namespace string) {
	app := withDatabase(namespace, "web")
	cluster.Refresh(t, app)
	pods := whatRuns(t, namespace)
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.MinReadySeconds = ptr.To[int32](1) })
	cluster.Ready(t, app)
	require.Equal(t, pods, whatRuns(t, namespace), "pods roll for a change that is none of theirs")
	for _, step := range []struct {
		url  string
		same bool // as before the upgrade
	}{{databaseURL, true}, {"postgres://elsewhere", false}, {databaseURL, true}} {
		cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Config.DatabaseURL, app.Spec.Image = step.url, app.Spec.Image+"0" })
		cluster.Ready(t, app)
		require.Equal(t, step.same, checksumOf(t, app) == guessed(databaseURL))
		require.NotEqual(t, guessed("postgres://elsewhere"), checksumOf(t, app))
	}
}

// Pods roll when a rendered Secret changes, and who may read pods cannot test guesses at what it holds.
func TestPodsDoNotShowAChecksumOfASecret(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app, other := withDatabase(namespace, "web"), withDatabase(namespace, "other")
	for _, one := range []*v1.AppService{app, other} {
		cluster.CreateReady(t, one)
	}
	first := checksumOf(t, app)
	require.NotEmpty(t, first)
	require.NotEqual(t, first, checksumOf(t, other), "the same configuration shows as the same")
	require.NotContains(t, guessed(databaseURL), first)
	pods := whatRuns(t, namespace)

	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.MinReadySeconds = ptr.To[int32](1) })
	cluster.Ready(t, app)
	manager.Rest(t)
	manager.Stop(t)
	second := cluster.Manager(t, namespace)
	second.Rest(t)
	require.Empty(t, second.Requests.WritesSince(0), "a restart writes")

	key := keyOf(t, namespace)
	secret := &corev1.Secret{}
	for what, lose := range map[string]func(){
		"the Secret": func() { cluster.Delete(t, secret) },
		"its key": func() {
			cluster.Edit(t, secret, func() { delete(secret.Annotations, v1.AnnotationChecksumKey) })
		},
		"another key": func() {
			cluster.Edit(t, secret, func() { secret.Annotations[v1.AnnotationChecksumKey] = guessed("x")[:32] })
		},
		"the Secret without a manager": func() {
			second.Rest(t)
			second.Stop(t)
			cluster.Delete(t, secret)
			second = cluster.Manager(t, namespace)
		},
	} {
		cluster.Get(t, client.ObjectKey{Namespace: namespace, Name: "web-config"}, secret)
		lose()
		harness.Eventually(t, what+" is there again", func() error {
			if now := keysIn(t, namespace)["web-config"]; now != key {
				return fmt.Errorf("the key is %q, and was %q", now, key)
			}
			return nil
		})
		second.Rest(t)
		require.Equal(t, pods, whatRuns(t, namespace), "pods roll without %s", what)
	}

	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Config.DatabaseURL = "postgres://elsewhere" })
	cluster.Ready(t, app)
	require.NotEqual(t, first, checksumOf(t, app))
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Config.DatabaseURL = databaseURL })
	cluster.Ready(t, app)
	require.Equal(t, first, checksumOf(t, app), "pods that ran with it would roll")
}

// keysIn returns the keys of the Secrets of a namespace, by name.
func keysIn(t *testing.T, namespace string) map[string]string {
	t.Helper()
	list, keys := &corev1.SecretList{}, map[string]string{}
	cluster.List(t, list, client.InNamespace(namespace))
	for _, secret := range list.Items {
		if key := secret.Annotations[v1.AnnotationChecksumKey]; key != "" {
			keys[secret.Name] = key
		}
	}
	return keys
}

func keyOf(t *testing.T, namespace string) string {
	t.Helper()
	keys := keysIn(t, namespace)
	require.Contains(t, keys, "web-config")
	return keys["web-config"]
}

// A release task runs once, whatever its name is made with.
func TestTheNameOfATaskSaysNothingOfItsSecrets(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	counted := countRuns(t, namespace)
	app := migrated(namespace)
	app.Spec.Config.DatabaseURL = databaseURL
	cluster.CreateReady(t, app)
	require.Len(t, app.Status.Runs, 1)
	ran := app.Status.Runs[0]
	require.NotContains(t, ran.Job, digest.Of([]byte(ran.Digest))[:8], "who may read Jobs can test guesses")
	manager.Rest(t)
	manager.Stop(t)
	second := cluster.Manager(t, namespace)
	second.Rest(t)
	require.Empty(t, second.Requests.WritesSince(0), "a restart writes")
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.MinReadySeconds = ptr.To[int32](1) })
	cluster.Ready(t, app)
	require.NoError(t, counted.are("shop:1"))
}

// An AppService that takes over what another one left takes its key, too: no pod rolls.
func TestWhatWasOrphanedKeepsItsKey(t *testing.T) {
	t.Parallel()
	namespace, _ := cluster.ManagedNamespace(t)
	app := withDatabase(namespace, "web")
	cluster.CreateReady(t, app)
	pods, keys := whatRuns(t, namespace), keysIn(t, namespace)
	cluster.Delete(t, app, client.PropagationPolicy(metav1.DeletePropagationOrphan))
	harness.Eventually(t, "the AppService is gone", func() error { return gone(t, namespace, "web", &v1.AppService{}) })
	again := withDatabase(namespace, "web")
	again.Annotations = map[string]string{v1.AnnotationAdopt: "true"}
	cluster.CreateReady(t, again)
	require.Equal(t, pods, whatRuns(t, namespace), "pods were replaced")
	require.True(t, maps.Equal(keys, keysIn(t, namespace)))
}

// Two operators that nobody elects use one key: the first that was written.
func TestTwoOperatorsUseOneKey(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	harness.Run(t, cluster.Kubeconfig, "--watch-namespaces="+namespace)
	app := withDatabase(namespace, "web")
	cluster.CreateReady(t, app)
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.MinReadySeconds = ptr.To[int32](1) })
	cluster.Ready(t, app)
	manager.Rest(t)
	require.LessOrEqual(t, deployment(t, app).Generation, int64(6), "they write in turns")
}
