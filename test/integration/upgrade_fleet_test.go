//go:build cluster

package integration

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// fleetBefore is the file with the commit of the version whose fleet is upgraded.
const fleetBefore = "../testdata/before/FLEET"

// former is the operator of the version before, in a namespace.
type former struct {
	namespace, binary, kubeconfig string
	// dir is a folder of charts, and watches a file of entries, for both versions; empty for those of each.
	dir, watches string
	// flags are those of both versions.
	concurrent, failed int
	deadline           time.Duration
	policy             string

	running *harness.Process
}

// start starts it, in place of one that runs.
func (f *former) start(t *testing.T) {
	t.Helper()
	f.stop()
	args := []string{"--watch-namespaces=" + f.namespace, fmt.Sprint("--max-concurrent-rollouts=", f.concurrent),
		fmt.Sprint("--max-failed-rollouts=", f.failed), fmt.Sprint("--rollout-deadline=", f.deadline)}
	if f.dir != "" {
		args = append(args, "--chart-dir="+f.dir)
	}
	if f.watches != "" {
		args = append(args, "--watches-file="+f.watches)
	}
	if f.policy != "" {
		args = append(args, "--policy="+f.policy)
	}
	f.running = harness.RunBinary(t, f.binary, f.kubeconfig, args...)
}

func (f *former) stop() {
	if f.running != nil {
		f.running.Kill()
	}
}

// options are the same for the version that comes.
func (f *former) options(options *operator.Options, _ *harness.Requests) {
	options.MaxConcurrentRollouts, options.MaxFailedRollouts, options.RolloutDeadline = f.concurrent, f.failed, f.deadline
	if options.Policy = f.policy; f.dir != "" {
		options.ChartDir = f.dir
	}
	if f.watches != "" {
		options.WatchesFile = f.watches
	}
}

// upgrades are what a fleet may be in the middle of when the operator is upgraded. A row creates resources with the
// version before, and waits for their state.
var upgrades = map[string]func(t *testing.T, before *former){
	"services and jobs": func(t *testing.T, before *former) {
		before.start(t)
		app := everything(before.namespace)
		cluster.CreateReady(t, app)
		for name, spec := range map[string]map[string]any{
			"once":    {"image": "report:1"},
			"nightly": {"image": "report:1", "schedule": "0 3 * * *"},
		} {
			job := appJob(before.namespace, spec)
			job.SetName(name)
			cluster.Create(t, job)
			becomesReady(t, job)
		}
	},
	"claims of replicas": func(t *testing.T, before *former) {
		before.start(t)
		cluster.CreateReady(t, stateful(before.namespace, harness.StaticVolumes))
	},
	"a claim of a StatefulSet of size 0": func(t *testing.T, before *former) {
		before.start(t)
		app := stateful(before.namespace, harness.StaticVolumes)
		cluster.CreateReady(t, app)
		cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Size = ptr.To[int32](0) })
		cluster.Ready(t, app)
	},
	"a release that was returned from": func(t *testing.T, before *former) {
		before.start(t)
		app := returning(before.namespace, "web")
		cluster.CreateReady(t, app)
		cluster.Change(t, app, func(app *v1.AppService) { notThere(&app.Spec) })
		returned(t, app, 2, 1)
	},
	"a task that runs": func(t *testing.T, before *former) {
		before.start(t)
		app := migrated(before.namespace)
		cluster.CreateReady(t, app)
		cluster.Change(t, app, func(app *v1.AppService) {
			app.Spec.Image = "shop:2"
			scriptTask(app, runsOn)
		})
		taskPod(t, before.namespace)
	},
	"a task that failed": func(t *testing.T, before *former) {
		before.start(t)
		app := migrated(before.namespace)
		cluster.CreateReady(t, app)
		cluster.Change(t, app, func(app *v1.AppService) {
			app.Spec.Image = "shop:2"
			scriptTask(app, fails)
		})
		cluster.Condition(t, app, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonJobFailed)
	},
	"values that were made again": func(t *testing.T, before *former) {
		before.start(t)
		app := generating(before.namespace)
		cluster.CreateReady(t, app)
		deleteKey(t, generatedOf(t, app), "KEY")
		harness.Eventually(t, "the pods roll", func() error {
			return want("version", deployment(t, app).Spec.Template.Annotations[v1.AnnotationGeneratedVersion], "web-generated=1.1")
		})
		rolled(t, app)
	},
	"certificates that were made": func(t *testing.T, before *former) { withCertificates(t, before) },
	"objects that were adopted": func(t *testing.T, before *former) {
		byHand(t, before.namespace, map[string]string{"app": "web"}, metav1.ObjectMeta{})
		before.start(t)
		cluster.CreateReady(t, seedToAdopt(before.namespace))
	},
	"a chart that is held back": func(t *testing.T, before *former) {
		app := runsWithTheFormerChart(t, before, "web")
		replaceIn(t, filepath.Join(before.dir, "helm-charts/appservice/values.yaml"), "terminationGracePeriodSeconds: 30", "terminationGracePeriodSeconds: 31")
		files.Write(t, filepath.Join(before.dir, "helm-charts/appservice/templates/refused.yaml"), `{{ fail "no more" }}`)
		before.start(t)
		heldBack(t, app, "no more")
	},
	"a chart that is halted": func(t *testing.T, before *former) {
		app, other := runsWithTheFormerChart(t, before, "web"), runsWithTheFormerChart(t, before, "other")
		replaceIn(t, filepath.Join(before.dir, "helm-charts/appservice/templates/_pod.tpl"), "merge (dict)",
			fmt.Sprintf("merge (dict %q `%s`)", "script.kwok.x-k8s.io/status", waits("ImagePullBackOff", "Back-off pulling image: upgraded", "", 0)))
		before.start(t)
		harness.Eventually(t, "the chart is halted", func() error {
			for _, app := range []*v1.AppService{app, other} {
				if err := present(t, app); err != nil {
					return err
				}
				if slices.ContainsFunc(app.Status.Problems, func(p v1.Problem) bool { return strings.Contains(p.Message, "is halted: ") }) {
					return nil
				}
			}
			return errors.New("not yet")
		})
	},
	"variables in another order": func(t *testing.T, before *former) {
		before.start(t)
		app := harness.Seed(before.namespace, "web")
		app.Spec.Envs = []corev1.EnvVar{{Name: "A", Value: "a"}, {Name: "B", Value: "$(A)"}}
		cluster.CreateReady(t, app)
		editPods(t, app, func(s *corev1.PodSpec) { slices.Reverse(s.Containers[0].Env) })
		rolled(t, app)
	},
	"a kind of one's own, with stages": func(t *testing.T, before *former) {
		before.dir = stagedCharts(t)
		before.start(t)
		shop := inStages(before.namespace, "shop")
		cluster.Create(t, shop)
		becomesReady(t, shop)
	},
	"a Job of the stage after that never ran": func(t *testing.T, before *former) {
		before.dir = stagedCharts(t)
		require.NoError(t, os.Remove(filepath.Join(before.dir, "helm-charts/appjob/templates/before.yaml")))
		before.start(t)
		shop := inStages(before.namespace, "shop")
		cluster.Create(t, shop)
		isNotReady(t, shop, v1.ReasonRunUnknown)
	},
	"texts at the end of documents":       endsOfTexts,
	"pods of a kind that is not built in": podsOfOtherKinds,
	"a database":                          configured,
	"what the policy no longer allows": func(t *testing.T, before *former) {
		before.start(t)
		cluster.CreateReady(t, formerlyAllowed(before.namespace, "web"))
	},
	"a task outside of the sandbox of the pods": func(t *testing.T, before *former) {
		before.start(t)
		app := migrated(before.namespace)
		app.Spec.PodTemplate = &v1.PodTemplate{Spec: &runtime.RawExtension{Raw: []byte(`{"hostUsers":false}`)}}
		cluster.CreateReady(t, app)
	},
	"a policy of the platform": func(t *testing.T, before *former) {
		before.policy = filepath.Join(t.TempDir(), "policy.yaml")
		files.Write(t, before.policy, "default:\n  registries: [docker.io]\n")
		before.start(t)
		cluster.CreateReady(t, harness.Seed(before.namespace, "web"))
		refused := harness.Seed(before.namespace, "refused")
		refused.Spec.Ports[0].NodePort, refused.Spec.Image = nil, "registry.example.com/web:1"
		cluster.Create(t, refused)
		cluster.Condition(t, refused, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonPolicyViolation)
	},
}

// afterwards are what becomes of some rows with their next release, by row.
var afterwards = map[string]func(t *testing.T, namespace string){
	"texts at the end of documents":       endsOfTextsAreReleased,
	"pods of a kind that is not built in": podsOfOtherKindsAreChecked,
	"a database":                          showsNoChecksum,
	"what the policy no longer allows":    formerlyAllowedGoesOn,
}

// rolled waits until the two pods of an AppService are new, and those before are gone.
func rolled(t *testing.T, app *v1.AppService) {
	t.Helper()
	harness.Eventually(t, "its pods have rolled", func() error {
		now := deployment(t, app)
		return errors.Join(want("observed", now.Status.ObservedGeneration, now.Generation), want("updated", now.Status.UpdatedReplicas, 2),
			want("replicas", now.Status.Replicas, 2), want("available", now.Status.AvailableReplicas, 2), want("pods", len(podsFor(t, app)), 2))
	})
	cluster.Ready(t, app)
}

// runsWithTheFormerChart returns an AppService that is ready with a chart of its folder, before that changes.
func runsWithTheFormerChart(t *testing.T, before *former, name string) *v1.AppService {
	t.Helper()
	if before.dir == "" {
		before.dir, before.concurrent, before.failed, before.deadline = files.Charts(t), 1, 0, 10*time.Second
		before.start(t)
	}
	app := harness.Seed(before.namespace, name)
	app.Spec.Ports[0].NodePort = nil
	cluster.CreateReady(t, app)
	return app
}

// An upgrade of the operator restarts no pod, runs no Job, deletes nothing and refuses nobody, whatever resources are in
// the middle of.
func TestAnUpgradeChangesNothingOfAMixedFleet(t *testing.T) {
	t.Parallel()
	commit, err := os.ReadFile(fleetBefore)
	require.NoError(t, err)
	binary := managerOf(t, strings.TrimSpace(string(commit)))
	for name, row := range upgrades {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := cluster.Namespace(t)
			before := &former{namespace: namespace, binary: binary, kubeconfig: cluster.NewProxy(t).Kubeconfig,
				concurrent: 10, failed: 3, deadline: 15 * time.Minute}
			row(t, before)
			before.stop()
			running, ready := uidsOf(t, namespace), readyOf(t, namespace)

			manager := cluster.Manager(t, namespace, before.options)
			manager.Rest(t)
			assert.Equal(t, running, uidsOf(t, namespace))
			assert.Equal(t, ready, readyOf(t, namespace))
			for _, request := range manager.Requests.WritesSince(0) {
				if request.Verb == "delete" {
					t.Errorf("the upgrade wrote: %s", request)
				}
			}
			t.Logf("%d objects that run, %v", len(running), ready)
			if then := afterwards[name]; then != nil {
				then(t, namespace)
			}
		})
	}
}

// readyOf returns status and reason of the condition Ready of the resources in a namespace: of the operator's kinds, and others.
func readyOf(t *testing.T, namespace string, kinds ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, kind := range append(kinds, v1.Kind, "AppJob") {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: v1.GroupVersion.Group, Version: v1.GroupVersion.Version, Kind: kind + "List"})
		cluster.List(t, list, client.InNamespace(namespace))
		for i := range list.Items {
			conditions, _, _ := unstructured.NestedSlice(list.Items[i].Object, "status", "conditions")
			for _, entry := range conditions {
				if condition := entry.(map[string]any); condition["type"] == v1.ConditionReady {
					all[kind+" "+list.Items[i].GetName()] = fmt.Sprint(condition["status"], " ", condition["reason"])
				}
			}
		}
	}
	return all
}
