// The injectors of sidecars whose annotations and labels tools/cmd/injectorkeys lists.
module github.com/example/appservice-operator/tools/pins/injectors

go 1.26.0

require (
	github.com/dapr/dapr v1.14.0
	github.com/open-telemetry/opentelemetry-operator v0.135.0
	istio.io/api v1.32.0
)
