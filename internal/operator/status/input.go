package status

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/gateway"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
)

// Input is everything that a status is computed from.
type Input struct {
	// Resource as it was read; the status is of its generation.
	Resource *unstructured.Unstructured
	// Previous status of the resource.
	Previous *v1.AppServiceStatus
	// Snapshot of the cluster after the action.
	Snapshot *livestate.Snapshot
	// Digest of the rendered objects; empty if it cannot be rendered.
	Digest string
	// Rendered objects, those that the cluster does not serve excepted; nil if nothing can be rendered.
	Rendered []kube.Key
	// Retained are objects that are no longer rendered, and stay for the data that they hold.
	Retained []kube.Key
	// Problem that kept the operator from changing the objects to the rendered ones; nil if they are as rendered.
	Problem *Problem
	// Warnings are about a rendering that succeeded.
	Warnings []v1.Problem
	// Unserved are rendered objects that were left out because the cluster does not serve their kind.
	Unserved []kube.Key
	// Unknown are the paths of fields of the spec that have no effect, because the operator does not know them.
	Unknown []string
	// Defaults are the fields that the spec left to the defaults.
	Defaults []v1.DefaultsStatus
	// Policy is the built-in policy that the platform's is laid over; empty for shared.
	Policy string
	// Causes are why objects are not as desired, by object, the worst first.
	Causes map[kube.Key][]diagnose.Cause
	// Missing are references to objects that do not exist, though pods start without them.
	Missing []reference.Reference
	// Others are the names of the objects that exist where one is missing.
	Others map[reference.Object][]string
	// Gateways are the Gateways that routes attach to, as far as they are known.
	Gateways gateway.Gateways
	// Hosts are those that the resource serves.
	Hosts []v1.HostStatus
	// Beside are conflicts with other resources that serve one of these hosts too, and take precedence.
	Beside []error
	// Waits says why a new chart or operator, or a change of defaults, does not change the resource yet; zero if nothing
	// waits.
	Waits Waits
	// Stage of a release that has to be ready before the rest of it is written; nil if none is waited for.
	Stage *Stage
	// Decayed is why the release that runs is not kept as it is until another one replaces it; nil if it is.
	Decayed *Problem
	// Outdated are fields that a newer policy refuses, and allows because the recorded release has them; nil for none.
	Outdated *Problem
	// Returned says what failed before the recorded release was applied again; empty if nothing did.
	Returned string
	// Stays says why a release that fails is not answered by an earlier one, although the spec requests that; empty if it
	// does not, or if it is.
	Stays string
	// NextAttempt is when the failed action is tried again, if only time may end the failure; zero if not.
	NextAttempt time.Time
	// Undeleted is the error of deleting the expired resource; nil if that was not tried.
	Undeleted error
	// Namesake is the kind of an older resource with the same name; empty if there is none.
	Namesake string
	// Paused says that the operator leaves everything unchanged.
	Paused bool
	// Now is the transition time of conditions that change.
	Now metav1.Time
}

// Stage is the stage of a release that has to be ready before the rest of it is written.
type Stage struct {
	// Name of the stage.
	Name string
	// Objects are how many of the rendered objects it has, the first ones. The others are of the release before, which it
	// is about to replace.
	Objects int
	// New says that the spec was never deployed.
	New bool
}

// Waits is why something new does not change a resource yet.
type Waits struct {
	// Message is the full text, Short a few words.
	Message, Short string
	// Hint says what to do; empty if it is for the platform team to decide.
	Hint string
}

// Problem prevents the desired state.
type Problem struct {
	// Reason of the conditions Ready and, if it is blocked, Stalled.
	Reason string
	// Message is one line, beginning with the cause.
	Message string
	// Parts list one by one what the message summarizes; empty if it is complete.
	Parts []string
	// Hint says what to do; empty if the reason implies it.
	Hint string
	// Blocked says that there is no progress without help; otherwise trying again may be enough.
	Blocked bool
}

// HasRun reports whether a status says that its release is Ready, and not only because no replicas are requested: that
// shows nothing of the release.
func HasRun(said *v1.AppServiceStatus) bool {
	ready := meta.FindStatusCondition(said.Conditions, v1.ConditionReady)
	return ready != nil && ready.Status == metav1.ConditionTrue && ready.Reason != v1.ReasonScaledToZero
}
