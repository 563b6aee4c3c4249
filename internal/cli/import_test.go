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
	const deployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web},
  spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: a}]}}}}`
	const noted = "Deployment web spec.template.spec.automountServiceAccountToken: true becomes false"
	const unequal = "image: a, resources: {requests: {cpu: 200m}, limits: {cpu: 100m}}"
	refused := strings.ReplaceAll(deployment, "image: a", unequal)
	for name, test := range map[string]struct {
		text           string
		args           []string
		code           int
		stdout, stderr string
	}{
		"what the rules refuse":  {refused, nil, exitOK, "kind: AppService", "resources.requests must not exceed"},
		"notes go to stderr":     {deployment, nil, exitOK, "  name: web\nspec:", noted},
		"notes go into the YAML": {deployment, []string{"--notes", "comments"}, exitOK, "# " + noted, ""},
		"notes are findings":     {deployment, []string{"--strict"}, exitFound, "kind: AppService", noted},
		"in a namespace":         {deployment, []string{"-n", "shop"}, exitOK, "namespace: shop", noted},
		"notes to nowhere":       {deployment, []string{"--notes", "a"}, exitBroke, "", "--notes=a: it can be stderr or comments"},
		"a file and a name":      {deployment, []string{"deployment/web"}, exitBroke, "", "name one thing to import"},
		"no object":              {"a: 1", nil, exitBroke, "", "apiVersion and kind are missing"},
		"a Compose file":         {"services: {web: {image: a}}", nil, exitBroke, "", "kompose convert --stdout"},
		"a Score file":           {"apiVersion: score.dev/v1b1", nil, exitBroke, "", "score-k8s generate score.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "file.yaml")
			require.NoError(t, os.WriteFile(file, []byte(test.text), 0o600))
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
