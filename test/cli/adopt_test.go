//go:build cluster

package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// adopting counts what the figures are computed from.
var adopting struct{ adopted, restarted atomic.Int32 }

// Objects that users, or Helm, installed belong to an AppService afterwards, and the same pods run.
func TestAdoption(t *testing.T) {
	cases := map[string]struct {
		install func(t *testing.T, u *user)
		flags   string
		says    []string // part of the plan that adopt prints
		kinds   string   // owned by the AppService afterwards
	}{
		"plain": {
			install: applied("adopt/plain.yaml"),
			says:    []string{"would take over 2 objects; no pod restarts", "~ Deployment plain, unowned", "~ Service plain, unowned", "spec.ports[80].name web → ", "+ PodDisruptionBudget plain"},
			kinds:   "deployment service poddisruptionbudget",
		},
		"whole": {
			install: applied("adopt/whole.yaml"),
			says: []string{
				"would take over 8 objects; no pod restarts", "~ ServiceAccount whole, unowned", "~ ConfigMap whole-config, unowned", "~ PersistentVolumeClaim whole, unowned",
				"~ Deployment whole, unowned", "~ Service whole, unowned", "~ Ingress whole, unowned", "~ HorizontalPodAutoscaler whole, unowned", "~ PodDisruptionBudget whole, unowned",
				"averageUtilization 70 → 80",
			},
			kinds: "deployment service ingress horizontalpodautoscaler poddisruptionbudget configmap/whole-config serviceaccount persistentvolumeclaim",
		},
		"stateful": {
			install: applied("adopt/stateful.yaml"),
			says:    []string{"would take over 3 objects; no pod restarts", "~ StatefulSet stateful, unowned", "~ Service stateful-headless, unowned"},
			kinds:   "statefulset service service/stateful-headless",
		},
		"helmed": {
			install: func(t *testing.T, u *user) { u.helm(t, "adopt/chart", "helmed") },
			flags:   "--release helmed",
			says: []string{
				"would take over 2 objects; no pod restarts", `~ Deployment helmed, part of Helm release "helmed"`, `~ Service helmed, part of Helm release "helmed"`,
				"! ConfigMap helmed-banner of the Helm release is not rendered: it stays as it is",
			},
			kinds: "deployment service",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			u := newUser(t, cluster.Namespace(t))
			cluster.Manager(t, u.namespace)
			test.install(t, u)
			before := u.running(t)
			adopt := fmt.Sprintf("kubectl appservice adopt -f adopt/%s-app.yaml %s", name, test.flags)
			said := u.must(t, 0, adopt)
			for _, words := range test.says {
				assert.Contains(t, said, words)
			}
			assert.Empty(t, u.must(t, 0, "kubectl get appservices --output name"), "something was written before anybody agreed")
			u.must(t, 0, adopt+" --yes")
			app := harness.Seed(u.namespace, name)
			cluster.Ready(t, app)
			u.owns(t, app, test.kinds)
			adopting.adopted.Add(1)
			for _, ended := range u.ended(t, before) {
				adopting.restarted.Add(1)
				t.Errorf("%s of before does not run any more", ended)
			}
			assert.Contains(t, u.must(t, 0, adopt), "nothing to take over: the existing objects are its own already", "afterwards")
		})
	}
	leaveAdoption(t)
}

// leaveAdoption leaves the figures, whatever they are: restarts fail the summary, too.
func leaveAdoption(t *testing.T) {
	t.Helper()
	folder := os.Getenv(figuresFile)
	if folder == "" {
		return
	}
	require.NoError(t, os.MkdirAll(folder, 0o755))
	figures := fmt.Sprintf("adopted=%d restarted=%d\n", adopting.adopted.Load(), adopting.restarted.Load())
	files.Write(t, filepath.Join(folder, "adoption"), figures)
}

// applied has a user apply a file and wait for its workloads.
func applied(file string) func(*testing.T, *user) {
	return func(t *testing.T, u *user) {
		t.Helper()
		u.must(t, 0, "kubectl apply -f "+file)
	}
}

// helm installs a chart as Helm does.
func (u *user) helm(t *testing.T, folder, release string) {
	t.Helper()
	loaded, err := loader.Load(filepath.Join(u.folder, folder))
	require.NoError(t, err)
	flags := genericclioptions.NewConfigFlags(false)
	flags.KubeConfig = ptr.To(u.kubeconfig)
	helm := &action.Configuration{}
	require.NoError(t, helm.Init(flags, u.namespace, "secret", t.Logf))
	install := action.NewInstall(helm)
	install.ReleaseName, install.Namespace = release, u.namespace
	if _, err := install.RunWithContext(t.Context(), loaded, nil); err != nil {
		t.Fatal(err)
	}
}

// running waits until all pods of the namespace are ready, and returns the template of each by its UID.
func (u *user) running(t *testing.T) map[types.UID]string {
	t.Helper()
	var found map[types.UID]string
	harness.Eventually(t, "all pods are ready", func() (err error) {
		found, err = u.pods(t.Context())
		return err
	})
	return found
}

// template matches the labels by which the controllers of Kubernetes distinguish templates of pods.
var template = []string{"pod-template-hash", "controller-revision-hash"}

// pods returns the template of each pod, an error unless there are as many as workloads ask for, all of them ready.
func (u *user) pods(ctx context.Context) (map[types.UID]string, error) {
	pods := &corev1.PodList{}
	if err := cluster.Client.List(ctx, pods, client.InNamespace(u.namespace)); err != nil {
		return nil, err
	}
	found := map[types.UID]string{}
	for _, pod := range pods.Items {
		ready := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue })
		if !ready || pod.DeletionTimestamp != nil {
			return nil, fmt.Errorf("pod %s is not ready", pod.Name)
		}
		for _, label := range template {
			found[pod.UID] += pod.Labels[label]
		}
	}
	wanted, err := u.wanted(ctx)
	if err == nil && len(found) != wanted {
		err = fmt.Errorf("there are %d pods, want %d", len(found), wanted)
	}
	return found, err
}

// wanted is how many pods the workloads of the namespace ask for.
func (u *user) wanted(ctx context.Context) (count int, err error) {
	deployments, sets := &appsv1.DeploymentList{}, &appsv1.StatefulSetList{}
	for _, list := range []client.ObjectList{deployments, sets} {
		if err := cluster.Client.List(ctx, list, client.InNamespace(u.namespace)); err != nil {
			return 0, err
		}
	}
	for _, deployment := range deployments.Items {
		count += int(*deployment.Spec.Replicas)
	}
	for _, set := range sets.Items {
		count += int(*set.Spec.Replicas)
	}
	return count, nil
}

// ended lists the earlier pods that do not exist any more, or have another template.
func (u *user) ended(t *testing.T, before map[types.UID]string) []string {
	t.Helper()
	now := u.running(t)
	var list []string
	for uid, template := range before {
		if now[uid] != template || template == "" {
			list = append(list, fmt.Sprintf("pod %s of template %s", uid, template))
		}
	}
	if len(list) == 0 && len(now) != len(before) {
		t.Errorf("there were %d pods, and are %d", len(before), len(now))
	}
	return list
}

// owns checks that an AppService owns objects, which have its name unless they name another one.
func (u *user) owns(t *testing.T, app *v1.AppService, objects string) {
	t.Helper()
	for _, object := range strings.Fields(objects) {
		if !strings.Contains(object, "/") {
			object += "/" + app.Name
		}
		owner := u.must(t, 0, fmt.Sprintf("kubectl get %s --output jsonpath='{.metadata.ownerReferences[?(@.controller)].uid}{.metadata.annotations.app\\.example\\.com/retained-for}'", object))
		if want := string(app.UID); owner != want && (!strings.HasPrefix(object, "persistentvolumeclaim/") || owner != app.Name) {
			t.Errorf("%s is of %q, want %q", object, owner, want)
		}
		managers := u.must(t, 0, fmt.Sprintf("kubectl get %s --output jsonpath='{range .metadata.managedFields[*]}{.manager}/{.subresource} {end}' --show-managed-fields", object))
		for _, manager := range strings.Fields(managers) {
			if strings.HasSuffix(manager, "/") && !strings.HasPrefix(manager, "appservice-operator") { // it has another one for replicas
				t.Errorf("%s is still managed by %s", object, manager)
			}
		}
	}
}
