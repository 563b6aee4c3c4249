//go:build cluster

package integration

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// optional are kinds that the chart renders and the bundle has no rights for. Other tests have the cluster serve them, so the operator checks
// whether it may watch them.
var optional = []string{"grpcroutes", "httproutes", "listenersets", "scaledobjects", "servicemonitors"}

// OLM's four install modes: the operator serves the namespaces of its OperatorGroup and touches no other, with no more
// rights than OLM gives it for these.
func TestInstallModes(t *testing.T) {
	cases := map[string]struct {
		own     bool // the operator's own namespace is served
		others  int  // further namespaces that are served
		beyond  bool // all namespaces are served
		ignored int  // namespaces with an AppService that are not served, besides the operator's own
	}{
		"OwnNamespace":    {own: true, ignored: 1},
		"SingleNamespace": {others: 1, ignored: 1},
		"MultiNamespace":  {own: true, others: 2, ignored: 1},
		"AllNamespaces":   {own: true, others: 2, beyond: true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := cluster.Namespace(t)
			served, ignored := namespaces(t, test.others), namespaces(t, test.ignored)
			if test.own {
				served = append(served, home)
			} else {
				ignored = append(ignored, home)
			}
			targets := served
			if test.beyond {
				targets = nil
			}
			identity := subscribe(t, home, targets)

			untouched := applications(t, home, ignored)
			manager := identity.Manager(t, home, func(o *operator.Options, _ *harness.Requests) {
				o.WatchNamespaces = targets
				o.LeaderElection, o.LeaderElectionNamespace = true, home
				o.WatchesFile = onlyLabeled(t, home) // other tests have managers of their own
			})
			apps := applications(t, home, served)
			for _, app := range apps {
				cluster.Ready(t, app)
				comesBack(t, app)
			}
			for _, app := range untouched {
				isUntouched(t, app)
			}
			for _, request := range manager.Requests.WritesSince(0) {
				if namespace := namespaceOf(request.Path); !slices.Contains(served, namespace) {
					t.Errorf("a write outside of the served namespaces: %s", request)
				}
			}
			for _, request := range manager.Requests.Forbidden() {
				if !slices.Contains(optional, request.Target().Resource) {
					t.Errorf("a right was missing: %s", request)
				}
			}
		})
	}
}

func namespaces(t *testing.T, count int) []string {
	t.Helper()
	var names []string
	for range count {
		names = append(names, cluster.Namespace(t))
	}
	return names
}

// applications creates an AppService in each namespace, with a label that selects its operator.
func applications(t *testing.T, home string, namespaces []string) []*v1.AppService {
	t.Helper()
	var apps []*v1.AppService
	for _, namespace := range namespaces {
		app := harness.Seed(namespace, "web")
		app.Labels = map[string]string{"served-from": home}
		cluster.Create(t, app)
		apps = append(apps, app)
	}
	return apps
}

// onlyLabeled writes a watches file that selects the AppServices of one test.
func onlyLabeled(t *testing.T, home string) string {
	t.Helper()
	text := files.Text(t, "watches.yaml")
	chart := "chart: helm-charts/appservice"
	with := strings.Replace(string(text), chart, chart+"\n  selector: {matchLabels: {served-from: "+home+"}}", 1)
	dir := files.Charts(t)
	if err := os.WriteFile(filepath.Join(dir, "watches.yaml"), []byte(with), 0o600); err != nil || with == string(text) {
		t.Fatalf("cannot narrow watches.yaml (error %v)", err)
	}
	return filepath.Join(dir, "watches.yaml")
}

// comesBack deletes the Service of an AppService and waits for another one: the operator watches the namespace.
func comesBack(t *testing.T, app *v1.AppService) {
	t.Helper()
	service := &corev1.Service{}
	get(t, app, service)
	before := service.UID
	cluster.Delete(t, service)
	harness.Eventually(t, "the Service comes back", func() error {
		next := &corev1.Service{}
		if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(app), next); err != nil {
			return err
		}
		if next.UID == before {
			return errStillThere
		}
		return nil
	})
}

func isUntouched(t *testing.T, app *v1.AppService) {
	t.Helper()
	now := &v1.AppService{}
	get(t, app, now)
	if now.ResourceVersion != app.ResourceVersion {
		t.Errorf("the AppService in %s, which is not served, was written: %+v", app.Namespace, now.Status)
	}
	deployments := &metav1.PartialObjectMetadataList{}
	deployments.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("DeploymentList"))
	cluster.List(t, deployments, client.InNamespace(app.Namespace))
	if len(deployments.Items) > 0 {
		t.Errorf("%s, which is not served, has %d Deployments", app.Namespace, len(deployments.Items))
	}
}

// namespaceOf returns the namespace in the path of a request, or nothing.
func namespaceOf(path string) string {
	_, rest, _ := strings.Cut(path, "/namespaces/")
	namespace, _, _ := strings.Cut(rest, "/")
	return namespace
}
