module github.com/example/appservice-operator/tools/sbom

go 1.26.0

require (
	github.com/CycloneDX/cyclonedx-go v0.12.0
	github.com/spdx/tools-golang v0.5.7
)

require github.com/anchore/go-struct-converter v0.1.0 // indirect
