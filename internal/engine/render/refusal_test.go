package render

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"
)

const service = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n"

func hooked(annotation string) string {
	return service + "  annotations:\n    helm.sh/hook: " + annotation + "\n"
}

func TestWhatATemplateMayNotRenderIsRefused(t *testing.T) {
	cases := map[string]struct {
		templates map[string]string
		want      []string
	}{
		"a template that fails": {
			map[string]string{"a.yaml": service, "b.yaml": "\n{{ fail \"take\\nanother\" }}"},
			[]string{"templates/b.yaml line 2", "take another"},
		},
		"a value that is required": {
			map[string]string{"a.yaml": "name: {{ required \"color is required: set spec.color\" .Values.color }}"},
			[]string{"templates/a.yaml line 1", "color is required: set spec.color"},
		},
		"a value of a value that is not there": {
			map[string]string{"a.yaml": service + "spec: {{ .Values.a.b.c }}"},
			[]string{"templates/a.yaml line 5", ".Values.a.b.c"},
		},
		"a partial that is not there": {
			map[string]string{"a.yaml": `{{ include "widget.absent" . }}`},
			[]string{"templates/a.yaml line 1", "widget.absent"},
		},
		"no YAML": {
			map[string]string{"a.yaml": service, "b.yaml": "a: b: c"},
			[]string{"templates/b.yaml"},
		},
		"a key twice": {
			map[string]string{"a.yaml": service + "spec:\n  type: ClusterIP\n  type: NodePort\n  clusterIP: None\n  clusterIP: None\n"},
			[]string{"templates/a.yaml", "type"},
		},
		"a quantity of a billion digits": {
			map[string]string{"a.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {volumes: [{name: a, emptyDir: {sizeLimit: \"1e-999999999\"}}]}}}\n"},
			[]string{"templates/a.yaml renders Deployment \"web\": spec.template.spec.volumes[0].emptyDir.sizeLimit: not a quantity"},
		},
		"a list":            {map[string]string{"a.yaml": "- a\n- b\n"}, []string{"templates/a.yaml"}},
		"a text":            {map[string]string{"a.yaml": "text"}, []string{"templates/a.yaml"}},
		"no kind":           {map[string]string{"a.yaml": "apiVersion: v1\nmetadata: {name: web}"}, []string{"templates/a.yaml", "kind"}},
		"no apiVersion":     {map[string]string{"a.yaml": "kind: Service\nmetadata: {name: web}"}, []string{"templates/a.yaml", "apiVersion"}},
		"an empty kind":     {map[string]string{"a.yaml": "apiVersion: v1\nkind: \"\"\nmetadata: {name: web}"}, []string{"templates/a.yaml", "kind"}},
		"no name":           {map[string]string{"a.yaml": "apiVersion: v1\nkind: Service\nmetadata: {labels: {a: b}}"}, []string{"templates/a.yaml", "Service", "metadata.name"}},
		"no metadata":       {map[string]string{"a.yaml": "apiVersion: v1\nkind: Service\n"}, []string{"templates/a.yaml", "Service", "metadata.name"}},
		"a generated name":  {map[string]string{"a.yaml": "apiVersion: v1\nkind: Service\nmetadata: {generateName: web-}"}, []string{"templates/a.yaml", "Service", "metadata.name"}},
		"a name of no text": {map[string]string{"a.yaml": "apiVersion: example.com/v1\nkind: Part\nmetadata: {name: 5}"}, []string{"templates/a.yaml"}},
		"metadata of no map": {
			map[string]string{"a.yaml": "apiVersion: example.com/v1\nkind: Part\nmetadata: web"},
			[]string{"templates/a.yaml"},
		},
		"the second of two documents has no kind": {
			map[string]string{"a.yaml": service + "---\nmetadata: {name: web}\n"},
			[]string{"templates/a.yaml", "kind"},
		},
		"two templates with one object": {
			map[string]string{"a.yaml": service, "b.yaml": service},
			[]string{"templates/a.yaml", "templates/b.yaml", `Service "web"`},
		},
		"one template with an object twice": {
			map[string]string{"a.yaml": service + "---\n" + service},
			[]string{"templates/a.yaml", `Service "web"`},
		},
		"one object in two versions": {
			map[string]string{"a.yaml": "apiVersion: example.com/v1\nkind: Part\nmetadata: {name: web}", "b.yaml": "apiVersion: example.com/v2\nkind: Part\nmetadata: {name: web}"},
			[]string{"templates/a.yaml", "templates/b.yaml", `Part "web"`},
		},
		"a Helm hook":                         {map[string]string{"a.yaml": hooked("pre-install")}, []string{"templates/a.yaml", "pre-install", "helm.sh/hook"}},
		"a Helm hook that is a test besides":  {map[string]string{"a.yaml": hooked("test,post-upgrade")}, []string{"templates/a.yaml", "post-upgrade", "helm.sh/hook"}},
		"a Helm hook that Helm does not know": {map[string]string{"a.yaml": hooked("pre-begin")}, []string{"templates/a.yaml", "pre-begin", "helm.sh/hook"}},
		"a Helm hook of nothing":              {map[string]string{"a.yaml": hooked(`""`)}, []string{"templates/a.yaml", "helm.sh/hook"}},
		"a field that the kind does not have": {map[string]string{"a.yaml": service + "spec: {tpye: ClusterIP}"}, []string{`Service "web"`, "spec.tpye"}},
		"an expression that does not parse": {
			map[string]string{"a.yaml": service + "  annotations: {app.example.com/ready-when: 'self.spec.type = {{ 1 }}'}"},
			[]string{"templates/a.yaml renders Service \"web\": annotation app.example.com/ready-when, self.spec.type = 1: column 16: ", "correct it in the template"},
		},
		"an expression that is not a string, of a kind that nobody knows": {
			map[string]string{"a.yaml": "apiVersion: example.com/v1\nkind: Part\nmetadata: {name: web, annotations: {app.example.com/ready-when: true}}"},
			[]string{"templates/a.yaml", `Part "web"`, "quote it"},
		},
		"an object in another namespace":       {map[string]string{"a.yaml": service + "  namespace: kube-system"}, []string{`Service "web"`, "kube-system"}},
		"an object in a namespace by its name": {map[string]string{"a.yaml": "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: web, namespace: other}"}, []string{`ClusterRole "web"`, "other"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			result, err := of(tc.templates).Render(t.Context(), resource(t, widget, "{}"), everyKind)
			if err == nil {
				t.Fatalf("it was rendered: %s", asJSON(t, result.Objects))
			}
			if result != nil {
				t.Error("there is a result beside the error")
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error lacks %q: %v", part, err)
				}
			}
			if strings.ContainsAny(err.Error(), "\r\n") {
				t.Errorf("the error has more than one line: %q", err)
			}
			var invalid *InvalidSpecError
			if errors.As(err, &invalid) {
				t.Errorf("the spec is blamed: %v", err)
			}
		})
	}
}

func TestWhatRendersNoObjectIsLeftOut(t *testing.T) {
	cases := map[string]map[string]string{
		"nothing":                      {"b.yaml": ""},
		"blanks":                       {"b.yaml": "{{ if false }}\nkind: Never\n{{ end }}\n  \n"},
		"a comment of the template":    {"b.yaml": "{{/* nothing */}}"},
		"a comment":                    {"b.yaml": "# All rights reserved.\n{{ if false }}\nkind: Never\n{{ end }}"},
		"a document of comments alone": {"b.yaml": "# Part one.\n---\n# Part two.\n---\n"},
		"separators":                   {"b.yaml": "---\n---\n\n---\n"},
		"notes":                        {"NOTES.txt": "Thank you for installing {{ .Chart.Name }}."},
		"a partial":                    {"_helpers.tpl": "{{ define \"x\" }}kind: Never{{ end }}kind: Never"},
		"a test":                       {"b.yaml": hooked("test")},
		"a test of earlier days":       {"b.yaml": hooked("test-success")},
	}
	for name, templates := range cases {
		t.Run(name, func(t *testing.T) {
			templates["a.yaml"] = service
			result := rendered(t, of(templates), resource(t, widget, "{}"))
			if len(result.Objects) != 1 || result.Sources[0] != "widget/templates/a.yaml" {
				t.Errorf("got %v, want the Service alone", result.Sources)
			}
		})
	}
}

func TestTwoKindsMayShareAName(t *testing.T) {
	result := rendered(t, of(map[string]string{
		"a.yaml": service + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n",
		"b.yaml": "apiVersion: example.com/v1\nkind: Service\nmetadata: {name: web}\n",
	}), resource(t, widget, "{}"))
	if len(result.Objects) != 3 {
		t.Errorf("got %d objects, want 3", len(result.Objects))
	}
}

func TestASpecThatCannotBeTranslatedIsToBlame(t *testing.T) {
	_, err := shipped(t).Render(t.Context(), appService(t, "{image: nginx, size: two}"), everyKind)
	var invalid *InvalidSpecError
	if !errors.As(err, &invalid) || errors.Unwrap(invalid) == nil {
		t.Errorf("got error %v, want an InvalidSpecError with a cause", err)
	}
}

func TestTheShippedChartRefusesWhatItCannotRender(t *testing.T) {
	cases := map[string]struct {
		spec string
		want []string
	}{
		"no image":                       {`{}`, []string{"templates/deployment.yaml", "image is required: set spec.image"}},
		"a negative size":                {`{image: nginx, size: -1}`, []string{"size"}},
		"an Ingress without ports":       {`{image: nginx, ingress: {hosts: [{host: a.b}]}}`, []string{"templates/ingress.yaml", "ports is required"}},
		"a protocol that does not exist": {`{image: nginx, ports: [{port: 80, protocol: HTTP}]}`, []string{"ports", "protocol"}},
		"port 0":                         {`{image: nginx, ports: [{port: 0}]}`, []string{"ports", "port"}},
		"a port beyond 65535":            {`{image: nginx, ports: [{port: 65536}]}`, []string{"ports", "port"}},
		"a port name that is too long":   {`{image: nginx, ports: [{port: 80, name: abcdefghijklmnop}]}`, []string{"ports", "name"}},
		"a path type that is not one":    {`{image: nginx, ports: [{port: 80}], ingress: {hosts: [{host: a.b, paths: [{pathType: Regex}]}]}}`, []string{"pathType"}},
		"a certificate without hosts":    {`{image: nginx, ports: [{port: 80}], ingress: {hosts: [{host: a.b}], tls: [{secretName: a, hosts: []}]}}`, []string{"tls", "hosts"}},
		"a variable without a name":      {`{image: nginx, envs: [{value: a}]}`, []string{"envs", "name"}},
		"a secret beside a mistake":      {`{image: nginx, size: -1, config: {databaseUrl: hunter2}}`, []string{"size"}},
		"a secret as a mistake":          {`{image: nginx, ports: [{port: 80, protocol: hunter2}]}`, []string{"protocol"}},
	}
	renderer := shipped(t)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := renderer.Render(t.Context(), appService(t, tc.spec), everyKind)
			if err == nil {
				t.Fatal("it was rendered")
			}
			for _, part := range tc.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error lacks %q: %v", part, err)
				}
			}
			if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error has more than one line, or a value: %v", err)
			}
		})
	}
}

// Values that differ from render to render would never come to rest.
func TestWhatTemplatesSeeOfTheReleaseIsTheSameInEveryRender(t *testing.T) {
	templates := map[string]string{"a.yaml": `
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data:
  release: {{ toJson .Release | quote }}
  lookup: {{ toJson (lookup "v1" "Secret" "" "") | quote }}
  host: {{ getHostByName "localhost" | quote }}
  version: {{ .Capabilities.KubeVersion.Version | quote }}
  serves: {{ .Capabilities.APIVersions.Has "example.com/v1/Part" | quote }}
`}
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.KubeVersion.Version = "v1.99.0"
	capabilities.APIVersions = append(capabilities.APIVersions, "example.com/v1/Part")
	result, err := of(templates).Render(t.Context(), resource(t, widget, "{}"), capabilities)
	require.NoError(t, err)
	want := map[string]any{
		"release": `{"IsInstall":true,"IsUpgrade":false,"Name":"web","Namespace":"shop","Revision":1,"Service":"Helm"}`,
		"lookup":  "{}", "host": "", "version": "v1.99.0", "serves": "true",
	}
	if got := result.Objects[0].Object["data"]; asJSON(t, got) != asJSON(t, want) {
		t.Errorf("got %s\nwant %s", asJSON(t, got), asJSON(t, want))
	}
}
