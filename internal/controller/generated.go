package controller

import (
	"cmp"
	"context"
	"maps"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/controller/release"
	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/kube/generate"
	"github.com/example/appservice-operator/internal/kube/livestate"
)

// secretKey returns the key of a Secret.
func secretKey(name string) kube.Key {
	return kube.Key{GroupKind: kube.SecretKind.GroupKind(), Name: name}
}

// generatedVersions returns the versions of the values of Secrets that the operator fills, by name; nil for none. They
// are in the live Secrets. One that does not exist yet gets its version with its values.
func generatedVersions(names []string, there *livestate.Snapshot) map[string]string {
	if len(names) == 0 {
		return nil
	}
	versions := make(map[string]string, len(names))
	for _, name := range names {
		versions[name] = release.GeneratedVersion(there.Objects[secretKey(name)], there.Record)
	}
	return versions
}

// generatedAt returns when values that the operator made need another reconcile: at once if pods have yet to see what
// was made again, else when a certificate is renewed; 0 for never.
func (r *Reconciler) generatedAt(s *scope, wanted rendering, a attempt) (wait time.Duration) {
	var versions map[string]string
	switch {
	case a.waits() && s.memory.recorded != nil:
		versions = s.memory.recorded.generated
	case wanted.rendered != nil:
		versions = wanted.facts.Generated
	}
	for name, rendered := range versions {
		live := a.there.Objects[secretKey(name)]
		if live == nil {
			continue
		}
		note := generate.NoteOf(live)
		if note.Version != "" && note.Version != rendered {
			return time.Millisecond
		}
		if left := note.Renewal().Sub(r.Clock.Now()); left > 0 {
			wait = sooner(wait, left)
		}
	}
	return wait
}

// generatedSince returns the versions of Secrets, given those that pods have. A Secret that does not exist keeps its
// version.
func generatedSince(known map[string]string, there map[kube.Key]client.Object) map[string]string {
	versions := maps.Clone(known)
	for name := range versions {
		if live := there[secretKey(name)]; live != nil {
			versions[name] = cmp.Or(generate.NoteOf(live).Version, versions[name])
		}
	}
	return versions
}

// refuseLost refuses an attempt that would make values again that the recorded release had. A repair continues without
// them.
func (r *Reconciler) refuseLost(ctx context.Context, s *scope, a *attempt) {
	lost, err := r.lost(ctx, s, a.plan, a.there.Record)
	switch {
	case err != nil:
		a.err = err
	case lost == nil:
	case a.state == release.Drifted:
		a.plan.HoldBack(lost.Keys...)
		a.contended, a.state = lost, release.Decide(a.there.Record.Digest, a.there, a.plan)
	default:
		a.err = lost
	}
}

// lost returns the Secrets whose values a plan would make again although the recorded release had them; nil for none.
func (r *Reconciler) lost(ctx context.Context, s *scope, plan *release.Plan,
	record *livestate.Record) (*release.GeneratedLostError, error) {
	if record == nil || !plan.AsksForGenerated() {
		return nil, nil
	}
	recorded, err := r.lastGoodOf(ctx, s, record)
	if err != nil {
		return nil, err
	}
	return r.Actor.Lost(ctx, s.resource, plan, recorded.Objects)
}
