//go:build cluster

package integration

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/test/large"
	"github.com/example/appservice-operator/tools/part"
)

// neighbor is an AppService of a tenant who does nothing wrong, beside one who does.
type neighbor struct {
	*testing.T
	app     *v1.AppService
	proxy   *harness.Proxy
	process *harness.Process
	args    []string
}

// beside starts the operator's program in a container of its usual size, for the namespaces of an attacker and of a neighbor.
func beside(t *testing.T, attacker string) *neighbor {
	t.Helper()
	app := idle(cluster.Namespace(t), "web")
	app.Spec.Config = &v1.Config{Environment: map[string]v1.ConfigValue{"LEVEL": "info"}}
	cluster.Create(t, app)
	n := &neighbor{T: t, app: app, proxy: cluster.NewProxy(t), args: []string{"--watch-namespaces=" + attacker + "," + app.Namespace}}
	n.start()
	return n
}

func (n *neighbor) start() {
	n.Helper()
	n.process = harness.RunAsUsersDo(n.T, n.proxy.Kubeconfig, n.args...)
	cluster.Ready(n.T, n.app)
}

// served changes the neighbor's spec, then damages a rendered object: the operator applies and repairs, and the status says so.
func (n *neighbor) served() {
	n.Helper()
	cluster.Change(n.T, n.app, func(app *v1.AppService) { app.Spec.Image += "1" })
	cluster.Ready(n.T, n.app)
	followsItsConfigMap(n.T, n.app)
}

// fits asserts that the operator is within its limit.
func (n *neighbor) fits(when string) {
	n.Helper()
	now, peak := memory(n.T, n.process)
	n.Logf("%s: %d MB now, %d MB at the most", when, now, peak)
	if peak > harness.MemoryLimit {
		n.Errorf("%s: it took %d MB, want %d at the most", when, peak, harness.MemoryLimit)
	}
}

// again kills the operator and restarts it.
func (n *neighbor) again() {
	n.Helper()
	n.process.Kill()
	n.start()
}

// idle is an AppService whose workload has no pods.
func idle(namespace, name string) *v1.AppService {
	app := harness.Seed(namespace, name)
	app.Spec.Size = ptr.To[int32](0)
	return app
}

// count is how many AppServices an attack creates: SIZE_FLEET, if that is set.
func count(t *testing.T, otherwise int) int {
	t.Helper()
	text := os.Getenv("SIZE_FLEET")
	if text == "" {
		return otherwise
	}
	many, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("SIZE_FLEET: %v", err)
	}
	return many
}

// each calls a function for many AppServices, some at a time.
func each(t *testing.T, many int, do func(i int) error) {
	t.Helper()
	const writers = 4
	var all sync.WaitGroup
	for writer := range writers {
		all.Go(func() {
			for i := writer; i < many; i += writers {
				if err := do(i); err != nil {
					t.Errorf("%d: %v", i, err)
					return
				}
			}
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// verdicts waits until all AppServices of a namespace have a Ready condition for their present generation, with the given reason unless that is empty.
func verdicts(t *testing.T, namespace, reason string) {
	t.Helper()
	for least := math.MaxInt; least > 0; { // a wait for each that gets one, however many there are
		harness.Eventually(t, "another one has a verdict", func() error {
			list := &v1.AppServiceList{}
			if err := cluster.Client.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
				return err
			}
			without := 0
			for _, app := range list.Items {
				if ready := conditionOf(&app, v1.ConditionReady); ready == nil || ready.ObservedGeneration != app.Generation ||
					ready.Reason == v1.ReasonPending || reason != "" && ready.Reason != reason {
					without++
				}
			}
			if without >= least {
				return fmt.Errorf("%d AppServices have none", without)
			}
			least = without
			return nil
		})
	}
}

func conditionOf(app *v1.AppService, kind string) *metav1.Condition {
	for i := range app.Status.Conditions {
		if app.Status.Conditions[i].Type == kind {
			return &app.Status.Conditions[i]
		}
	}
	return nil
}

// hugeSecrets is what once filled the memory: 16 sidecars that refer to 500 Secrets each, 816 kB.
func hugeSecrets(namespace string, i int) *v1.AppService {
	app := idle(namespace, fmt.Sprint("huge-", i))
	large.Shapes["references"](app, 9000)
	return app
}

func TestTheCRDRefusesWhatIsTooLarge(t *testing.T) {
	err := cluster.Client.Create(t.Context(), hugeSecrets(cluster.Namespace(t), 0))
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "must not have more than 256 entries together") || !strings.Contains(err.Error(), "envFrom") {
		t.Errorf("got %v, want it refused with the bound and what to do", err)
	}
}

// A spec that passes the CRD because that is an older one, or was changed, needs next to no memory. Its objects are kept.
func TestWhatGetsPastTheCRDAndIsTooLargeTakesNoMemory(t *testing.T) {
	attacker := cluster.Namespace(t)
	n := beside(t, attacker)
	grows := idle(attacker, "grows")
	cluster.CreateReady(t, grows)
	before, _ := memory(t, n.process)
	anythingGoes(t)

	each(t, 24, func(i int) error { return cluster.Client.Create(t.Context(), hugeSecrets(attacker, i)) })
	cluster.Change(t, grows, func(app *v1.AppService) { large.Shapes["references"](app, 9000) })
	n.served()
	verdicts(t, attacker, v1.ReasonTooLarge)
	message := cluster.Condition(t, grows, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonTooLarge).Message
	if !strings.Contains(message, "more than 48 KiB") || !strings.Contains(message, "ConfigMaps of your own") {
		t.Errorf("it says %q, want the bound and what to do", message)
	}
	now, _ := memory(t, n.process)
	n.fits(fmt.Sprintf("%d MB before", before))
	if now-before > mayGrow {
		t.Errorf("it takes %d MB more than before, want %d at the most", now-before, mayGrow)
	}
	n.again()
	verdicts(t, attacker, v1.ReasonTooLarge)
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: attacker, Name: grows.Name}}
	cluster.Delete(t, service)
	harness.Eventually(t, "what runs is kept", func() error {
		return cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(service), &corev1.Service{})
	})
	n.served()
	n.fits("started again")
}

// anythingGoes lets AppServices have any spec while a test runs.
func anythingGoes(t *testing.T) {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	cluster.Get(t, client.ObjectKey{Name: "appservices.app.example.com"}, crd)
	before := crd.Spec.Versions
	put := func(ctx context.Context, versions []apiextensionsv1.CustomResourceDefinitionVersion) error {
		patch := client.MergeFrom(crd.DeepCopy())
		crd.Spec.Versions = versions
		return cluster.Client.Patch(ctx, crd, patch)
	}
	open := crd.Spec.DeepCopy().Versions
	for i := range open {
		open[i].Schema.OpenAPIV3Schema.Properties["spec"] = apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: ptr.To(true),
			Properties: map[string]apiextensionsv1.JSONSchemaProps{"size": {Type: "integer"}}}
	}
	require.NoError(t, put(t.Context(), open))
	t.Cleanup(func() {
		if err := put(context.WithoutCancel(t.Context()), before); err != nil {
			t.Errorf("the CRD stays open: %v", err)
		}
	})
	probe := hugeSecrets(cluster.Namespace(t), 0)
	harness.Eventually(t, "the API server takes anything", func() error { return cluster.Client.Create(t.Context(), probe) })
}

// transient is how many megabytes more a start needs for large AppServices, however many there are.
const transient = 30

// largest are the most items of each shape that the CRD accepts.
var largest = map[string]int{"references": 100, "files": 32 << 10, "variables": 256, "arguments": 8 * 256, "terms": 15_000, "annotations": 64}

// A thousand of the largest AppServices that the CRD accepts fit. Fewer of one shape are tried, unless SIZE_FLEET is set: then the memory for each
// of them is asserted.
func TestAThousandOfTheLargestFit(t *testing.T) {
	t.Parallel()
	for n, name := range slices.Sorted(maps.Keys(largest)) {
		if os.Getenv("SIZE_FLEET") == "" && name != "references" || !part.Has(n) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			attacker, many := cluster.Namespace(t), count(t, 60)
			n := beside(t, attacker)
			before, _ := memory(t, n.process)
			for made := 0; made < many; made += 50 { // so that no wait is for all of them
				each(t, min(50, many-made), func(i int) error {
					app := idle(attacker, fmt.Sprint("app-", made+i))
					large.Shapes[name](app, largest[name])
					large.Fill(app)
					return cluster.Client.Create(t.Context(), app)
				})
				verdicts(t, attacker, "")
			}
			n.served()
			n.fits(fmt.Sprintf("%d, %d MB before", many, before))
			n.again()
			verdicts(t, attacker, "")
			n.served()
			n.fits("started again")
			now, _ := memory(t, n.process)
			if all := before + max(0, now-before-transient)*1000/many + transient; all > harness.MemoryLimit {
				t.Errorf("with 1,000 it would take %d MB, want %d at the most", all, harness.MemoryLimit)
			}
		})
	}
}

// Many claims of hosts and paths fit, too.
func TestManyClaimsFit(t *testing.T) {
	t.Parallel()
	attacker := cluster.Namespace(t)
	n := beside(t, attacker)
	before, _ := memory(t, n.process)
	each(t, count(t, 60), func(i int) error {
		app := idle(attacker, fmt.Sprint("app-", i))
		app.Spec.Ingress = &v1.Ingress{}
		for host := range 32 {
			claimed := v1.IngressHost{Host: fmt.Sprintf("h%d.a%d.%s.example.com", host, i, attacker)}
			for path := range 4 {
				claimed.Paths = append(claimed.Paths, v1.IngressPath{Path: fmt.Sprint("/p", path)})
			}
			app.Spec.Ingress.Hosts = append(app.Spec.Ingress.Hosts, claimed)
		}
		if err := cluster.Client.Create(t.Context(), app); err != nil {
			return err
		}
		app.ResourceVersion, app.Name = "", app.Name+"-more"
		app.Spec.Ingress.Hosts[0].Paths = append(app.Spec.Ingress.Hosts[0].Paths, v1.IngressPath{Path: "/more"})
		if err := cluster.Client.Create(t.Context(), app); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "more than 128 paths together") {
			return fmt.Errorf("129 paths: got %w, want them refused", err)
		}
		return nil
	})
	n.served()
	verdicts(t, attacker, "")
	n.fits(fmt.Sprintf("%d MB before", before))
	n.again()
	n.served()
	n.fits("started again")
}

// Specs that change all the time leave no more behind than others, and do not delay other AppServices.
func TestSpecsThatChangeAllTheTimeLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	attacker := cluster.Namespace(t)
	n := beside(t, attacker)
	const fleet, rounds = 50, 8
	each(t, fleet, func(i int) error {
		app := idle(attacker, fmt.Sprint("app-", i))
		large.Shapes["variables"](app, 100)
		return cluster.Client.Create(t.Context(), app)
	})
	changed := make(chan struct{})
	go func() {
		defer close(changed)
		for round := range rounds {
			image := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"image":"nginx:1.%d"}}`, round))
			for i := range fleet {
				_ = cluster.Client.Patch(t.Context(), idle(attacker, fmt.Sprint("app-", i)), image)
			}
		}
	}()
	n.served()
	<-changed
	verdicts(t, attacker, "")
	n.served()
	n.fits(fmt.Sprintf("after %d changes", fleet*rounds))
	records, events := &corev1.SecretList{}, &corev1.EventList{}
	harness.Eventually(t, "no more records are left than are kept", func() error {
		if err := cluster.Client.List(t.Context(), records, client.InNamespace(attacker), client.MatchingLabels{"owner": "helm"}); err != nil {
			return err
		}
		deployed, of := 0, map[string]int{}
		for _, record := range records.Items {
			of[record.Labels["name"]]++
			if record.Labels["status"] == "deployed" {
				deployed++
			}
			if of[record.Labels["name"]] > 5 {
				return fmt.Errorf("%s has more than 5", record.Labels["name"])
			}
		}
		return want("records of what is deployed", deployed, fleet)
	})
	cluster.List(t, events, client.InNamespace(attacker))
	of := map[string]int{}
	for _, event := range events.Items {
		if event.Source.Component == "appservice-operator" {
			of[event.InvolvedObject.Name]++
		}
	}
	for name, many := range of {
		if many > 30 { // of 9 specs
			t.Errorf("%s has %d events", name, many)
		}
	}
}

// A user who may write Secrets can put a text of a thousand times its size into release records. None is decompressed beyond the size that a record
// may have.
func TestBombsInReleaseRecordsTakeNoMemory(t *testing.T) {
	attacker, payload := cluster.Namespace(t), base64.StdEncoding.EncodeToString(bomb(t, 600<<20))
	n := beside(t, attacker)
	before, _ := memory(t, n.process)
	const fleet = 10
	each(t, fleet, func(i int) error { return cluster.Client.Create(t.Context(), idle(attacker, fmt.Sprint("app-", i))) })
	verdicts(t, attacker, v1.ReasonScaledToZero)
	each(t, fleet, func(i int) error {
		record := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: attacker, Name: fmt.Sprintf("sh.helm.release.v1.app-%d.v1", i)}}
		patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"data":{"release":%q}}`, payload))
		if err := cluster.Client.Patch(t.Context(), record, patch); err != nil {
			return err
		}
		refused := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"envFrom":[{"secretRef":{"name":"none"}}]}}`))
		app := idle(attacker, fmt.Sprint("app-", i))
		if err := cluster.Client.Patch(t.Context(), app, refused); err != nil {
			return err
		}
		return cluster.Client.Delete(t.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: attacker, Name: app.Name}})
	})
	verdicts(t, attacker, v1.ReasonDependencyMissing)
	app := idle(attacker, "app-0")
	harness.Eventually(t, "the status says why nothing is repaired", func() error {
		condition, err := cluster.ConditionNow(t.Context(), app, v1.ConditionReady)
		if err == nil && !strings.Contains(condition.Message, "damaged") {
			err = fmt.Errorf("it says %s", condition.Message)
		}
		return err
	})
	n.served()
	now, peak := memory(t, n.process)
	t.Logf("%d MB before, %d MB now, %d MB at the most", before, now, peak)
	if peak-before > 2*mayGrow {
		t.Errorf("it took %d MB more than before, want %d at the most", peak-before, 2*mayGrow)
	}
}
