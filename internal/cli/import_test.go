package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func TestImportOfAFile(t *testing.T) {
	t.Parallel()
	const score = "apiVersion: score.dev/v1b1\nmetadata: {name: web}\ncontainers: {main: {image: IMAGE, variables: {A: \"${resources.db.host}\"}}}\nresources: {db: {type: postgres}}\n"
	const noted = "workload web resources.db: an AppService makes no postgres"
	for name, test := range map[string]struct {
		text           string
		args           []string
		code           int
		stdout, stderr string
	}{
		"what the rules refuse":   {strings.ReplaceAll(score, "variables:", "resources: {requests: {cpu: 200m}, limits: {cpu: 100m}}, variables:"), nil, exitOK, "kind: AppService", "resources.requests must not exceed spec.resources.limits"},
		"notes go to stderr":      {score, nil, exitOK, "  name: web\nspec:", noted},
		"notes go into the YAML":  {score, []string{"--notes", "comments"}, exitOK, "# " + noted, ""},
		"notes are findings":      {score, []string{"--strict"}, exitFound, "kind: AppService", noted},
		"in a namespace":          {score, []string{"-n", "shop"}, exitOK, "namespace: shop", noted},
		"an image that is built":  {strings.ReplaceAll(score, "IMAGE", "."), []string{"--image", "example.com/built:1"}, exitOK, "image: example.com/built:1", noted},
		"no image":                {strings.ReplaceAll(score, "IMAGE", "."), nil, exitBroke, "", "name it by --image"},
		"of another format":       {score, []string{"--format", "compose"}, exitBroke, "", "it is not a Compose file"},
		"of a format that is not": {score, []string{"--format", "a"}, exitBroke, "", "--format=a: it can be manifest, compose or score"},
		"notes to nowhere":        {score, []string{"--notes", "a"}, exitBroke, "", "--notes=a: it can be stderr or comments"},
		"a file and a name":       {score, []string{"deployment/web"}, exitBroke, "", "name one thing to import"},
		"no format":               {"a: 1", nil, exitBroke, "", "neither a manifest of objects"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "file.yaml")
			require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(test.text, "IMAGE", "nginx:1.29")), 0o600))
			streams, _, stdout, stderr := genericiooptions.NewTestIOStreams()
			args := append([]string{"import", "-f", file, "--kubeconfig", "/nonexistent"}, test.args...)
			if code := Run(t.Context(), args, streams); code != test.code {
				t.Errorf("got exit code %d, want %d: %s", code, test.code, stderr)
			}
			if !strings.Contains(stdout.String(), test.stdout) || !strings.Contains(stderr.String(), test.stderr) {
				t.Errorf("got\n%s\nand on stderr\n%s\nwant in them %q and %q", stdout, stderr, test.stdout, test.stderr)
			}
			if test.stdout == "" && stdout.Len() > 0 {
				t.Errorf("got data although it broke: %s", stdout)
			}
		})
	}
}
