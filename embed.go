// Package appservice embeds what the operator serves when nothing else is given: watches.yaml and the charts that it
// names. It stands at the root because go:embed cannot reach a parent folder.
package appservice

import "embed"

// Files holds watches.yaml and helm-charts, with the paths that they have in the repository.
//
//go:embed watches.yaml all:helm-charts
var Files embed.FS
