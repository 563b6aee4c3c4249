//go:build cluster

package integration

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/harness"
)

// loudFleet is how many AppServices of one tenant change all the time, and mostWrites how often the operator may write for them before it repairs
// an object of another tenant: a few reconciles, of a handful of writes each, begin before the event of that arrives.
const (
	loudFleet  = 120
	mostWrites = 20
)

// One tenant keeps the only worker of the operator busy. Another tenant's repair does not wait for that to end, nor for
// one reconcile of each of the first one's AppServices. It runs alone, for the load would slow down other tests.
func TestATenantsRepairDoesNotWaitForAnothersChanges(t *testing.T) {
	loud, quiet := cluster.Namespace(t), cluster.Namespace(t)
	manager := cluster.Manager(t, loud, func(options *operator.Options, _ *harness.Requests) {
		options.WatchNamespaces = []string{loud, quiet}
		options.MaxConcurrentReconciles = 1
	})
	app := harness.Seed(quiet, "web")
	app.Spec.Size = ptr.To[int32](0)
	cluster.CreateReady(t, app)
	changes := changeAllTheTime(t, loud)

	for range 2 { // what others change more often within a minute is left to them for a while
		for name, repair := range map[string]struct {
			resource string
			damage   func() error
		}{
			"a deleted Service": {"services", func() error {
				return cluster.Client.Delete(t.Context(), &corev1.Service{ObjectMeta: app.ObjectMeta})
			}},
			"an edited Deployment": {"deployments", func() error {
				deployment := &appsv1.Deployment{}
				deployment.Namespace, deployment.Name = quiet, app.Name
				return cluster.Client.Patch(t.Context(), deployment, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":1}}`)))
			}},
		} {
			mark, began, changed := manager.Requests.Mark(), time.Now(), changes.Load()
			require.NoError(t, repair.damage())
			theirs := 0 // writes for the other tenant meanwhile: of Deployments, and of their status and records
			harness.Eventually(t, name+" is put back", func() error {
				theirs = 0
				for _, write := range manager.Requests.WritesSince(mark) {
					if strings.Contains(write.Path, "/namespaces/"+quiet+"/"+repair.resource) {
						return nil
					}
					if strings.Contains(write.Path, "/namespaces/"+loud+"/") && !strings.Contains(write.Path, "/events") {
						theirs++
					}
				}
				return fmt.Errorf("the operator wrote %d times for the other tenant and not that", theirs)
			})
			meanwhile := int(changes.Load() - changed)
			t.Logf("%s: %s, after %d writes for the other tenant, who changed %d specs", name, time.Since(began).Round(time.Millisecond), theirs, meanwhile)
			if theirs > mostWrites {
				t.Errorf("%s waited for %d writes for the other tenant, want %d at the most", name, theirs, mostWrites)
			}
			if meanwhile == 0 {
				t.Fatal("the other tenant changed nothing meanwhile: that is no load")
			}
			if behind := outdated(t, loud); behind < loudFleet/2 {
				t.Fatalf("only %d of %d AppServices of the other tenant wait: that is no load", behind, loudFleet)
			}
		}
	}
}

// changeAllTheTime creates AppServices in a namespace, and changes their images without a break until the test ends. It counts the changes.
func changeAllTheTime(t *testing.T, namespace string) *atomic.Int64 {
	t.Helper()
	changes := &atomic.Int64{}
	const writers = 3
	ctx, cancel := context.WithCancel(t.Context())
	var created, ended sync.WaitGroup
	created.Add(writers)
	for writer := range writers {
		ended.Go(func() {
			write := func(i int, do func(*v1.AppService) error) {
				app := harness.Seed(namespace, fmt.Sprintf("app-%d", i))
				app.Spec.Size = ptr.To[int32](0)
				if err := do(app); err != nil && ctx.Err() == nil {
					t.Errorf("cannot write %s: %v", app.Name, err)
				}
			}
			for i := writer; i < loudFleet; i += writers {
				write(i, func(app *v1.AppService) error { return cluster.Client.Create(ctx, app) })
			}
			created.Done()
			for version := 1; ctx.Err() == nil; version++ {
				image := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"image":"nginx:1.%d"}}`, version))
				for i := writer; i < loudFleet; i += writers {
					write(i, func(app *v1.AppService) error { return cluster.Client.Patch(ctx, app, image) })
					changes.Add(1)
				}
			}
		})
	}
	created.Wait()
	t.Cleanup(func() {
		cancel()
		ended.Wait()
	})
	return changes
}

// outdated counts AppServices of a namespace whose Deployment is missing or has another image than the spec.
func outdated(t *testing.T, namespace string) int {
	t.Helper()
	apps, deployments := &v1.AppServiceList{}, &appsv1.DeploymentList{}
	for _, list := range []client.ObjectList{deployments, apps} {
		cluster.List(t, list, client.InNamespace(namespace))
	}
	images := map[string]string{}
	for _, deployment := range deployments.Items {
		images[deployment.Name] = deployment.Spec.Template.Spec.Containers[0].Image
	}
	behind := 0
	for _, app := range apps.Items {
		if images[app.Name] != app.Spec.Image {
			behind++
		}
	}
	return behind
}
