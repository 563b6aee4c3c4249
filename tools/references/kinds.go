package references

// kind is what fields may refer to, and the right that says who may.
type kind struct {
	name, resource, verb string
}

const claim = "PersistentVolumeClaim"

// kinds are those that references are asked about, all of the core group. Pods may run as an account only for those who may act as it: to
// read an account is no right to be it.
var kinds = []kind{
	{"Secret", "secrets", "get"},
	{"ConfigMap", "configmaps", "get"},
	{"ServiceAccount", "serviceaccounts", "impersonate"},
	{claim, "persistentvolumeclaims", "get"},
}
