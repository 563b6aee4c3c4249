package translate

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/plugin/importer/read"
)

// takeClaim converts the PersistentVolumeClaim of the workload's name, if only the main container mounts it, and as a
// whole.
func (a *Application) takeClaim(list []read.Pair[corev1.PersistentVolumeClaim]) {
	for _, p := range list {
		if a.Stateful == nil && p.Read.Name == a.Name && !a.Objects.Taken[p.Object] {
			a.claim = &p
			volume := a.claimVolume()
			mounts := a.mountsOf(volume)
			if volume != "" && len(mounts) == 1 && mounts[0].SubPath == "" && mounts[0].SubPathExpr == "" &&
				!mounts[0].ReadOnly {
				a.take(p.Object)
				continue
			}
			a.claim = nil
		}
		if a.Objects.Taken[p.Object] {
			continue // another one that mounts it keeps it
		}
		a.aside(p.Object, "it stays as it is: the AppService refers to it by spec.volumes, as the workload did",
			"keep it beside the AppService")
	}
}

// claimVolume returns the name of the volume of the PersistentVolumeClaim.
func (a *Application) claimVolume() string {
	at := slices.IndexFunc(a.Template.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == a.claim.Read.Name &&
			!v.PersistentVolumeClaim.ReadOnly
	})
	if at < 0 {
		return ""
	}
	return a.Template.Spec.Volumes[at].Name
}

// claimTemplate returns the volumeClaimTemplate of a StatefulSet that spec.persistence can express.
func (a *Application) claimTemplate() *corev1.PersistentVolumeClaim {
	if a.Stateful == nil {
		return nil
	}
	for n := range a.Stateful.Spec.VolumeClaimTemplates {
		template, mounts := &a.Stateful.Spec.VolumeClaimTemplates[n], a.mountsOf(dataVolume)
		if template.Name == dataVolume && len(mounts) == 1 && a.mountsClaim(*mounts[0]) && mounts[0].SubPath == "" &&
			!mounts[0].ReadOnly {
			return template
		}
	}
	return nil
}

// mountsClaim reports whether a mount of the main container is one of a claim template, and a claim can say it.
func (a *Application) mountsClaim(mount corev1.VolumeMount) bool {
	if a.Stateful == nil || mount.SubPathExpr != "" || mount.MountPropagation != nil ||
		cmp.Or(ptr.Deref(mount.RecursiveReadOnly, ""), corev1.RecursiveReadOnlyDisabled) != corev1.RecursiveReadOnlyDisabled {
		return false
	}
	for n := range a.Stateful.Spec.VolumeClaimTemplates {
		if a.Stateful.Spec.VolumeClaimTemplates[n].Name == mount.Name {
			return true
		}
	}
	return false
}

func persistence(claim *corev1.PersistentVolumeClaimSpec, mountPath string) *v1.Persistence {
	return &v1.Persistence{
		Size: claim.Resources.Requests[corev1.ResourceStorage], StorageClassName: claim.StorageClassName,
		AccessModes: claim.AccessModes, MountPath: mountPath,
	}
}

// perReplica sets spec.persistence of a StatefulSet.
func (a *Application) perReplica(spec *v1.AppServiceSpec) {
	template := a.claimTemplate()
	if template == nil {
		return
	}
	spec.Persistence = persistence(&template.Spec, a.mountsOf(dataVolume)[0].MountPath)
	spec.Persistence.PerReplica, spec.Persistence.Annotations = true, claimAnnotations(template.Annotations)
	spec.Persistence.PodManagementPolicy = a.Stateful.Spec.PodManagementPolicy
	if policy := a.Stateful.Spec.PersistentVolumeClaimRetentionPolicy; policy != nil {
		retain := policy.WhenDeleted != "Delete"
		spec.Persistence.Retain, spec.Persistence.WhenScaled = &retain, policy.WhenScaled
	}
}
