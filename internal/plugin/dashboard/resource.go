package dashboard

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/release/plan"
	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/operator/status"
	"github.com/example/appservice-operator/internal/plugin/history"
	"github.com/example/appservice-operator/internal/plugin/tree"
)

// page is what the page of a resource shows.
type page struct {
	Row      Row          `json:"row"`
	Why      *tree.Node   `json:"why"`
	Tree     *tree.Node   `json:"tree"`
	Problems []v1.Problem `json:"problems"`
	Rollout  rollout      `json:"rollout"`
	// Releases are without their specs.
	Releases []history.Revision `json:"releases"`
	// Unread is why there are no releases.
	Unread string `json:"unread,omitempty"`
	Pods   []pod  `json:"pods"`
}

// rollout is how far the replicas of the newest release are.
type rollout struct {
	Wanted  int32          `json:"wanted"`
	Updated int32          `json:"updated"`
	Ready   int32          `json:"ready"`
	Runs    []v1.RunStatus `json:"runs"`
	Held    string         `json:"held,omitempty"`
	// Steps are the conditions of a release in their order, without a state if they were reached before it stalled.
	Steps []tree.Node `json:"steps"`
}

// pod is one whose logs may be asked for.
type pod struct {
	Name       string   `json:"name"`
	Phase      string   `json:"phase"`
	Containers []string `json:"containers"`
	Restarts   int32    `json:"restarts"`
}

// collect reads the resource of a request; if that fails it answers, and returns nil.
func (s *Server) collect(w http.ResponseWriter, r *http.Request) *tree.Findings {
	word := r.PathValue("kind")
	at := slices.IndexFunc(s.cluster.Kinds, func(k schema.GroupVersionKind) bool { return k.Kind+"."+k.Group == word })
	if at < 0 {
		http.Error(w, fmt.Sprintf("%q is none of the kinds of this page", word), http.StatusNotFound)
		return nil
	}
	collector := tree.Collector{Reader: s.cluster.Reader, Mapper: s.cluster.Mapper, Now: s.cluster.Now}
	name := types.NamespacedName{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
	found, err := collector.Collect(r.Context(), s.cluster.Kinds[at], name, true)
	if err != nil {
		refuse(w, err)
		return nil
	}
	return found
}

// refuse answers with an error of the API server, and its code.
func refuse(w http.ResponseWriter, err error) {
	code := http.StatusBadGateway
	switch {
	case apierrors.IsNotFound(err):
		code = http.StatusNotFound
	case apierrors.IsForbidden(err):
		code = http.StatusForbidden
	}
	http.Error(w, text.Line(err.Error()), code)
}

func (s *Server) resource(w http.ResponseWriter, r *http.Request) {
	found := s.collect(w, r)
	if found == nil {
		return
	}
	out := page{Row: rowOf(found.Resource, found.Now), Why: tree.Why(found), Tree: tree.Tree(found),
		Problems: found.Status.Problems, Rollout: rolloutOf(found), Pods: podsOf(found)}
	list, err := history.List(r.Context(), s.cluster.Reader, found.Resource)
	if err != nil {
		out.Unread = err.Error()
	}
	for _, one := range slices.Backward(list) {
		out.Releases = append(out.Releases, history.Revision{Revision: one.Revision, Released: one.Released,
			Status: one.Status, Chart: one.Chart, ChangedBy: one.ChangedBy, Changes: one.Changes, Restarts: one.Restarts,
			Failed: one.Failed})
	}
	answer(w, out)
}

func rolloutOf(found *tree.Findings) rollout {
	current := found.Status
	out := rollout{Wanted: status.Wanted(current), Updated: current.UpdatedReplicas, Ready: current.ReadyReplicas,
		Runs: current.Runs, Held: tree.HeldBack(current, found.Now)}
	stalled := meta.IsStatusConditionTrue(current.Conditions, v1.ConditionStalled)
	states := map[bool]tree.State{false: tree.StateWaiting, true: tree.StateReady}
	if stalled {
		states = map[bool]tree.State{false: tree.StateFailed}
	}
	order := []string{v1.ConditionDeployed, v1.ConditionProgressing, v1.ConditionAvailable, v1.ConditionReady}
	for _, kind := range order {
		if condition := meta.FindStatusCondition(current.Conditions, kind); condition != nil {
			reached := condition.Status == metav1.ConditionTrue && (!stalled || kind != v1.ConditionProgressing)
			out.Steps = append(out.Steps, tree.Node{Name: kind, State: states[reached]})
		}
	}
	return out
}

func podsOf(found *tree.Findings) (list []pod) {
	seen := map[types.UID]bool{}
	for _, object := range found.Objects {
		if object.PodFindings == nil {
			continue
		}
		for i := range object.PodFindings.Pods {
			one := &object.PodFindings.Pods[i]
			if seen[one.UID] {
				continue
			}
			seen[one.UID] = true
			entry := pod{Name: one.Name, Phase: string(one.Status.Phase)}
			for _, container := range slices.Concat(one.Spec.InitContainers, one.Spec.Containers) {
				entry.Containers = append(entry.Containers, container.Name)
			}
			for _, status := range one.Status.ContainerStatuses {
				entry.Restarts += status.RestartCount
			}
			list = append(list, entry)
		}
	}
	return list
}

// objects answers with the objects of a resource as YAML, without texts that are not to be shown.
func (s *Server) objects(w http.ResponseWriter, r *http.Request) {
	found := s.collect(w, r)
	if found == nil {
		return
	}
	type object struct{ Name, YAML string }
	list := []object{}
	for _, one := range found.Objects {
		if one.Live == nil {
			continue
		}
		shown, _ := yaml.Marshal(plan.Shown(one.Live)) // it was JSON
		list = append(list, object{one.Entry.Kind + " " + one.Entry.Name, string(shown)})
	}
	answer(w, list)
}

// lines is how many lines of a log are shown.
const lines = 500

// logs answers with the last lines of a container's log, as text.
func (s *Server) logs(w http.ResponseWriter, r *http.Request) {
	options := &corev1.PodLogOptions{Container: r.PathValue("container"), Previous: r.URL.Query().Has("previous"),
		TailLines: ptr.To[int64](lines), LimitBytes: ptr.To[int64](1 << 20)}
	stream, err := s.cluster.Logs(r.Context(), r.PathValue("namespace"), r.PathValue("pod"), options)
	if err != nil {
		refuse(w, err)
		return
	}
	defer func() { _ = stream.Close() }()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.Copy(w, stream) // the browser may be gone
}

// answer sends JSON whose texts are as they are seen.
func answer(w http.ResponseWriter, value any) {
	data, _ := json.Marshal(value) // none of the answers has what JSON has not
	var plain any
	_ = json.Unmarshal(data, &plain)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(seen(plain)) // the browser may be gone
}

// seen makes controls visible in all texts of a JSON value.
func seen(value any) any {
	switch value := value.(type) {
	case string:
		return text.Visible(value)
	case []any:
		for i := range value {
			value[i] = seen(value[i])
		}
	case map[string]any:
		for key := range value {
			value[key] = seen(value[key])
		}
	}
	return value
}
