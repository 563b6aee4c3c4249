//go:build cluster

package integration

import (
	"fmt"
	"path/filepath"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// An API server that streams no lists is asked for them: what may be watched may be listed. Of Secrets, it is metadata then, too.
func TestAnAPIServerThatStreamsNoLists(t *testing.T) {
	t.Setenv("KUBE_FEATURE_WatchListClient", "false") // so it runs alone; the program that it starts looks at this
	withForeignKinds(t)
	cluster.Install(t, gatewayAPICRD(grpcRouteKind, "grpcroutes"))
	namespace := cluster.Namespace(t)
	for _, object := range documents(t, filepath.Join(fixtures, "samples", "full.yaml")) {
		createFixture(t, t, namespace, object)
	}
	proxy := cluster.NewProxy(t)
	harness.Run(t, proxy.Kubeconfig, "--watch-namespaces="+namespace)
	sample := documents(t, filepath.Join(samples, "full.yaml"))[0]
	sample.SetNamespace(namespace)
	moveNodePorts(t, sample, otherNodePort)
	cluster.Create(t, sample)
	app := &v1.AppService{}
	app.Namespace, app.Name = namespace, sample.GetName()
	cluster.Ready(t, app)
	for _, resource := range []string{"secrets", "deployments", "gateways", "grpcroutes", "namespaces", "customresourcedefinitions"} {
		harness.Eventually(t, "they are listed: "+resource, func() error {
			for _, request := range proxy.Requests.Of(resource) {
				if request.Verb == "list" {
					return nil
				}
			}
			return fmt.Errorf("the requests are %v", proxy.Requests.Of(resource))
		})
	}
	if whole := proxy.Requests.WholeSecrets(); len(whole) > 0 {
		t.Errorf("Secrets are listed with what is in them: %v", whole)
	}
	if err := cluster.Client.Delete(t.Context(), sample); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
}
