package appservice

import "embed"

// Config holds what the command line knows of an installation without a cluster: the custom resource definitions, and the rights of the
// operator, with the paths that they have in the repository. The manager does not use it, so it is not part of that.
//
//go:embed config/crd/bases config/rbac/role.yaml config/rbac/cluster_role.yaml config/rights
var Config embed.FS
