//go:build cluster

package integration

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// mayGrow is how many megabytes of memory more the operator may take, whatever others write.
const mayGrow = 50

// Everybody may make objects that the operator's caches select, as large as the API server takes them. They do not fill its
// memory, be it there when they are made or started afterwards.
func TestMemoryUnderWhatOthersMake(t *testing.T) {
	namespace := cluster.Namespace(t)
	proxy := cluster.NewProxy(t)
	app := harness.Seed(namespace, "web")
	app.Spec.Config = &v1.Config{Environment: map[string]v1.ConfigValue{"LEVEL": "info"}}
	cluster.Create(t, app)
	paused := harness.Seed(namespace, "paused")
	paused.Spec.Paused = true
	cluster.Create(t, paused)

	fresh := harness.RunAsUsersDo(t, proxy.Kubeconfig, "--watch-namespaces="+namespace)
	cluster.Ready(t, app)
	before, _ := memory(t, fresh)
	for name, object := range attacks(paused) {
		for i := range 100 {
			made := object()
			made.SetNamespace(namespace)
			made.SetName(fmt.Sprintf("%s-%d", name, i))
			if err := cluster.Client.Create(t.Context(), made); err != nil {
				t.Fatalf("%s %d: %v", name, i, err)
			}
			t.Cleanup(func() { _ = cluster.Client.Delete(context.WithoutCancel(t.Context()), made) })
		}
		followsItsConfigMap(t, app)
		now, peak := memory(t, fresh)
		t.Logf("%s: %d MB before, %d MB now, %d MB at the most", name, before, now, peak)
		if peak-before > mayGrow {
			t.Errorf("%s: memory grew by %d MB, want %d at the most", name, peak-before, mayGrow)
		}
	}
	fresh.Kill()

	late := harness.RunAsUsersDo(t, proxy.Kubeconfig, "--watch-namespaces="+namespace)
	followsItsConfigMap(t, app)
	now, peak := memory(t, late)
	t.Logf("started again: %d MB now, %d MB at the most", now, peak)
	if peak-before > mayGrow {
		t.Errorf("started again, it takes %d MB more than before, want %d at the most", peak-before, mayGrow)
	}
}

// attacks are objects with the label that the caches select by, each large in another way.
func attacks(owner *v1.AppService) map[string]func() client.Object {
	labeled := metav1.ObjectMeta{Labels: map[string]string{v1.LabelManaged: "true"}}
	configMap := func(change func(*corev1.ConfigMap)) func() client.Object {
		return func() client.Object {
			object := &corev1.ConfigMap{ObjectMeta: *labeled.DeepCopy()}
			change(object)
			return object
		}
	}
	return map[string]func() client.Object{
		"data": configMap(func(o *corev1.ConfigMap) { o.Data = map[string]string{"k": harness.Noise(1, 900<<10)[0]} }),
		"data-of-the-resource": configMap(func(o *corev1.ConfigMap) {
			o.Data = map[string]string{"k": harness.Noise(1, 900<<10)[0]}
			o.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, v1.GroupVersion.WithKind(v1.Kind))}
		}),
		"annotations": func() client.Object {
			object := &corev1.ServiceAccount{ObjectMeta: *labeled.DeepCopy()}
			object.Annotations = map[string]string{"note": harness.Noise(1, 250<<10)[0]}
			return object
		},
	}
}

// followsItsConfigMap has another client change a ConfigMap of the resource. When that is repaired, the operator has seen
// all that was made before.
func followsItsConfigMap(t *testing.T, app *v1.AppService) {
	t.Helper()
	rendered := &corev1.ConfigMap{}
	cluster.Get(t, client.ObjectKey{Namespace: app.Namespace, Name: app.Name + "-config"}, rendered)
	changed := rendered.DeepCopy()
	cluster.Edit(t, changed, func() { changed.Data["LEVEL"] = "more" })
	cluster.Becomes(t, "the ConfigMap is put right", changed, func() error { return want("level", changed.Data["LEVEL"], rendered.Data["LEVEL"]) })
}

// memory reads how many megabytes of a process are resident, and how many were at the most.
func memory(t *testing.T, process *harness.Process) (now, peak int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", process.Pid()))
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		kilobytes, _ := strconv.Atoi(fields[1])
		switch fields[0] {
		case "VmRSS:":
			now = kilobytes >> 10
		case "VmHWM:":
			peak = kilobytes >> 10
		}
	}
	return now, peak
}
