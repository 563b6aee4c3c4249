//go:build cluster

package walk

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/release"
)

// witness sees each version of the workloads of a namespace, and says what must never be, whatever the end looks like.
type witness struct {
	mu    sync.Mutex
	wrong []error
	// replicas are those of each workload, by its UID.
	replicas map[types.UID]int32
	// started are the Jobs that were seen unsuspended, and running the Jobs of the pods that have not ended, by the pod.
	started map[types.UID]string
	running map[types.UID]types.UID
	// values are those of each Secret that the operator fills.
	values map[types.UID]map[string][]byte
}

// watch watches a namespace until the test ends.
func watch(t *testing.T, namespace string, r role) *witness {
	t.Helper()
	w := &witness{replicas: map[types.UID]int32{}, started: map[types.UID]string{}, running: map[types.UID]types.UID{}, values: map[types.UID]map[string][]byte{}}
	lists := map[client.ObjectList]func(apiwatch.Event){&corev1.SecretList{}: w.secret}
	switch r {
	case ofAutoscaler:
		lists[&appsv1.DeploymentList{}] = w.scaled
	case ofJob:
		lists[&batchv1.JobList{}], lists[&corev1.PodList{}] = w.job, w.pod
	}
	watcher, err := client.NewWithWatch(cluster.Config, client.Options{Scheme: cluster.Client.Scheme()})
	require.NoError(t, err)
	for list, see := range lists {
		events, err := watcher.Watch(t.Context(), list, client.InNamespace(namespace))
		require.NoError(t, err)
		t.Cleanup(events.Stop)
		go func() {
			for event := range events.ResultChan() {
				w.mu.Lock()
				see(event)
				w.mu.Unlock()
			}
		}()
	}
	return w
}

// err returns what must not have been.
func (w *witness) err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return errors.Join(w.wrong...)
}

// runs returns how many Jobs were started.
func (w *witness) runs() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.started)
}

// scaled sees a Deployment that is autoscaled. Its replicas are those that an autoscaler, or another writer, has set.
func (w *witness) scaled(event apiwatch.Event) {
	deployment, is := event.Object.(*appsv1.Deployment)
	if !is || deployment.Spec.Replicas == nil {
		return
	}
	before, known := w.replicas[deployment.UID]
	now := *deployment.Spec.Replicas
	if known && now != before && setByOperator(before, deployment) {
		w.wrong = append(w.wrong, fmt.Errorf("the operator set the replicas of an autoscaled Deployment from %d to %d", before, now))
	}
	w.replicas[deployment.UID] = now
}

// setByOperator reports whether the operator set the replicas: it owns them, or nobody does and the API server gave them their default, since
// the operator no longer applies them. Changes by the subresource scale to 0, and from 0, have no owner either.
func setByOperator(before int32, object *appsv1.Deployment) bool {
	for _, entry := range object.GetManagedFields() {
		var fields struct {
			Spec map[string]any `json:"f:spec"`
		}
		if entry.FieldsV1 == nil || json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) != nil || fields.Spec["f:replicas"] == nil {
			continue
		}
		return strings.HasPrefix(entry.Manager, release.FieldManager)
	}
	return *object.Spec.Replicas == 1 && before > 0
}

func (w *witness) job(event apiwatch.Event) {
	if job, is := event.Object.(*batchv1.Job); is && !ptr.Deref(job.Spec.Suspend, false) {
		w.started[job.UID] = job.Name
	}
}

func (w *witness) pod(event apiwatch.Event) {
	pod, is := event.Object.(*corev1.Pod)
	if !is {
		return
	}
	controller := metav1.GetControllerOfNoCopy(pod)
	ended := event.Type == apiwatch.Deleted || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	switch {
	case ended:
		delete(w.running, pod.UID)
		return
	case controller != nil: // an orphan stays with the Job that made it
		w.running[pod.UID] = controller.UID
	}
	for _, of := range w.running {
		if of != w.running[pod.UID] {
			w.wrong = append(w.wrong, fmt.Errorf("pod %s runs while a pod of another Job runs", pod.Name))
		}
	}
}
