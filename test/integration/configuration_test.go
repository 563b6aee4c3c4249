//go:build cluster

package integration

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/render/hooks"
	"github.com/example/appservice-operator/test/harness"
)

// databaseURL has a password that can be guessed.
const databaseURL = "postgres://web:summer2026@db"

// checksum is what a guess at it shows.
func checksum() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "{}\n{}\n%s", databaseURL))
	return hex.EncodeToString(sum[:])
}

func version(t *testing.T, app *v1.AppService) string {
	t.Helper()
	return deployment(t, app).Spec.Template.Annotations[hooks.AnnotationChecksum]
}

// configured is the row of the mixed fleet with such a password.
func configured(t *testing.T, before *former) {
	before.start(t)
	app := harness.Seed(before.namespace, "web")
	app.Spec.Config = &v1.Config{DatabaseURL: databaseURL}
	cluster.CreateReady(t, app)
	require.Equal(t, checksum(), version(t, app))
}

// showsNoChecksum is what becomes of it: the next release shows a version instead.
func showsNoChecksum(t *testing.T, namespace string) {
	app := harness.Seed(namespace, "web")
	cluster.Refresh(t, app)
	require.Equal(t, checksum(), version(t, app), "the pods roll for an upgrade")
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:1.28" })
	cluster.Ready(t, app)
	require.Equal(t, "nginx:1.28", imageOf(t, app))
	require.NotContains(t, checksum(), version(t, app))
}

// Pods roll when a rendered Secret changes, and who may read pods cannot test guesses at what it holds.
func TestPodsDoNotShowAChecksumOfASecret(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app, other := harness.Seed(namespace, "web"), harness.Seed(namespace, "other")
	for _, one := range []*v1.AppService{app, other} {
		one.Spec.Config = &v1.Config{DatabaseURL: databaseURL}
		cluster.CreateReady(t, one)
	}
	first := version(t, app)
	require.NotEmpty(t, first)
	require.NotEqual(t, first, version(t, other), "the same configuration shows as the same")
	require.NotContains(t, checksum(), first)

	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Size = ptr.To[int32](1) })
	cluster.Ready(t, app)
	require.Equal(t, first, version(t, app), "pods roll for another size")
	manager.Rest(t)
	manager.Stop(t)
	second := cluster.Manager(t, namespace)
	second.Rest(t)
	require.Empty(t, second.Requests.WritesSince(0), "a restart writes")

	seen := []string{first}
	for _, value := range []string{"postgres://elsewhere", databaseURL} {
		cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Config.DatabaseURL = value })
		harness.Eventually(t, "the pods roll", func() error {
			if version(t, app) == seen[len(seen)-1] {
				return errors.New("they have the same annotation")
			}
			return nil
		})
		cluster.Ready(t, app)
		require.NotContains(t, seen, version(t, app), "that an earlier value is back shows")
		seen = append(seen, version(t, app))
	}
	require.Equal(t, "3", deployment(t, app).Annotations["deployment.kubernetes.io/revision"])
}
