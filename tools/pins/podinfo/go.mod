// The chart of podinfo, which a test imports releases of: https://github.com/stefanprodan/podinfo, Apache License 2.0.
module github.com/example/appservice-operator/tools/pins/podinfo

go 1.26.0

require github.com/stefanprodan/podinfo v1.8.1-0.20250910200901-e86405a8674e
