package tree

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
)

// Why returns the problems of a resource as a tree: from its conditions to objects, causes, pods and hints;
// warnings and advice, the steps that are held back, and the origins of values.
func Why(f *Findings) *Node {
	root := f.root()
	used := map[v1.Problem]bool{}
	root.add(f.unobserved(), f.ready(used))
	root.add(f.conditions()...)
	held := f.heldBack(used)
	root.add(group("worth knowing", f.unreported(used)), group("held back", held),
		group("where values come from", f.values()))
	return root.add(f.gaps()...)
}

// Well reports whether nothing is wrong: the resource is ready, for its present spec.
func Well(f *Findings) bool {
	return !f.behind() && meta.IsStatusConditionTrue(f.Status.Conditions, v1.ConditionReady)
}

// root returns the node of the resource itself.
func (f *Findings) root() *Node {
	created := f.Resource.GetCreationTimestamp()
	n := &Node{
		Type: TypeResource, Name: f.Resource.GetKind() + " " + f.Resource.GetName(), Message: string(f.Status.Phase),
		Ready: f.Status.Readiness, Since: &created,
	}
	switch f.Status.Phase {
	case v1.PhaseRunning:
		n.State = StateReady
	case v1.PhaseDegraded, v1.PhaseFailed:
		n.State = StateFailed
	default:
		n.State = StateWaiting
	}
	if release := f.Status.Release; release != nil {
		n.Message += fmt.Sprintf(", release %d of chart %s", release.Revision, release.ChartVersion)
	}
	n.Message = strings.TrimPrefix(n.Message, ", ")
	return n
}

// unobserved returns a node if the operator has not observed the present spec; nil if it has.
func (f *Findings) unobserved() *Node {
	if !f.behind() || f.Resource.GetDeletionTimestamp() != nil { // of that one, the deletion is reported
		return nil
	}
	hint := &Node{Type: TypeHint, Name: "hint",
		Message: "if that lasts, ask the platform team whether the operator runs and serves namespace " +
			f.Resource.GetNamespace()}
	n := &Node{Type: TypeCause, Name: "Unnoticed", State: StateWaiting, Children: []*Node{hint}}
	if f.Status.ObservedGeneration == 0 {
		n.Message = "no operator has written the status yet"
		return n
	}
	n.Message = fmt.Sprintf("the operator has not processed generation %d of the spec yet; everything else is about generation %d", f.Resource.GetGeneration(), f.Status.ObservedGeneration)
	return n
}

// ready returns the node of the condition Ready, with the objects and problems that keep it from being true; nil
// if there is none. It records which problems it reported.
func (f *Findings) ready(used map[v1.Problem]bool) *Node {
	condition := meta.FindStatusCondition(f.Status.Conditions, v1.ConditionReady)
	if condition == nil {
		return nil
	}
	n := conditionNode(*condition)
	// objects come before problems: a problem that explains an object is shown below it, and not again
	for _, object := range f.Objects {
		lasts := func(c diagnose.Cause) bool { return c.Effect == diagnose.Lasting }
		if object.Entry.State != v1.ResourceReady || slices.ContainsFunc(object.Causes, lasts) {
			n.add(f.object(object, used))
		}
	}
	for _, problem := range f.Status.Problems {
		if problem.Type == v1.ProblemError && !used[problem] {
			used[problem] = true
			n.add(problemNode(problem))
		}
	}
	if len(n.Children) == 1 && n.Children[0].Type == TypeCause &&
		n.Message == n.Children[0].Name+": "+n.Children[0].Message {
		n.Children = n.Children[0].Children // the cause says the same
	}
	return n
}

// conditions returns nodes for conditions other than Ready that are not as they should be, and do not repeat it.
func (f *Findings) conditions() []*Node {
	var list []*Node
	ready := meta.FindStatusCondition(f.Status.Conditions, v1.ConditionReady)
	for _, kind := range []string{v1.ConditionAvailable, v1.ConditionProgressing, v1.ConditionDeployed} {
		condition := meta.FindStatusCondition(f.Status.Conditions, kind)
		if condition == nil || condition.Status == metav1.ConditionTrue || condition.Reason == v1.ReasonNoWorkload ||
			ready != nil && condition.Message == ready.Message {
			continue
		}
		list = append(list, conditionNode(*condition))
	}
	return list
}

// object returns the node of an object that is not ready, with the reasons.
func (f *Findings) object(object *Object, used map[v1.Problem]bool) *Node {
	name := object.Entry.Kind + " " + object.Entry.Name
	n := &Node{Type: TypeObject, Name: name, Stage: object.stage(), State: stateOf(object.Entry.State),
		Message: object.Entry.Message}
	if object.PodFindings != nil {
		n.Until = f.deadline(object)
	}
	for _, cause := range object.Causes {
		n.add(f.cause(object, cause))
	}
	for _, problem := range f.Status.Problems {
		same := slices.ContainsFunc(object.Causes,
			func(c diagnose.Cause) bool { return c.Reason == problem.Reason && c.Source == problem.Source })
		said := len(object.Causes) == 0 && (problem.Source == name || problem.Message == object.Entry.Message)
		if said && !used[problem] {
			n.add(problemNode(problem))
		}
		if same || said {
			used[problem] = true
		}
	}
	if len(n.Children) == 1 && n.Children[0].Message == n.Message {
		n.Message = "" // it says the same
	}
	return n
}

// cause returns the node of a cause, with the pods that show it, their last output, and hints.
func (f *Findings) cause(object *Object, cause diagnose.Cause) *Node {
	n := &Node{Type: TypeCause, Name: cause.Reason, Message: cause.Text(), State: StateWarning}
	switch cause.Effect {
	case diagnose.Lasting:
		n.State = StateFailed
	case diagnose.Passing:
		n.State = StateWaiting
		if !cause.Until.IsZero() {
			n.Until = &metav1.Time{Time: cause.Until}
		}
	}
	words := 0
	for _, sight := range object.PodFindings.Sights() {
		shows := func(c diagnose.Cause) bool { return c.Reason == cause.Reason && c.Source == cause.Source }
		if !slices.ContainsFunc(sight.Causes, shows) {
			continue
		}
		pod := podNode(sight)
		// pods of a version say the same
		if lines := diagnose.LastWords(sight.Pod, cause.Source, mostWords); words == 0 && len(lines) > 0 {
			words = len(lines)
			for _, line := range lines {
				pod.add(&Node{Type: TypeWords, Name: "last words", Message: line})
			}
			if command := diagnose.LogsOf(sight.Pod, cause.Source); command != "" &&
				strings.HasPrefix(cause.Hint, "see kubectl logs") {
				pod.add(hint(command)) // the very command
				cause.Hint = ""
			}
		}
		n.add(pod)
	}
	return n.add(hint(cause.Hint))
}

// mostWords is the maximum number of lines of a container's last output that are shown.
const mostWords = 5

// unreported returns nodes for the problems that were reported nowhere else.
func (f *Findings) unreported(used map[v1.Problem]bool) []*Node {
	var list []*Node
	for _, problem := range f.Status.Problems {
		if !used[problem] {
			list = append(list, problemNode(problem))
		}
	}
	return list
}

func conditionNode(condition metav1.Condition) *Node {
	n := &Node{Type: TypeCondition, Name: condition.Type + "=" + string(condition.Status), State: StateReady,
		Message: condition.Reason}
	if condition.Status != metav1.ConditionTrue {
		n.State = StateFailed
	}
	if condition.Message != "" {
		n.Message += ": " + condition.Message
	}
	return n
}

func problemNode(problem v1.Problem) *Node {
	n := &Node{Type: TypeCause, Name: problem.Reason, State: StateWarning, Message: problem.Message}
	if problem.Type == v1.ProblemError {
		n.State = StateFailed
	}
	return n.add(hint(problem.Hint))
}

func stateOf(state v1.ResourceState) State {
	return cmp.Or(State(state), StateReady) // a status may name none
}
