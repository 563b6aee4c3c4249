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

// Pods roll when a rendered Secret changes, and who may read pods cannot test guesses at what it holds.
func TestPodsDoNotShowAChecksumOfASecret(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	const url = "postgres://web:summer2026@db"
	app, other := harness.Seed(namespace, "web"), harness.Seed(namespace, "other")
	for _, one := range []*v1.AppService{app, other} {
		one.Spec.Config = &v1.Config{DatabaseURL: url}
		cluster.CreateReady(t, one)
	}
	version := func(of *v1.AppService) string {
		return deployment(t, of).Spec.Template.Annotations[hooks.AnnotationChecksum]
	}
	first := version(app)
	require.NotEmpty(t, first)
	require.NotEqual(t, first, version(other), "the same configuration shows as the same")
	guess := sha256.Sum256(fmt.Appendf(nil, "{}\n{}\n%s", url))
	require.NotContains(t, hex.EncodeToString(guess[:]), first)

	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Size = ptr.To[int32](1) })
	cluster.Ready(t, app)
	require.Equal(t, first, version(app), "pods roll for another size")
	manager.Rest(t)
	manager.Stop(t)
	second := cluster.Manager(t, namespace)
	second.Rest(t)
	require.Empty(t, second.Requests.WritesSince(0), "a restart writes")

	seen := []string{first}
	for _, value := range []string{"postgres://elsewhere", url} {
		cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Config.DatabaseURL = value })
		harness.Eventually(t, "the pods roll", func() error {
			if version(app) == seen[len(seen)-1] {
				return errors.New("they have the same annotation")
			}
			return nil
		})
		cluster.Ready(t, app)
		require.NotContains(t, seen, version(app), "that an earlier value is back shows")
		seen = append(seen, version(app))
	}
	require.Equal(t, "3", deployment(t, app).Annotations["deployment.kubernetes.io/revision"])
}
