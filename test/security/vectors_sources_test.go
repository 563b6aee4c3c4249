//go:build cluster

package security

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// Other things that pods get by name than Secrets, ConfigMaps and claims: sources of volumes, and devices.
var _ = register(vectors{
	"a copy of another's claim": refersTo(filledFrom(`dataSource: {kind: PersistentVolumeClaim, name: db}`),
		`dataSource.name refers to PersistentVolumeClaim "db", which you may not get`, isFilled),
	"a copy of somebody's snapshot": refersTo(filledFrom(`dataSource: {apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: db}`),
		`dataSource.name refers to volume source "db", which you may not copy into a volume. Ask for the right to create persistentvolumeclaims`, isFilled),
	"a copy of a snapshot that has the name of an own claim": with(refersTo(filledFrom(`dataSourceRef: {apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: own}`),
		`dataSourceRef.name refers to volume source "own"`, isFilled),
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"persistentvolumeclaims"}, Verbs: []string{"get"}}),
	"a copy of somebody's snapshot by podTemplate": refersTo(`podTemplate: {spec: {`+filledFrom(`dataSource: {apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: db}`)+`}}`,
		`spec.podTemplate.spec.volumes[].ephemeral.volumeClaimTemplate.spec.dataSource.name refers to volume source "db"`, isFilled),
	"a volume that is left over": refersTo(filledFrom(`volumeName: db`), `volumeClaimTemplate.spec.volumeName refers to volume source "db"`, isFilled),
	"the devices of somebody else": refersTo(devices(`resourceClaimName: db`),
		`spec.podTemplate.spec.resourceClaims[].resourceClaimName refers to ResourceClaim "db", which you may not get`, hasDevices),
	"devices that an administrator describes": refersTo(devices(`resourceClaimTemplateName: db`),
		`spec.podTemplate.spec.resourceClaims[].resourceClaimTemplateName refers to ResourceClaimTemplate "db", which you may not get`, hasDevices),
})

// filledFrom is a volume for each pod, filled from something.
func filledFrom(source string) string {
	return `volumes: [{name: a, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}, ` + source + `}}}}]`
}

func devices(claim string) string {
	return `podTemplate: {spec: {resourceClaims: [{name: a, ` + claim + `}]}}`
}

func isFilled(p *corev1.PodSpec) bool {
	return slices.ContainsFunc(p.Volumes, func(v corev1.Volume) bool {
		if v.Ephemeral == nil {
			return false
		}
		spec := v.Ephemeral.VolumeClaimTemplate.Spec
		return spec.DataSource != nil || spec.DataSourceRef != nil || spec.VolumeName != ""
	})
}

func hasDevices(p *corev1.PodSpec) bool { return len(p.ResourceClaims) > 0 }
