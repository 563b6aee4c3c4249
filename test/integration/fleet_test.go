//go:build cluster

package integration

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// fleet is the number of AppServices that two managers share.
const fleet = 60

// A selector in watches.yaml assigns each manager its part of the fleet. Neither ever writes objects of the other's part.
func TestTwoManagersShareAFleetByLabel(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	managers := map[string]*harness.Manager{}
	for _, shard := range []string{"0", "1"} {
		managers[shard] = cluster.Manager(t, namespace, func(options *operator.Options, _ *harness.Requests) {
			options.WatchesFile = shardOf(t, shard)
			options.ChartDir = files.Root(t)
		})
	}
	apps := make([]*v1.AppService, fleet)
	for i := range apps {
		apps[i] = harness.Seed(namespace, fmt.Sprintf("app-%d", i))
		apps[i].Labels = map[string]string{"shard": strconv.Itoa(i % 2)}
		apps[i].Spec.Size = ptr.To[int32](0)
		cluster.Create(t, apps[i])
	}
	allReady(t, namespace, "nginx:1.7.9")
	for i, app := range apps {
		if i%10 == 0 { // and a Service is deleted meanwhile
			if err := cluster.Client.Delete(t.Context(), &corev1.Service{ObjectMeta: app.ObjectMeta}); client.IgnoreNotFound(err) != nil {
				t.Fatal(err)
			}
		}
		cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:1.27" })
	}
	allReady(t, namespace, "nginx:1.27")

	number := regexp.MustCompile(`app-(\d+)`)
	for shard, manager := range managers {
		for _, request := range manager.Requests.WritesSince(0) {
			match := number.FindStringSubmatch(request.Path)
			if match == nil {
				continue // a new record: its name is in the body
			}
			if i, _ := strconv.Atoi(match[1]); strconv.Itoa(i%2) != shard {
				t.Errorf("manager %s wrote what is the other's: %s", shard, request)
			}
		}
	}
	services := &corev1.ServiceList{}
	cluster.List(t, services, client.InNamespace(namespace))
	assert.NoError(t, want("services", len(services.Items), fleet))
}

// shardOf writes a watches file that selects a shard.
func shardOf(t *testing.T, shard string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "watches.yaml")
	text := fmt.Sprintf("- {group: app.example.com, version: v1, kind: AppService, chart: helm-charts/appservice, selector: {matchLabels: {shard: %q}}}\n", shard)
	files.Write(t, file, text)
	return file
}

// allReady waits until every AppService of the fleet is ready and runs an image.
func allReady(t *testing.T, namespace, image string) {
	t.Helper()
	harness.Eventually(t, "the fleet runs "+image, func() error {
		list := &v1.AppServiceList{}
		if err := cluster.Client.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
			return err
		}
		ready := 0
		for i := range list.Items {
			if app := &list.Items[i]; app.Status.Phase == v1.PhaseRunning && app.Status.Image == image && app.Status.ObservedGeneration == app.Generation {
				ready++
			}
		}
		return want("ready", ready, fleet)
	})
}
