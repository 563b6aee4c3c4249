package tree

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
	"github.com/example/appservice-operator/internal/operator/status/health"
)

// Tree returns the tree of a resource's objects in the order in which they are applied, objects that others created for
// them, and pods.
func Tree(f *Findings) *Node {
	root := f.root()
	root.add(f.unobserved())
	for _, object := range f.Objects {
		n := &Node{Type: TypeObject, Name: object.Entry.Kind + " " + object.Entry.Name, State: stateOf(object.Entry.State),
			Stage: object.stage(), Message: object.Entry.Message}
		if object.Live != nil {
			n.Since = ptr.To(object.Live.GetCreationTimestamp())
			if object.Live.GetAnnotations()[v1.AnnotationRetainedFor] != "" {
				n.Message = join(n.Message, "kept when the "+f.Resource.GetKind()+" goes")
			}
		}
		n.add(f.pods(object)...)
		for _, dependent := range object.Dependents {
			n.add(f.dependent(dependent))
		}
		root.add(n)
	}
	if release := f.Status.Release; release != nil {
		root.add(&Node{
			Type: TypeObject, Name: fmt.Sprintf("Secret sh.helm.release.v1.%s.v%d", f.Resource.GetName(), release.Revision),
			State:   StateReady,
			Message: "the Helm release",
		})
	}
	return root.add(f.gaps()...)
}

// pods returns the nodes of an object's pods; those of a Deployment are below their ReplicaSets, without ReplicaSets
// that have no pods.
func (f *Findings) pods(object *Object) []*Node {
	if object.PodFindings == nil {
		return nil
	}
	var list []*Node
	sets := map[string]*Node{}
	for i := range object.PodFindings.ReplicaSets {
		set := &object.PodFindings.ReplicaSets[i]
		if !metav1.IsControlledBy(set, object.Live) || set.Status.Replicas == 0 && ptr.Deref(set.Spec.Replicas, 1) == 0 {
			continue
		}
		n := replicaSetNode(set, f)
		sets[string(set.UID)], list = n, append(list, n)
	}
	for _, sight := range f.allPods(object) {
		pod := podNode(sight)
		controller := metav1.GetControllerOfNoCopy(sight.Pod)
		if controller != nil && sets[string(controller.UID)] != nil {
			sets[string(controller.UID)].add(pod)
		} else {
			list = append(list, pod)
		}
	}
	return list
}

// allPods returns the pods that count, followed by those that are being deleted or have ended.
func (f *Findings) allPods(object *Object) []diagnose.Sight {
	list := object.PodFindings.Sights()
	known := map[types.UID]bool{object.Live.GetUID(): true}
	for i := range object.PodFindings.ReplicaSets {
		if set := &object.PodFindings.ReplicaSets[i]; metav1.IsControlledBy(set, object.Live) {
			known[set.UID] = true
		}
	}
	for i := range object.PodFindings.Pods {
		pod := &object.PodFindings.Pods[i]
		seen := slices.ContainsFunc(list, func(s diagnose.Sight) bool { return s.Pod.UID == pod.UID })
		if controller := metav1.GetControllerOfNoCopy(pod); controller != nil && known[controller.UID] && !seen {
			list = append(list, diagnose.Sight{Pod: pod})
		}
	}
	return list
}

func replicaSetNode(set *appsv1.ReplicaSet, f *Findings) *Node {
	state := health.Of(set, health.Facts{Now: f.Now})
	n := stateNode("ReplicaSet "+set.Name, set, state)
	n.Ready = fmt.Sprintf("%d/%d", set.Status.ReadyReplicas, ptr.Deref(set.Spec.Replicas, 1))
	n.Message = join(revision(set), n.Message)
	return n
}

func revision(set *appsv1.ReplicaSet) string {
	if number := set.Annotations["deployment.kubernetes.io/revision"]; number != "" {
		return "revision " + number
	}
	return ""
}

// dependent returns the node of an object that another controller created.
func (f *Findings) dependent(object client.Object) *Node {
	kind := ""
	if of, err := apiutil.GVKForObject(object, scheme.Scheme); err == nil { // all that is listed is built in
		kind = of.Kind
	}
	if slice := kube.As[discoveryv1.EndpointSlice](object); slice != nil {
		ready := 0
		for _, endpoint := range slice.Endpoints {
			if ptr.Deref(endpoint.Conditions.Ready, true) {
				ready++
			}
		}
		return &Node{
			Type: TypeObject, Name: kind + " " + slice.Name, State: StateReady,
			Ready: fmt.Sprintf("%d/%d", ready, len(slice.Endpoints)), Since: &slice.CreationTimestamp,
		}
	}
	return stateNode(kind+" "+object.GetName(), object, health.Of(object, health.Facts{Now: f.Now}))
}

func stateNode(name string, object client.Object, state health.State) *Node {
	n := &Node{Type: TypeObject, Name: name, Since: ptr.To(object.GetCreationTimestamp())}
	n.State = states[state.Verdict]
	if state.Verdict != health.Ready {
		n.Message = state.Message
	}
	return n
}

var states = map[health.Verdict]State{
	health.Ready: StateReady, health.Warned: StateWarning, health.Waiting: StateWaiting, health.Stuck: StateFailed,
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ", " + b
}
