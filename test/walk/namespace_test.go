//go:build cluster

package walk

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/tools/poll"
)

func create(ctx context.Context, namespace string, spec map[string]any) error {
	return cluster.Client.Create(ctx, inNamespace(namespace, spec))
}

// inNamespace is an AppService with a spec, with hosts and node ports that no other namespace has.
func inNamespace(namespace string, spec map[string]any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": localized(namespace, runtime.DeepCopyJSON(spec))}}
	object.SetGroupVersionKind(v1.GroupVersion.WithKind(v1.Kind))
	object.SetNamespace(namespace)
	object.SetName(name)
	return object
}

// localized makes the hosts of a spec unique to the namespace and removes node ports: both are cluster-wide.
func localized(namespace string, spec map[string]any) map[string]any {
	maps(spec["ports"], func(port map[string]any) { delete(port, "nodePort") })
	maps(spec["services"], func(service map[string]any) {
		maps(service["ports"], func(port map[string]any) { delete(port, "nodePort") })
	})
	if ingress, ok := spec["ingress"].(map[string]any); ok {
		maps(ingress["hosts"], func(host map[string]any) { host["host"] = hostIn(namespace, host["host"]) })
		maps(ingress["tls"], func(tls map[string]any) { hostsIn(namespace, tls["hosts"]) })
	}
	if route, ok := spec["route"].(map[string]any); ok {
		hostsIn(namespace, route["hostnames"])
	}
	return spec
}

func maps(list any, do func(map[string]any)) {
	items, _ := list.([]any)
	for _, item := range items {
		if content, ok := item.(map[string]any); ok {
			do(content)
		}
	}
}

func hostsIn(namespace string, list any) {
	items, _ := list.([]any)
	for i := range items {
		items[i] = hostIn(namespace, items[i])
	}
}

// hostIn is a host of a namespace: *.example.com becomes *.NAMESPACE.example.com.
func hostIn(namespace string, host any) any {
	text, ok := host.(string)
	if !ok || text == "" {
		return host
	}
	if rest, wild := strings.CutPrefix(text, "*."); wild {
		return "*." + namespace + "." + rest
	}
	return namespace + "." + text
}

// makeFixtures makes what the cases refer to.
func makeFixtures(ctx context.Context, namespace string) error {
	text, err := os.ReadFile("testdata/fixtures.yaml")
	if err != nil {
		return err
	}
	objects, err := files.Decode(text)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if namespaced, err := cluster.Client.IsObjectNamespaced(object); err != nil {
			return err
		} else if namespaced {
			object.SetNamespace(namespace)
		}
		if err := cluster.Client.Create(ctx, object); client.IgnoreAlreadyExists(err) != nil {
			return err
		}
	}
	return nil
}

// patience is how long eventually waits.
var patience = harness.Patience

// eventually waits until check returns nil, at growing intervals: what check does is dear, it lists all kinds.
func eventually(ctx context.Context, check func() error) error {
	return poll.PacedWithin(ctx, patience, poll.Growing(50*time.Millisecond, time.Second, 2), func(context.Context) error { return check() })
}

// How long a manager must make no requests to count as done: after a write that lost against another one it waits for 5 s.
const (
	stillness = 2 * time.Second
	afterRace = 7 * time.Second
)

// quiet waits until a manager has made no requests for so long.
func quiet(ctx context.Context, requests *harness.Requests, still time.Duration) error {
	last, since := -1, time.Now()
	return eventually(ctx, func() error {
		if now := requests.Mark(); now != last {
			last, since = now, time.Now()
		}
		if time.Since(since) < still {
			return fmt.Errorf("the operator still makes requests")
		}
		return nil
	})
}
