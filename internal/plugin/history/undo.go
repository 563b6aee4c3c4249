package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Undo is a change of a resource that restores the spec of a former release.
type Undo struct {
	// To is the revision that is restored, as a new revision.
	To int
	// Resource as it was read, with the spec to be stored.
	Resource *unstructured.Unstructured
	// Changes of the spec; none if it has that spec already.
	Changes []string
	// NewReferences are the Secrets, ConfigMaps, accounts and claims that the restored spec names, and the present one
	// does not.
	NewReferences []string
	// Owner is the tool that would revert the change, as it compares the resource with a source; empty if there is none.
	Owner string
	// HasTask reports whether the restored release, or the newest, has a release task. Ran are the commands of the task
	// of the restored one that ran, by the part of each digest that stands for the command.
	HasTask     bool
	RanCommands []string

	before    map[string]string // annotations that were read, if they change
	annotates bool
}

// PlanUndo returns the change that restores the spec of a revision; 0 stands for the newest revision with another spec
// than the resource has, up to the release that its status reports. If the spec is refused, that is the deployed one.
func PlanUndo(resource *unstructured.Unstructured, revisions []Revision, to int) (*Undo, error) {
	spec, _, _ := unstructured.NestedMap(resource.Object, "spec")
	target, err := targetOf(resource, spec, revisions, to)
	if err != nil {
		return nil, err
	}
	switch source := target.recorded; {
	case source == nil:
		return nil, fmt.Errorf("revision %d cannot be read: %s", target.Revision, target.Unreadable)
	case target.Spec == nil:
		return nil, fmt.Errorf("revision %d has no spec: an earlier operator recorded it (helm get values %s --revision %d shows its values)",
			target.Revision, resource.GetName(), target.Revision)
	case source.Source.APIVersion != resource.GetAPIVersion() || source.Source.Kind != resource.GetKind():
		return nil, fmt.Errorf("revision %d was made of a spec of %s %s, which is not %s %s", target.Revision,
			source.Source.APIVersion, source.Source.Kind, resource.GetAPIVersion(), resource.GetKind())
	}
	changed := resource.DeepCopy()
	changed.Object["spec"] = runtime.DeepCopyJSON(target.Spec)
	newest := revisions[len(revisions)-1]
	return &Undo{To: target.Revision, Resource: changed, Changes: fieldsOf("spec", spec, target.Spec),
		NewReferences: newReferences(spec, target.Spec), Owner: OwnerOf(resource),
		HasTask: len(target.taskNames())+len(newest.taskNames()) > 0, RanCommands: target.ranCommands()}, nil
}

// targetOf returns the revision to go back to.
func targetOf(resource *unstructured.Unstructured, spec map[string]any, revisions []Revision,
	to int) (*Revision, error) {
	if len(revisions) == 0 {
		return nil, fmt.Errorf("nothing of %s was released yet, or its records are gone", resource.GetName())
	}
	released, _, _ := unstructured.NestedInt64(resource.Object, "status", "release", "revision")
	another := func(r *Revision) bool {
		// only the operator writes the status: a newer record may be of another writer of Secrets
		return int64(r.Revision) <= released && r.Spec != nil && !equality.Semantic.DeepEqual(r.Spec, spec)
	}
	var kept []string
	for i := len(revisions) - 1; i >= 0; i-- {
		revision := &revisions[i]
		if to == revision.Revision || to == 0 && another(revision) {
			return revision, nil
		}
		kept = append([]string{fmt.Sprint(revision.Revision)}, kept...)
	}
	if to == 0 && released == 0 {
		return nil, fmt.Errorf("the status of %s reports no release yet: wait for the operator, or name one of the revisions %s with --to-revision",
			resource.GetName(), strings.Join(kept, ", "))
	}
	if to == 0 {
		return nil, fmt.Errorf("no earlier release of %s with another spec is kept: there are %s (the operator's flag --history-max says how many)",
			resource.GetName(), strings.Join(kept, ", "))
	}
	return nil, fmt.Errorf("revision %d of %s is not kept: there are %s (the operator's flag --history-max says how many)",
		to, resource.GetName(), strings.Join(kept, ", "))
}

// ErrChanged says that another writer changed the resource meanwhile, so that nothing was written.
var ErrChanged = errors.New("the resource was changed meanwhile, and nothing was written: check it, and try again")

// Write stores the spec, with the annotation that Skip sets, unless the resource has another one by now than when it
// was read. Other changes, such as those of the operator's status, are left as they are. With dry, the API server
// only checks it. The error is ErrChanged or the API server's.
func (u *Undo) Write(ctx context.Context, writer client.Client, manager string, dry bool) error {
	patch, err := json.Marshal(append([]map[string]any{
		{"op": "test", "path": "/metadata/uid", "value": u.Resource.GetUID()},
		{"op": "test", "path": "/metadata/generation", "value": u.Resource.GetGeneration()},
		{"op": "replace", "path": "/spec", "value": u.Resource.Object["spec"]},
	}, u.annotationPatch()...))
	if err != nil {
		return err
	}
	options := []client.PatchOption{client.FieldOwner(manager), client.FieldValidation("Strict")}
	if dry {
		options = append(options, client.DryRunAll)
	}
	now := u.Resource.DeepCopy()
	refused := writer.Patch(ctx, now, client.RawPatch(types.JSONPatchType, patch), options...)
	if refused == nil {
		return nil
	}
	// a test that fails is refused with the same status as an invalid spec: another read tells
	if err := writer.Get(ctx, client.ObjectKeyFromObject(u.Resource), now); err == nil && u.isOvertaken(now) {
		return ErrChanged
	}
	return refused
}
