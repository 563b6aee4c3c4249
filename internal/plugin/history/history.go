package history

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/release"
)

// Revision is one release of a resource.
type Revision struct {
	Revision    int       `json:"revision"`
	Released    time.Time `json:"released,omitzero"`
	Status      string    `json:"status"`
	Chart       string    `json:"chart"`
	Description string    `json:"description,omitempty"`
	// ChangedBy is the field manager that changed the spec, or another cause of the release.
	ChangedBy string    `json:"changedBy,omitempty"`
	ChangedAt time.Time `json:"changedAt,omitzero"`
	// Generation of the resource that it was made from; 0 in records of earlier operators.
	Generation int64 `json:"generation,omitempty"`
	// Changes against the previous release, and whether they restarted pods. There are none if that one is not recorded.
	Changes  []string `json:"changes,omitempty"`
	Restarts bool     `json:"restarts"`
	// Failed is why the release before failed to which this one is the answer; empty if it is none.
	Failed string `json:"failed,omitempty"`
	// Runs are those of the Jobs that run once, as they were noted when it was recorded.
	Runs []v1.RunStatus `json:"runs,omitempty"`
	// Spec that it was made from; nil in records of earlier operators.
	Spec map[string]any `json:"spec,omitempty"`
	// Unreadable is why the content of the record cannot be read.
	Unreadable string `json:"unreadable,omitempty"`

	recorded *release.Recorded
}

// Causes of releases without a change of the spec.
const (
	byChart    = "(another chart)"
	byPlatform = "(operator or defaults)"
	byReturn   = "(release %d failed)"
)

// List returns the recorded releases of a resource, the oldest first. A record that cannot be read is listed as such.
func List(ctx context.Context, reader client.Reader, resource *unstructured.Unstructured) ([]Revision, error) {
	secrets := &corev1.SecretList{}
	err := reader.List(ctx, secrets, client.InNamespace(resource.GetNamespace()),
		client.MatchingLabels{"owner": "helm", "name": resource.GetName()})
	if err != nil {
		return nil, fmt.Errorf("cannot read the release records of %s %s, which are Secrets: %w", resource.GetKind(),
			resource.GetName(), err)
	}
	var list []Revision
	for i := range secrets.Items {
		secret := &secrets.Items[i]
		if record := livestate.RecordOf(resource, secret); record != nil {
			list = append(list, revisionOf(secret, record.Revision))
		}
	}
	slices.SortFunc(list, func(a, b Revision) int { return a.Revision - b.Revision })
	for i := 1; i < len(list); i++ {
		list[i].compare(&list[i-1])
	}
	return list, nil
}

// revisionOf returns a revision with the content of its record.
func revisionOf(secret *corev1.Secret, number int) Revision {
	out := Revision{Revision: number, Status: secret.Labels["status"]}
	recorded, err := release.Decode(secret)
	if err != nil {
		out.Unreadable = err.Error()
		return out
	}
	out.recorded = recorded
	out.Released, out.Status, out.Description = recorded.Info.LastDeployed.Time.UTC(), string(recorded.Info.Status),
		recorded.Info.Description
	if recorded.Chart != nil && recorded.Chart.Metadata != nil {
		out.Chart = recorded.Chart.Metadata.Name + "-" + recorded.Chart.Metadata.Version
	}
	if source := recorded.Source; source != nil {
		out.Generation, out.ChangedBy, out.ChangedAt = source.Generation, source.ChangedBy, source.ChangedAt
		out.Spec, _ = source.Spec.(map[string]any)
		if source.Returned != nil {
			out.ChangedBy, out.ChangedAt = fmt.Sprintf(byReturn, source.Returned.From), out.Released
			out.Failed = source.Returned.Reason + ": " + source.Returned.Message
		}
		out.Runs = source.Runs
	}
	return out
}
