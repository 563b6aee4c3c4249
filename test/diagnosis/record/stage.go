package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/poll"
)

// stage is the cluster that scenarios are played on.
type stage struct {
	client.Client
	version string

	mu   sync.Mutex
	made []*unstructured.Unstructured
}

// wait says when a scenario has reached the state to record. All of it has to be true.
type wait struct {
	Reason    string `json:"reason"`    // of a container
	Event     string `json:"event"`     // reason of an event
	Condition string `json:"condition"` // type or reason of a condition of anything
	Words     string `json:"words"`     // in a condition's message
	Restarts  int64  `json:"restarts"`  // of a container, at least
	Seconds   int    `json:"seconds"`   // after all that
	Refusal   bool   `json:"refusal"`
}

// recorded are the kinds that are kept.
var recorded = []schema.GroupVersionKind{
	{Group: "apps", Version: "v1", Kind: "Deployment"},
	{Group: "apps", Version: "v1", Kind: "ReplicaSet"},
	{Version: "v1", Kind: "Pod"},
	{Version: "v1", Kind: "PersistentVolumeClaim"},
	{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
	{Version: "v1", Kind: "Event"},
}

// play creates the objects of a scenario. It returns the API server's answer if that is recorded.
func (s *stage) play(ctx context.Context, name string, scenario scenario) (refused *unstructured.Unstructured) {
	s.namespace(ctx, name, scenario.Namespace)
	for i := range scenario.Objects {
		object := &scenario.Objects[i]
		object.SetNamespace(name)
		err := s.make(ctx, object)
		if scenario.Wait.Refusal && err != nil {
			return status(err)
		}
		try.Do(err)
	}
	if scenario.Wait.Refusal {
		try.Fail("nothing was refused")
	}
	pause(ctx, scenario.Settle) // until the API server knows of what it has to ask
	if scenario.Pod == nil {
		scenario.Pod = map[string]any{"containers": []any{map[string]any{"name": "app"}}}
	}
	try.Do(s.make(ctx, deployment(name, scenario)))
	if scenario.Then == nil && !scenario.Metrics {
		return nil
	}
	try.Get2(s.await(ctx, name, wait{Condition: "NewReplicaSetAvailable"}))
	if scenario.Metrics {
		s.metrics(ctx, name)
		return nil
	}
	patch := try.Get(json.Marshal(map[string]any{"spec": scenario.Then}))
	try.Do(s.Patch(ctx, deployment(name, scenario), client.RawPatch(types.StrategicMergePatchType, patch)))
	return nil
}

func (s *stage) namespace(ctx context.Context, name string, labels map[string]string) {
	namespace := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
	namespace.SetName(name)
	namespace.SetLabels(labels)
	fresh := namespace.DeepCopy()
	try.Do(poll.Until(ctx, func(ctx context.Context) error { // one that an earlier run left goes first
		namespace = fresh.DeepCopy()
		err := s.make(ctx, namespace)
		if apierrors.IsAlreadyExists(err) {
			_ = s.Delete(ctx, fresh.DeepCopy())
		}
		return err
	}))
	account := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ServiceAccount"}}
	try.Do(poll.Until(ctx, func(ctx context.Context) error {
		return s.Get(ctx, client.ObjectKey{Namespace: name, Name: "default"}, account)
	}))
}

// make creates an object, to be deleted in the end if it does not go with its namespace.
func (s *stage) make(ctx context.Context, object *unstructured.Unstructured) error {
	namespaced, err := s.IsObjectNamespaced(object)
	if err != nil {
		return err
	}
	if !namespaced {
		object.SetNamespace("")
	}
	if err := s.Create(ctx, object); err != nil {
		return err
	}
	if !namespaced {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.made = append(s.made, object)
	}
	return nil
}

// clear deletes the objects of a scenario.
func (s *stage) clear(ctx context.Context) {
	for _, object := range s.made {
		if err := s.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
			fmt.Println("left over:", object.GetKind(), object.GetName(), err)
		}
	}
}

// await reads all that is recorded until it is what a scenario waits for.
func (s *stage) await(ctx context.Context, namespace string, wait wait) (objects []unstructured.Unstructured, at time.Time, err error) {
	read := func(ctx context.Context) error {
		objects, at = nil, time.Now().UTC()
		for _, kind := range recorded {
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
			if err := s.List(ctx, list, client.InNamespace(namespace)); err != nil {
				return err
			}
			objects = append(objects, list.Items...)
		}
		return wait.over(objects)
	}
	if err := poll.Until(ctx, read); err != nil {
		return nil, at, err
	}
	if wait.Seconds == 0 {
		return objects, at, nil
	}
	pause(ctx, wait.Seconds)
	return objects, at, poll.Until(ctx, read)
}

// over returns an error while something that is waited for is not there.
func (w wait) over(objects []unstructured.Unstructured) error {
	text, err := json.Marshal(objects)
	if err != nil {
		return err
	}
	var pods, others strings.Builder
	restarts := int64(0)
	for _, object := range objects {
		part, _ := json.Marshal(object.Object["status"])
		switch object.GetKind() {
		case "Deployment":
			if observed, _, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration"); observed < object.GetGeneration() {
				return fmt.Errorf("the Deployment is not noticed yet")
			}
		case "Pod":
			pods.Write(part)
			statuses, _, _ := unstructured.NestedSlice(object.Object, "status", "containerStatuses")
			inits, _, _ := unstructured.NestedSlice(object.Object, "status", "initContainerStatuses")
			for _, status := range append(statuses, inits...) {
				count, _, _ := unstructured.NestedInt64(status.(map[string]any), "restartCount")
				restarts = max(restarts, count)
			}
		case "Event":
			fmt.Fprintf(&others, "event %s ", object.Object["reason"])
		}
	}
	quoted := func(word string) string { return `"` + word + `"` }
	switch {
	case w.Reason != "" && !strings.Contains(pods.String(), `"reason":`+quoted(w.Reason)):
		return fmt.Errorf("no container is %s yet", w.Reason)
	case w.Event != "" && !strings.Contains(others.String(), "event "+w.Event+" "):
		return fmt.Errorf("there is no event %s yet", w.Event)
	case w.Condition != "" && !strings.Contains(string(text), `"reason":`+quoted(w.Condition)) && !strings.Contains(string(text), `"type":`+quoted(w.Condition)):
		return fmt.Errorf("there is no condition %s yet", w.Condition)
	case !strings.Contains(string(text), w.Words):
		return fmt.Errorf("nothing says %q yet", w.Words)
	case restarts < w.Restarts:
		return fmt.Errorf("there were %d restarts", restarts)
	}
	return nil
}

// status is the API server's refusal as an object.
func status(err error) *unstructured.Unstructured {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		try.Do(err)
		return nil
	}
	told := answer.Status()
	content, failed := runtime.DefaultUnstructuredConverter.ToUnstructured(&told)
	try.Do(failed)
	return &unstructured.Unstructured{Object: content}
}

func pause(ctx context.Context, seconds int) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
	defer cancel()
	<-ctx.Done()
}
