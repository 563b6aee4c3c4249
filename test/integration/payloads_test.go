//go:build cluster

package integration

import (
	"path"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// The operator lists and watches only the metadata of Secrets. It reads the content by name: of those that a spec
// refers to, of those that it rendered, and of its own records. Manager ensures that no operator of any test lists
// more.
func TestSecretsOfOthersAreNotRead(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	for _, name := range []string{"referred", "foreign", "sh.helm.release.v1.foreign.v1"} {
		cluster.Create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, StringData: map[string]string{"key": "value"}})
	}
	manager := cluster.Manager(t, namespace)
	refers, renders := harness.Seed(namespace, "refers"), harness.Seed(namespace, "renders")
	renders.Spec.Ports[0].NodePort, refers.Spec.Ports[0].NodePort = nil, nil
	refers.Spec.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "referred"}}}}
	renders.Spec.Config = &v1.Config{DatabaseURL: "postgres://x"}
	for _, app := range []*v1.AppService{refers, renders} {
		cluster.CreateReady(t, app)
	}
	rendered := &corev1.SecretList{}
	cluster.List(t, rendered, client.InNamespace(namespace))
	for i := range rendered.Items { // another client changes a rendered field, so that it is read
		if secret := &rendered.Items[i]; metav1.IsControlledBy(secret, renders) && secret.Type == corev1.SecretTypeOpaque {
			cluster.Edit(t, secret, func() { secret.StringData = map[string]string{"added": "x"} })
		}
	}
	harness.Eventually(t, "what was rendered is read", func() error {
		return want("reads of a rendered Secret", slices.ContainsFunc(manager.Requests.Of("secrets"), func(r harness.Request) bool {
			return r.Verb == "get" && !r.Metadata && strings.HasPrefix(path.Base(r.Path), "renders")
		}), true)
	})
	cluster.Change(t, refers, func(app *v1.AppService) { app.Spec.Image = "nginx:1.29" })
	cluster.Ready(t, refers)
	manager.Rest(t)

	seen := map[string]int{}
	for _, request := range manager.Requests.Of("secrets") {
		name := request.Target().Name
		switch own := strings.HasPrefix(name, "renders") || strings.HasPrefix(name, "sh.helm.release.v1.re") || name == "referred"; {
		case request.Verb == "watch":
			seen["watch"]++
		case request.Verb == "get" && own:
			seen["get"]++
		case name != "" && !own:
			t.Errorf("%s, which is nobody's that refers to it or rendered it", request)
		}
	}
	for _, verb := range []string{"watch", "get"} { // watches stream the lists
		if seen[verb] == 0 {
			t.Errorf("no %s of Secrets was seen: %v", verb, seen)
		}
	}
}
