package plugin

import (
	"strings"
	"testing"
)

func TestConvertIngressOfAFile(t *testing.T) {
	t.Parallel()
	const app = `{apiVersion: app.example.com/v1, kind: AppService, metadata: {name: web, namespace: shop}, spec: {image: a, ports: [{port: 80}],
  ingress: {hosts: [{host: a.example.com}], annotations: {nginx.ingress.kubernetes.io/rewrite-target: /v1, nginx.ingress.kubernetes.io/limit-rps: "5"}}}}`
	const route = "  route:\n    hostnames:\n    - a.example.com\n    parentRefs:\n    - name: public\n      namespace: gateways\n    rules:\n    - rewrite:\n        path: /v1\n"
	for name, test := range map[string]struct {
		text, args     string
		code           int
		stdout, stderr string
	}{
		"a route":             {app, "--gateway gateways/public", exitOK, route, "limit-rps is left out: the Gateway API has no rate limits"},
		"without a Gateway":   {app, "", exitBroke, "", "set --gateway to the Gateway"},
		"a file and a name":   {app, "web --gateway a", exitBroke, "", "name one AppService, or a file"},
		"no Ingress":          {strings.ReplaceAll(app, "ingress:", "service: {}, podAnnotations:"), "--gateway a", exitBroke, "", "appservice/web: "},
		"no AppService":       {"{apiVersion: v1, kind: Pod}", "--gateway a", exitBroke, "", "there is no AppService"},
		"a name that is none": {app, "--gateway a/b/c", exitBroke, "", "NAME or NAMESPACE/NAME"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := run(t, map[string]string{"file.yaml": test.text}, "convert-ingress -f DIR/file.yaml "+test.args)
			if code != test.code {
				t.Errorf("got exit code %d, want %d: %s", code, test.code, stderr)
			}
			if !strings.Contains(stdout, test.stdout) || !strings.Contains(stderr, test.stderr) {
				t.Errorf("got\n%s\nand on stderr\n%s\nwant in them %q and %q", stdout, stderr, test.stdout, test.stderr)
			}
			if strings.Contains(stdout, "ingress") {
				t.Errorf("the Ingress is still there: %s", stdout)
			}
		})
	}
}
