package release

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/gateway"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
)

// Two kinds of objects are used by name but never rendered: claims that a workload makes of its claim templates, and
// TLS Secrets that cert-manager fills for an Ingress or a ListenerSet. A plan may use such a name if the recorded
// release or a live object of the owner used it already, or if nobody has an object of that name.

// derived are such names: of claims, what precedes the ordinal in the names of those that workloads make, and Secrets.
type derived struct{ claims, prefixes, secrets []string }

// usesOfOthers returns a NotOursError if a plan would newly use an object that exists under a derived name and was not
// made for the owner. If the owner requests adoption, claims that this operator made for an earlier owner of its name
// become its own.
func (a *Actor) usesOfOthers(ctx context.Context, session *livestate.Session, task Task) error {
	if err := a.growsOntoOthers(ctx, task.Owner, task.Plan); err != nil {
		return err
	}
	unproven := a.unproven(task)
	if unproven.none() {
		return nil
	}
	if task.Snapshot.Record != nil {
		record := task.Snapshot.Record
		recorded, err := a.records(session, task.Owner).manifest(ctx, record.Name, record.UID, record.Revision)
		if err != nil {
			return err
		}
		unproven = unproven.without(derivedBy(recorded))
	}
	if err := a.claimsOfOthers(ctx, session, task.Owner, unproven); err != nil {
		return err
	}
	return a.secretsOfOthers(ctx, task.Owner, unproven.secrets)
}

// unproven returns the names that a plan would use and that no live object of the owner uses yet.
func (a *Actor) unproven(task Task) derived {
	live := derivedBy(slices.Collect(maps.Values(task.Snapshot.Objects)))
	live.claims = nil // that it is there proves nothing
	names := derivedBy(task.Plan.Create)
	names.claims = nil // its creation would fail
	for _, change := range task.Plan.Apply {
		changed := derivedBy([]*unstructured.Unstructured{change.Desired})
		if !controls(task.Owner, change.Live) {
			names.claims = append(names.claims, changed.claims...)
		}
		names.secrets = append(names.secrets, changed.secrets...)
	}
	asked := tlsSecrets(task.Owner.Object, "spec", "ingress", "tls")
	if name, _, _ := unstructured.NestedString(task.Owner.Object, "spec", "route", "tls", "secretName"); name != "" {
		asked = append(asked, name)
	}
	return names.without(live).without(derived{secrets: asked})
}

// claimsOfOthers returns an error about the first claim of some names that is not the owner's.
func (a *Actor) claimsOfOthers(ctx context.Context, session *livestate.Session, owner *unstructured.Unstructured,
	names derived) error {
	if len(names.claims)+len(names.prefixes) == 0 {
		return nil
	}
	claims, err := a.claims(ctx, owner.GetNamespace())
	if err != nil {
		return err
	}
	var found []*NotOursError
	for _, claim := range claims {
		if !names.claimed(claim.GetName()) || controls(owner, claim) {
			continue
		}
		if AdoptionOf(owner) == nil {
			var notOurs *NotOursError
			if err := inTheWay(owner, kube.KeyOf(claim), claim); !errors.As(err, &notOurs) {
				return err
			}
			found = append(found, notOurs)
			continue
		}
		if kube.RetainedFor(claim) == owner.GetName() {
			if err := session.PatchForeign(ctx, claim, ownedBy(owner, claim), client.FieldOwner(FieldManager)); err != nil {
				return fmt.Errorf("%s: %w", kube.KeyOf(claim), err)
			}
		}
	}
	return allOf(found)
}

// ownedBy returns the patch that makes a claim the owner's, if nobody has changed it meanwhile.
func ownedBy(owner, claim client.Object) client.Patch {
	return client.RawPatch(types.MergePatchType, fmt.Appendf(nil,
		`{"metadata":{"uid":%q,"resourceVersion":%q,"labels":{%q:%q}}}`,
		claim.GetUID(), claim.GetResourceVersion(), v1.LabelOwner, owner.GetUID()))
}

// certificateName is the annotation of a Secret that cert-manager fills: the Certificate, which for an Ingress or a
// ListenerSet has the name of the Secret.
const certificateName = "cert-manager.io/certificate-name"

// secretsOfOthers returns an error about the first Secret of some names that cert-manager did not make for this name:
// it would write over it.
func (a *Actor) secretsOfOthers(ctx context.Context, owner *unstructured.Unstructured, names []string) error {
	for _, name := range names {
		secret := kube.Metadata(kube.SecretKind)
		err := a.live.Get(ctx, client.ObjectKey{Namespace: owner.GetNamespace(), Name: name}, secret)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return fmt.Errorf("cannot look for Secret %s: %w", name, err)
		case secret.GetAnnotations()[certificateName] != name:
			return &NotOursError{Key: kube.KeyOf(secret), Owner: "no certificate of cert-manager for this name, " +
				"which would write over it (spec.ingress.tls[].secretName or spec.route.tls.secretName names another one)",
				Remedy: "name another Secret in spec.ingress.tls[].secretName or spec.route.tls.secretName: adoption does not help " +
					"here, and to delete that Secret deletes its certificate"}
		}
	}
	return nil
}

// derivedBy returns the names of objects that others use.
func derivedBy[T client.Object](objects []T) (names derived) {
	for _, object := range objects {
		kind := object.GetObjectKind().GroupVersionKind().GroupKind()
		switch {
		case kind.Kind == kube.RetainedKind:
			names.claims = append(names.claims, object.GetName())
		case kind.Group == networkingv1.GroupName && kind.Kind == "Ingress" && issued(object):
			content, _ := kube.Content(object)
			names.secrets = append(names.secrets, tlsSecrets(content, "spec", "tls")...)
		case kind == gateway.ListenerSetKind && !kube.IsOutline(object) && issued(object):
			names.secrets = append(names.secrets, gateway.ListenerSetOf(object).Secrets()...)
		default:
			names.prefixes = append(names.prefixes, kube.ClaimPrefixes(object)...)
		}
	}
	return names
}

// issued reports whether cert-manager makes the certificates of an Ingress or a ListenerSet.
func issued(object client.Object) bool {
	annotations := object.GetAnnotations()
	return annotations["cert-manager.io/issuer"] != "" || annotations["cert-manager.io/cluster-issuer"] != ""
}

// tlsSecrets returns the Secrets that the entries of a field tls name: of an Ingress, or of a spec, whose writer has
// been asked about them by admission. Nothing else in a spec is a reference to a certificate.
func tlsSecrets(content map[string]any, path ...string) (names []string) {
	entries, _, _ := unstructured.NestedSlice(content, path...)
	for _, entry := range entries {
		tls, _ := entry.(map[string]any)
		if name, _ := tls["secretName"].(string); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func (d derived) none() bool { return len(d.claims)+len(d.prefixes)+len(d.secrets) == 0 }

// claimed reports whether a claim has one of the names.
func (d derived) claimed(name string) bool {
	prefix, _, of := kube.CutOrdinal(name)
	return slices.Contains(d.claims, name) || of && slices.Contains(d.prefixes, prefix)
}

// without returns the names that are not among others.
func (d derived) without(others derived) derived {
	in := func(list []string) func(string) bool {
		return func(name string) bool { return slices.Contains(list, name) }
	}
	return derived{
		slices.DeleteFunc(d.claims, others.claimed),
		slices.DeleteFunc(d.prefixes, in(others.prefixes)),
		slices.DeleteFunc(d.secrets, in(others.secrets)),
	}
}
