package importer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/text"
)

// statefulPieces returns the pieces that keep a StatefulSet one, with the claims of its replicas. That of
// spec.persistence alone makes a StatefulSet.
func (s *subject) statefulPieces() []piece {
	return []piece{
		{from: s.from("kind"), set: s.toStatefulSet},
		{from: s.from("spec.volumeClaimTemplates"), set: s.perReplica},
		{from: s.from("spec.volumeClaimTemplates"), set: s.toClaims},
	}
}

// toStatefulSet sets spec.statefulSet. It leaves out fields that spec.persistence has.
func (s *subject) toStatefulSet(spec *v1.AppServiceSpec) {
	given := &s.stateful.Spec
	out := &v1.StatefulSet{}
	if given.ServiceName != s.name+"-headless" {
		out.ServiceName = given.ServiceName
	}
	if s.claimTemplate() != nil {
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
func (s *subject) toClaims(spec *v1.AppServiceSpec) {
	for n := range s.stateful.Spec.VolumeClaimTemplates {
		template := &s.stateful.Spec.VolumeClaimTemplates[n]
		if template == s.claimTemplate() || ptr.Deref(template.Spec.VolumeMode, "") == corev1.PersistentVolumeBlock {
			continue
		}
		claim := v1.Claim{Name: template.Name, PerReplica: true, StorageClassName: template.Spec.StorageClassName,
			Size: template.Spec.Resources.Requests[corev1.ResourceStorage], AccessModes: template.Spec.AccessModes,
			Annotations: claimAnnotations(template.Annotations)}
		if policy := s.stateful.Spec.PersistentVolumeClaimRetentionPolicy; policy != nil {
			claim.Retain = ptr.To(policy.WhenDeleted != "Delete")
		}
		for _, mount := range s.container().VolumeMounts {
			if s.mountsClaim(mount) && mount.Name == claim.Name {
				claim.Mounts = append(claim.Mounts,
					v1.ClaimMount{Path: mount.MountPath, SubPath: mount.SubPath, ReadOnly: mount.ReadOnly})
			}
		}
		spec.Claims = append(spec.Claims, claim)
	}
}

// mountsClaim reports whether a mount of the main container is one of a claim template, and a claim can say it.
func (s *subject) mountsClaim(mount corev1.VolumeMount) bool {
	if s.stateful == nil || mount.SubPathExpr != "" || mount.MountPropagation != nil ||
		cmp.Or(ptr.Deref(mount.RecursiveReadOnly, ""), corev1.RecursiveReadOnlyDisabled) != corev1.RecursiveReadOnlyDisabled {
		return false
	}
	for n := range s.stateful.Spec.VolumeClaimTemplates {
		if s.stateful.Spec.VolumeClaimTemplates[n].Name == mount.Name {
			return true
		}
	}
	return false
}

// claimAnnotations returns the annotations that a claim may have.
func claimAnnotations(all map[string]string) map[string]v1.Annotation {
	some := foreignAnnotations(all)
	maps.DeleteFunc(some, func(key, _ string) bool { return strings.Contains(key, "kubernetes.io/") })
	return asAnnotations(some)
}

// keepsClaims returns an error for a StatefulSet whose replicas would lose a volume: what it became would run without
// its data.
func (s *subject) keepsClaims() error {
	if s.stateful == nil {
		return nil
	}
	kept := s.claimsMade()
	for n := range s.stateful.Spec.VolumeClaimTemplates {
		name := s.stateful.Spec.VolumeClaimTemplates[n].Name
		if s.uses(name) && !slices.Contains(kept, name) {
			return fmt.Errorf("spec.volumeClaimTemplates[%s]: %s: keep this StatefulSet as it is, or copy its data to a new AppService",
				name, s.whyRefused("spec.volumeClaimTemplates"))
		}
	}
	return nil
}

// claimsMade returns the names of the rendered claim templates.
func (s *subject) claimsMade() (list []string) {
	for _, object := range s.rendered {
		if set, err := as[appsv1.StatefulSet](object); err == nil && object.GetKind() == "StatefulSet" {
			list = names(set.Spec.VolumeClaimTemplates, func(c corev1.PersistentVolumeClaim) string { return c.Name })
		}
	}
	return list
}

// uses reports whether a container has a volume, as files or as a device.
func (s *subject) uses(volume string) (found bool) {
	s.eachContainer(func(c *corev1.Container) {
		found = found || slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == volume }) ||
			slices.ContainsFunc(c.VolumeDevices, func(d corev1.VolumeDevice) bool { return d.Name == volume })
	})
	return found
}

// whyRefused returns why a field of the workload was left out.
func (s *subject) whyRefused(field string) string {
	for _, refusal := range s.refused {
		if refusal.from == s.from(field) {
			return text.Line(refusal.err.Error())
		}
	}
	return "spec.claims has volumes of files"
}
