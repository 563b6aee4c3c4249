package translate

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/plugin/importer/read"
)

// statefulPieces returns the pieces that keep a StatefulSet one, with the claims of its replicas. That of
// spec.persistence alone makes a StatefulSet.
func (a *Application) statefulPieces() []piece {
	return []piece{
		{from: a.from("kind"), set: a.toStatefulSet},
		{from: a.from("spec.volumeClaimTemplates"), set: a.perReplica},
		{from: a.from("spec.volumeClaimTemplates"), set: a.toClaims},
	}
}

// toStatefulSet sets spec.statefulSet. It leaves out fields that spec.persistence has.
func (a *Application) toStatefulSet(spec *v1.AppServiceSpec) {
	given := &a.Stateful.Spec
	out := &v1.StatefulSet{}
	if given.ServiceName != a.Name+"-headless" {
		out.ServiceName = given.ServiceName
	}
	if a.claimTemplate() != nil {
		if out.ServiceName != "" {
			spec.StatefulSet = out
		}
		return
	}
	out.PodManagementPolicy = given.PodManagementPolicy
	if policy := given.PersistentVolumeClaimRetentionPolicy; policy != nil {
		out.WhenScaled = policy.WhenScaled
	}
	spec.StatefulSet = out
}

// toClaims sets spec.claims to the claim templates that spec.persistence does not express.
func (a *Application) toClaims(spec *v1.AppServiceSpec) {
	for n := range a.Stateful.Spec.VolumeClaimTemplates {
		template := &a.Stateful.Spec.VolumeClaimTemplates[n]
		if template == a.claimTemplate() || ptr.Deref(template.Spec.VolumeMode, "") == corev1.PersistentVolumeBlock {
			continue
		}
		claim := v1.Claim{Name: template.Name, PerReplica: true, StorageClassName: template.Spec.StorageClassName,
			Size: template.Spec.Resources.Requests[corev1.ResourceStorage], AccessModes: template.Spec.AccessModes,
			Annotations: claimAnnotations(template.Annotations)}
		if policy := a.Stateful.Spec.PersistentVolumeClaimRetentionPolicy; policy != nil {
			claim.Retain = ptr.To(policy.WhenDeleted != "Delete")
		}
		for _, mount := range a.container().VolumeMounts {
			if a.mountsClaim(mount) && mount.Name == claim.Name {
				claim.Mounts = append(claim.Mounts,
					v1.ClaimMount{Path: mount.MountPath, SubPath: mount.SubPath, ReadOnly: mount.ReadOnly})
			}
		}
		spec.Claims = append(spec.Claims, claim)
	}
}

// keepsClaims returns an error for a StatefulSet whose replicas would lose a volume: what it became would run without
// its data.
func (a *Application) keepsClaims() error {
	if a.Stateful == nil {
		return nil
	}
	kept := a.claimsMade()
	for n := range a.Stateful.Spec.VolumeClaimTemplates {
		name := a.Stateful.Spec.VolumeClaimTemplates[n].Name
		if a.Uses(name) && !slices.Contains(kept, name) {
			return fmt.Errorf("spec.volumeClaimTemplates[%s]: %s: keep this StatefulSet as it is, or copy its data to a new AppService",
				name, a.whyRefused("spec.volumeClaimTemplates"))
		}
	}
	return nil
}

// claimsMade returns the names of the rendered claim templates.
func (a *Application) claimsMade() (list []string) {
	for _, object := range a.Rendered {
		if set, err := read.As[appsv1.StatefulSet](object); err == nil && object.GetKind() == "StatefulSet" {
			list = names(set.Spec.VolumeClaimTemplates, func(c corev1.PersistentVolumeClaim) string { return c.Name })
		}
	}
	return list
}

// whyRefused returns why a field of the workload was left out.
func (a *Application) whyRefused(field string) string {
	for _, refusal := range a.Refused {
		if refusal.From == a.from(field) {
			return text.Line(refusal.Err.Error())
		}
	}
	return "spec.claims has volumes of files"
}
