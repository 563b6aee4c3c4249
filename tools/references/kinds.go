package references

// kind is what fields may refer to, and the right that says who may.
type kind struct {
	// name is that of the kind, or what messages call all that is none of the others.
	name string
	// policy is how its policy is called, beside the kind that is written.
	policy string
	// group, resource and verb are the right.
	group, resource, verb string
	// use is what the writer may not do without it.
	use string
}

const (
	claim                 = "PersistentVolumeClaim"
	resourceClaim         = "ResourceClaim"
	resourceClaimTemplate = "ResourceClaimTemplate"
	// source is anything but a claim from which a volume of pods is filled: a VolumeSnapshot, a kind that a driver defines, or a
	// PersistentVolume that a template of claims names.
	source = "volume source"
)

// kinds are those that references are asked about. Pods may run as an account only for those who may act as it: to read an account is no
// right to be it. What fills a volume may be of any kind. A user who may create claims can have one filled from anything in the
// namespace, whether he may read it or not: Kubernetes asks for no other right.
var kinds = []kind{
	named("Secret", "", "secrets", "get"),
	named("ConfigMap", "", "configmaps", "get"),
	named("ServiceAccount", "", "serviceaccounts", "impersonate"),
	named(claim, "", "persistentvolumeclaims", "get"),
	{name: source, policy: "volumesources", resource: "persistentvolumeclaims", verb: "create", use: "copy into a volume"},
	named(resourceClaim, "resource.k8s.io", "resourceclaims", "get"),
	named(resourceClaimTemplate, "resource.k8s.io", "resourceclaimtemplates", "get"),
}

// named is a kind whose objects a right names.
func named(name, group, resource, verb string) kind {
	return kind{name: name, policy: resource, group: group, resource: resource, verb: verb, use: verb}
}
