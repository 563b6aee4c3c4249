package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPlaceholdersThatWouldBeReleasedAreListed(t *testing.T) {
	t.Parallel()
	repository := t.TempDir()
	require.NoError(t, os.Symlink("docs/install.md", repository+"/README.md"), "a link is not listed beside its file")
	run(t, repository, "init", "--quiet")
	for path, text := range map[string]string{
		"config/chart/Chart.yaml":        "home: https://github.com/example/a\nsources:\n- https://github.com/example/a\nemail: maintainers@example.com\n",
		"bundle/manifests/version.yaml":  "image: example.com/appservice-operator-bundle:v1\nname: app.example.com\nicon: ghcr.io/example/a\nprovider:\n  name: Example\n",
		"docs/install.md":                "helm install a oci://ghcr.io/OWNER/charts/appservice-operator\nimage: registry.example.com/appservice-operator:v1\n",
		"test/scorecard/Dockerfile":      "ARG VERSION=1\nARG BASE_IMAGE=gcr.io/static:nonroot\n",
		"Dockerfile":                     "ARG BASE_IMAGE=gcr.io/static:nonroot@sha256:01\nRUN go build -X github.com/example/appservice-operator/internal.V=1\n",
		"docs/cli.md":                    "go install github.com/example/appservice-operator/cmd/a@latest # for web.example.com\n",
		"config/samples/a.yaml":          "image: example.com/appservice-operator:v1\n",
		"internal/a.go":                  "// https://github.com/example/a\n",
		"config/prometheus/kept/rule.md": "https://github.com/examples/a\n",
	} {
		commit(t, repository, path, text)
	}
	found, err := checkPlaceholders(repository)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"bundle/manifests/version.yaml: write ghcr.io/ACCOUNT, line 3; ghcr.io/ACCOUNT/appservice-operator, line 1; the name of who provides it, line 5",
		"config/chart/Chart.yaml: write https://github.com/ACCOUNT, line 1, 3; an address that is read, line 4",
		"docs/install.md: write the account for OWNER, line 1",
		"test/scorecard/Dockerfile: write the image's digest, @sha256:…, behind its tag, line 2",
	}, found)
}

func TestEachShippedFileIsThere(t *testing.T) {
	t.Parallel()
	for _, path := range shipped {
		files, err := git("../../..", "ls-files", "--", path)
		require.NoError(t, err)
		assert.NotEmpty(t, files, "no file is like %s", path)
	}
}
