package plugin

import (
	"strings"
	"testing"
)

func TestImportOfAFile(t *testing.T) {
	t.Parallel()
	const deployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web},
  spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: a}]}}}}`
	const noted = "Deployment web spec.template.spec.automountServiceAccountToken: true becomes false"
	const unequal = "image: a, resources: {requests: {cpu: 200m}, limits: {cpu: 100m}}"
	refused := strings.ReplaceAll(deployment, "image: a", unequal)
	for name, test := range map[string]struct {
		text, args     string
		code           int
		stdout, stderr string
	}{
		"what the rules refuse":  {refused, "", exitOK, "kind: AppService", "resources.requests must not exceed"},
		"notes go to stderr":     {deployment, "", exitOK, "  name: web\nspec:", noted},
		"notes go into the YAML": {deployment, "--notes comments", exitOK, "# " + noted, ""},
		"notes are findings":     {deployment, "--strict", exitFound, "kind: AppService", noted},
		"in a namespace":         {deployment, "-n shop", exitOK, "namespace: shop", noted},
		"notes to nowhere":       {deployment, "--notes a", exitBroke, "", "--notes=a: it can be stderr or comments"},
		"another name":           {deployment, "--name shop", exitOK, "  name: shop\nspec:", "web becomes shop"},
		"another name of one":    {deployment, "--name deployment/web=shop", exitOK, "  name: shop\nspec:", "web becomes shop"},
		"one of two is refused":  {deployment + "\n---\n" + strings.Replace(deployment, "name: web", "name: a.b", 1), "", exitFound, "kind: AppService", "Deployment a.b is not imported: metadata.name: a.b is not a name"},
		"one that is refused":    {strings.Replace(deployment, "name: web", "name: 2048-game", 1), "", exitBroke, "", "choose another by --name"},
		"a Job":                  {"{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: b}]}}}}", "", exitOK, "kind: AppJob", "Job a spec"},
		"a file and a name":      {deployment, "deployment/web", exitBroke, "", "name one thing to import"},
		"no object":              {"a: 1", "", exitBroke, "", "apiVersion and kind are missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := run(t, map[string]string{"file.yaml": test.text}, "import -f DIR/file.yaml "+test.args)
			if code != test.code {
				t.Errorf("got exit code %d, want %d: %s", code, test.code, stderr)
			}
			if !strings.Contains(stdout, test.stdout) || !strings.Contains(stderr, test.stderr) {
				t.Errorf("got\n%s\nand on stderr\n%s\nwant in them %q and %q", stdout, stderr, test.stdout, test.stderr)
			}
			if test.stdout == "" && stdout != "" {
				t.Errorf("got data although it broke: %s", stdout)
			}
		})
	}
}
