package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/example/appservice-operator/internal/render"
)

// run runs a command with files in a temporary folder, which DIR in its arguments stands for. No cluster is reachable.
func run(t *testing.T, files map[string]string, line string) (code int, stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	streams, in, out, err := genericiooptions.NewTestIOStreams()
	in.WriteString(files["-"])
	args := strings.Fields(strings.ReplaceAll(line, "DIR", dir) + " --kubeconfig=/nonexistent")
	code = Run(t.Context(), args, streams)
	return code, strings.ReplaceAll(out.String(), dir+"/", ""), strings.ReplaceAll(err.String(), dir+"/", "")
}

const anApp = `apiVersion: app.example.com/v1
kind: AppService
metadata: {name: web, namespace: shop}
spec:
  image: nginx:1.29
  ports: [{port: 80, name: http}]
`

func TestRender(t *testing.T) {
	t.Parallel()
	const secret = anApp + "  config: {databaseUrl: \"postgres://me:hunter2@db\"}\n"
	const route = anApp + "  route: {parentRefs: [{name: public}], hostnames: [web.example.com]}\n"
	chart := map[string]string{
		"app.yaml":                  anApp,
		"chart/Chart.yaml":          "apiVersion: v2\nname: appservice\nversion: 9.9.9\n",
		"chart/values.yaml":         "{}\n",
		"chart/templates/file.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}, labels: {kube: {{ .Capabilities.KubeVersion.Version | quote }}}}\n",
	}
	with := func(template string) map[string]string {
		files := map[string]string{}
		for name, text := range chart {
			files[name] = text
		}
		files["chart/templates/file.yaml"] = template
		return files
	}
	for name, test := range map[string]struct {
		files  map[string]string
		line   string
		code   int
		stdout []string
		not    string
		stderr string
	}{
		"an object with the template that it is from": {map[string]string{"app.yaml": anApp}, "render -f DIR/app.yaml", 0, []string{
			"---\n# Source: appservice/templates/service.yaml\napiVersion: v1\nkind: Service\n", "namespace: shop\n", "uid: " + render.PlaceholderUID + "\n", "# Source: appservice/templates/deployment.yaml\n",
		}, "", ""},
		"from stdin":           {map[string]string{"-": anApp}, "render -f -", 0, []string{"kind: Deployment\n"}, "", ""},
		"one template":         {map[string]string{"app.yaml": anApp}, "render -f DIR/app.yaml --show-only templates/service.yaml", 0, []string{"kind: Service\n"}, "kind: Deployment", ""},
		"no such template":     {map[string]string{"app.yaml": anApp}, "render -f DIR/app.yaml --show-only templates/none.yaml", 2, nil, "", "--show-only=templates/none.yaml: nothing is rendered"},
		"what is secret":       {map[string]string{"app.yaml": secret}, "render -f DIR/app.yaml", 0, []string{"kind: Secret\n", "'***'\n"}, "hunter2", ""},
		"secrets on demand":    {map[string]string{"app.yaml": secret}, "render -f DIR/app.yaml --show-secrets", 0, []string{"cG9zdGdyZXM6Ly9tZTpodW50ZXIyQGRi"}, "***", ""},
		"as a manifest":        {map[string]string{"app.yaml": secret}, "render -f DIR/app.yaml -o manifest", 0, []string{"---\n# Source: appservice/templates/", "\n{\n  \"apiVersion\"", "***"}, "cG9zdGdyZX", ""},
		"in no such form":      {map[string]string{"app.yaml": anApp}, "render -f DIR/app.yaml -o xml", 2, nil, "", "--output=xml: it can be yaml, manifest"},
		"a kind that is there": {map[string]string{"app.yaml": route}, "render -f DIR/app.yaml", 0, []string{"kind: HTTPRoute\n"}, "", ""},
		"a kind that is not": {map[string]string{"app.yaml": route}, "render -f DIR/app.yaml --api-versions keda.sh/v1alpha1/ScaledObject", 0, []string{"kind: Deployment\n"}, "kind: HTTPRoute",
			"note: AppService shop/web: HTTPRoute web is left out: the cluster does not serve its kind"},
		"another chart":                  {chart, "render -f DIR/app.yaml --chart DIR/chart --kube-version 1.30", 0, []string{"# Source: appservice/templates/file.yaml\n", "kube: v1.30\n"}, "Deployment", ""},
		"no version":                     {chart, "render -f DIR/app.yaml --kube-version new", 2, nil, "", "--kube-version=new: it is not a version of Kubernetes"},
		"a template with a mistake":      {with("a: {{ .Values.image.tag.name }}\n"), "render -f DIR/app.yaml --chart DIR/chart", 2, nil, "", "error: app.yaml:1: AppService shop/web:\ntemplates/file.yaml:1:14: <.Values.image.tag.name>: can't evaluate field tag in type interface {}\n    1 | a: {{ .Values.image.tag.name }}\n      |              ^\n"},
		"a template that says no":        {with("a: b\nb: {{ fail \"use another\" }}\n"), "render -f DIR/app.yaml --chart DIR/chart", 2, nil, "", "error: app.yaml:1: AppService shop/web:\ntemplates/file.yaml:2:7: use another\n    1 | a: b\n    2 | b: {{ fail \"use another\" }}\n      |       ^\n"},
		"a template that is none":        {with("a: {{ nonsense }}\n"), "render -f DIR/app.yaml --chart DIR/chart", 2, nil, "", "error: charts of chart:\ntemplates/file.yaml:1"},
		"YAML that is none":              {with("apiVersion: v1\nkind: [{{ .Release.Name }}\nmetadata: {}\n"), "render -f DIR/app.yaml --chart DIR/chart", 2, nil, "", "it renders:\n    1 | apiVersion: v1\n    2 | kind: [web\n"},
		"a spec with a mistake":          {map[string]string{"app.yaml": "---\n" + strings.Replace(anApp, "nginx:1.29", "7", 1)}, "render -f DIR/app.yaml", 2, nil, "", "error: app.yaml:2: AppService shop/web: spec.image: got number, want string"},
		"a field that nobody knows":      {map[string]string{"app.yaml": anApp + "  imagee: x\n"}, "render -f DIR/app.yaml", 0, []string{"kind: Deployment"}, "", "spec.imagee does nothing"},
		"another kind":                   {map[string]string{"app.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"}, "render -f DIR/app.yaml", 2, nil, "", "app.yaml:1: /v1, Kind=Service is not served: these are: AppService, AppJob"},
		"nothing":                        {nil, "render", 2, nil, "", "error: name the resources"},
		"defaults of the namespace":      {map[string]string{"app.yaml": anApp, "d.yaml": "apiVersion: v1\nkind: ConfigMap\ndata: {appservice.yaml: 'minReadySeconds: 7'}\n"}, "render -f DIR/app.yaml --defaults DIR/d.yaml", 0, []string{"minReadySeconds: 7\n"}, "", ""},
		"what the policy does not allow": {map[string]string{"app.yaml": anApp, "p.yaml": "default: {registries: [registry.example.com/*]}\n"}, "render -f DIR/app.yaml --policy DIR/p.yaml", 2, nil, "", "registr"},
		"what is too large":              {map[string]string{"app.yaml": strings.Replace(anApp, "nginx", strings.Repeat("x", 48<<10), 1)}, "render -f DIR/app.yaml", 2, nil, "", "more than 48 KiB"},
		"a cluster that is not there":    {map[string]string{"app.yaml": anApp}, "render -f DIR/app.yaml --live", 2, nil, "", "cannot find a cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := run(t, test.files, test.line)
			if code != test.code {
				t.Errorf("it ends with %d, want %d: %s", code, test.code, stderr)
			}
			for _, want := range test.stdout {
				if !strings.Contains(stdout, want) {
					t.Errorf("%q is missing:\n%s", want, stdout)
				}
			}
			if test.not != "" && strings.Contains(stdout, test.not) {
				t.Errorf("%q is there:\n%s", test.not, stdout)
			}
			if test.stderr == "" && stderr != "" || !strings.Contains(stderr, test.stderr) {
				t.Errorf("got on stderr\n%s\nwant in it\n%s", stderr, test.stderr)
			}
		})
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	files := map[string]string{"app.yaml": anApp, "d.yaml": "apiVersion: v1\nkind: ConfigMap\ndata: {appservice.yaml: 'minReadySeconds: 7'}\n"}
	for name, test := range map[string]struct {
		line string
		want []string
	}{
		"plain":                    {"values -f DIR/app.yaml", []string{"image: nginx:1.29\n"}},
		"with origins":             {"values -f DIR/app.yaml --show-origin", []string{"image: nginx:1.29 # spec\n", "minReadySeconds: 0 # chart\n", "# spec\nports:\n  - name: http\n    port: 80\n"}},
		"of the namespace as well": {"values -f DIR/app.yaml --show-origin --defaults DIR/d.yaml", []string{"minReadySeconds: 7 # ConfigMap appservice-defaults\n"}},
		"for programs":             {"values -f DIR/app.yaml -o json", []string{"\"path\": [\n      \"image\"\n    ],\n    \"value\": \"nginx:1.29\",\n    \"origin\": \"spec\"\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := run(t, files, test.line)
			if code != 0 || stderr != "" {
				t.Errorf("it ends with %d: %s", code, stderr)
			}
			for _, want := range test.want {
				if !strings.Contains(stdout, want) {
					t.Errorf("%q is missing:\n%s", want, stdout)
				}
			}
		})
	}
}
