//go:build cluster

package integration

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// largestPublished are the largest specs of a kind of a published chart, which it renders into a ConfigMap.
var largestPublished = map[string]func(bytes int) map[string]any{
	"text": func(bytes int) map[string]any {
		var text strings.Builder
		for i := 0; text.Len() < bytes*9/10; i++ {
			fmt.Fprintf(&text, "- panel %d of %x\n", i, i*i*i)
		}
		return map[string]any{"dashboard": text.String()}
	},
	"entries": func(bytes int) map[string]any {
		data := map[string]any{}
		for i := range bytes / 21 {
			data[fmt.Sprintf("key-%d", i)] = "value"
		}
		return data
	},
	noisy: func(bytes int) map[string]any {
		return map[string]any{"dashboard": hex.EncodeToString([]byte(harness.Noise(1, bytes/2-1024)[0]))}
	},
}

// noisy is the shape whose record is too large, if it is larger than others may be.
const noisy = "noise"

// Ten of the largest resources of a published chart fit, while another one is served.
func TestTenOfTheLargestPublishedFit(t *testing.T) {
	t.Parallel()
	for _, memoryOf := range []struct{ kilobytes, megabytes int }{{128, harness.MemoryLimit}, {512, 4 * harness.MemoryLimit}} {
		for shape, dataOf := range largestPublished {
			t.Run(fmt.Sprint(shape, " of ", memoryOf.kilobytes), func(t *testing.T) {
				t.Parallel()
				dir, watches := publishedFolder(t, `grants: [{apiGroups: [""], resources: [pods], verbs: [get, list]}]`)
				attacker, neighbor := cluster.Namespace(t), cluster.Namespace(t)
				proxy := cluster.Unbound().NewProxy(t)
				start := func() *harness.Process {
					return harness.RunWithMemory(t, memoryOf.megabytes, proxy.Kubeconfig, "--watch-namespaces="+attacker+","+neighbor,
						"--chart-dir="+dir, "--watches-file="+watches)
				}
				process := start()
				served := newCache(neighbor, "a", map[string]any{"auth": map[string]any{"existingSecret": "mine"}})
				cluster.Create(t, served)
				becomes := func(resource *unstructured.Unstructured, reason string) {
					t.Helper()
					harness.Eventually(t, resource.GetName()+" has a verdict", func() error {
						cluster.Refresh(t, resource)
						if got, _, _ := unstructured.NestedInt64(resource.Object, "status", "observedGeneration"); got != resource.GetGeneration() {
							return fmt.Errorf("generation %d is observed", got)
						}
						return stands(resource, map[string]string{v1.ConditionReady: "True " + reason})
					})
				}
				becomes(served, v1.ReasonRunning)
				before, _ := memory(t, process)
				var all []*unstructured.Unstructured
				for i := range 10 {
					spec := map[string]any{"auth": map[string]any{"existingSecret": "mine"}, "replicas": int64(0), "extraObjects": []any{map[string]any{
						"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": fmt.Sprint("large-", i)}, "data": dataOf(memoryOf.kilobytes << 10)}}}
					resource := newCache(attacker, fmt.Sprint("large-", i), spec)
					text, err := json.Marshal(resource)
					require.NoError(t, err)
					require.Less(t, len(text), memoryOf.kilobytes<<10)
					require.Greater(t, len(text), memoryOf.kilobytes<<10*4/5)
					cluster.Create(t, resource)
					all = append(all, resource)
				}
				change := func(replicas int64) {
					t.Helper()
					cluster.Edit(t, served, func() { require.NoError(t, unstructured.SetNestedField(served.Object, replicas, "spec", "replicas")) })
					becomes(served, v1.ReasonRunning)
				}
				change(2)
				if shape == noisy && memoryOf.kilobytes == 512 {
					for _, resource := range all {
						refusedAs(t, resource, v1.ReasonTooLarge, "the record of the release would take")
						require.NoError(t, gone(t, attacker, resource.GetName(), &appsv1.Deployment{}))
					}
					return
				}
				for _, resource := range all {
					becomes(resource, v1.ReasonScaledToZero)
				}
				fits := func(when string) {
					t.Helper()
					now, peak := memory(t, process)
					t.Logf("%s: %d MB before, %d MB now, %d MB at the most", when, before, now, peak)
					if peak > memoryOf.megabytes {
						t.Errorf("%s: it took %d MB, want %d at the most", when, peak, memoryOf.megabytes)
					}
				}
				fits("ten")
				process.Kill()
				process = start()
				change(3)
				for _, resource := range all {
					cluster.Edit(t, resource, func() { require.NoError(t, unstructured.SetNestedField(resource.Object, "another", "spec", "title")) })
				}
				for _, resource := range all {
					becomes(resource, v1.ReasonScaledToZero)
				}
				fits("started again, and changed")
			})
		}
	}
}
