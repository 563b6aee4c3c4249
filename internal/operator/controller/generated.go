package controller

import (
	"cmp"
	"context"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/generate"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// secretKey returns the key of a Secret.
func secretKey(name string) kube.Key {
	return kube.Key{GroupKind: kube.SecretKind.GroupKind(), Name: name}
}

// findGenerated adds the versions of the values of Secrets that the operator fills, and the certificates that these
// have. They are in the live Secrets. One that does not exist yet gets its version with its values.
func findGenerated(names []string, observed *livestate.Snapshot, facts *postrender.Facts) {
	if len(names) == 0 {
		return
	}
	facts.Generated, facts.Certificates = map[string]string{}, map[string][]string{}
	for _, name := range names {
		secret := observed.Objects[secretKey(name)]
		facts.Generated[name] = release.GeneratedVersion(secret, observed.Record)
		if secret == nil {
			continue
		}
		if keys := generate.NoteOf(secret).Certificates(); keys != nil {
			facts.Certificates[name] = keys
		}
	}
}

// logCertificates logs when certificates end that an earlier version made.
func (r *Reconciler) logCertificates(ctx context.Context, namespace string, of map[string][]string) {
	for name, keys := range of {
		secret := &corev1.Secret{}
		if r.Live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, secret) != nil {
			continue
		}
		for _, key := range keys {
			block, _ := pem.Decode(secret.Data[key])
			if block == nil || block.Type != "CERTIFICATE" {
				continue
			}
			if cert, err := x509.ParseCertificate(block.Bytes); err == nil {
				log.FromContext(ctx).Info("a certificate is not renewed: replace it before it ends", "secret", name,
					"key", key, "ends", cert.NotAfter)
			}
		}
	}
}

// generatedAt returns when values that the operator made need another reconcile: at once if pods have yet to see what
// was made again; 0 for never.
func (r *Reconciler) generatedAt(s *scope, wanted rendering, a attempt) time.Duration {
	var versions map[string]string
	switch {
	case a.waits() && s.memory.recorded != nil:
		versions = s.memory.recorded.generated
	case wanted.rendered != nil:
		versions = wanted.facts.Generated
	}
	for name, rendered := range versions {
		if live := a.observed.Objects[secretKey(name)]; live != nil {
			if version := generate.NoteOf(live).Version; version != "" && version != rendered {
				return time.Millisecond
			}
		}
	}
	return 0
}

// generatedSince returns the versions of Secrets, given those that pods have. A Secret that does not exist keeps its
// version.
func generatedSince(known map[string]string, objects map[kube.Key]client.Object) map[string]string {
	versions := maps.Clone(known)
	for name := range versions {
		if live := objects[secretKey(name)]; live != nil {
			versions[name] = cmp.Or(generate.NoteOf(live).Version, versions[name])
		}
	}
	return versions
}

// lost returns the Secrets whose values a plan would make again although the recorded release had them; nil for none.
func (r *Reconciler) lost(ctx context.Context, s *scope, plan *plan.Plan,
	record *livestate.Record) (*release.GeneratedLostError, error) {
	if record == nil || !plan.AsksForGenerated() {
		return nil, nil
	}
	recorded, err := r.readRecorded(ctx, s, record)
	if err != nil {
		return nil, err
	}
	return r.Actor.Lost(ctx, s.resource, plan, recorded.Objects)
}
