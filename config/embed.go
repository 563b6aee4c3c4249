// Package config holds what the command line knows of an installation without a cluster: the custom resource
// definitions, and the rights of the operator. The manager does not use it.
package config

import "embed"

// Files have the paths that they have in this folder.
//
//go:embed crd/bases rbac/role.yaml rbac/cluster_role.yaml rights
var Files embed.FS
