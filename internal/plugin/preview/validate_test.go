package preview

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/operator-framework/helm-operator-plugins/pkg/watches"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	appservice "github.com/example/appservice-operator"
	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/chart/crd"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/operator/policy"
)

const root = "../../.."

// shipped returns the definition and the renderer of AppServices, and a cluster that serves everything.
func shipped(t *testing.T) (*crd.Definition, *render.Renderer, Cluster) {
	t.Helper()
	kind := v1.GroupVersion.WithKind(v1.Kind)
	d, err := crd.Of(os.DirFS(root), "config/crd/bases", kind, "appservices")
	if err != nil || d == nil {
		t.Fatalf("no definition: %v", err)
	}
	charts, err := LoadCharts(appservice.Files)
	require.NoError(t, err)
	return d, charts.Renderers[kind], Cluster{Capabilities: Serving(charts)}
}

func said(problems []Problem) []string {
	var list []string
	for _, each := range problems {
		list = append(list, fmt.Sprintf("%d:%d %s", each.Line, each.Column, each.Message))
	}
	return list
}

func TestCheck(t *testing.T) {
	const app = "apiVersion: app.example.com/v1\nkind: AppService\nmetadata:\n  name: web\nspec:\n  image: nginx\n"
	rules, err := policy.Read("policy.yaml", []byte("namespaces:\n- names: [shop]\n  serviceTypes: [ClusterIP]\n- selector: {matchLabels: {team: a}}\n  serviceTypes: [ClusterIP]\n"))
	require.NoError(t, err)
	d, renderer, free := shipped(t)
	held := free
	held.Policy = rules
	selected := held
	selected.Labels = map[string]string{"team": "a"}
	for name, test := range map[string]struct {
		cluster   Cluster
		text      string
		namespace string
		want      []string
	}{
		"what is right":             {free, app + "  ports: [{port: 80}]\n", "shop", nil},
		"unknown fields":            {free, app + "  imagee: a\n  ports:\n  - port: 80\n    protocols: TCP\n", "shop", []string{`7:3 unknown field "spec.imagee": did you mean image?`, `10:5 unknown field "spec.ports[0].protocols": did you mean protocol?`}},
		"the schema":                {free, app + "  ports:\n  - port: 0\n", "shop", []string{"8:5 spec.ports[0].port: Invalid value: 0: spec.ports[0].port in body should be greater than or equal to 1"}},
		"a rule":                    {free, app + "  ingress: {hosts: [{host: a}], issuer: b, clusterIssuer: c}\n  ports: [{port: 1}]\n", "shop", []string{"7:3 spec.ingress: Invalid value: "}},
		"what is missing":           {free, strings.Replace(app, "  image: nginx\n", "  size: 1\n", 1), "shop", []string{"5:1 spec.image: Required value"}},
		"a name":                    {free, strings.Replace(app, "name: web", "name: web_1", 1), "shop", []string{"4:3 metadata.name: Invalid value: ", "0:0 Invalid value: metadata.name must be at most 53 characters"}},
		"no YAML":                   {free, app + "  ports: [\n", "shop", []string{"7:3 "}},
		"a key twice":               {free, app + "  image: a\n", "shop", []string{`7:3 key "image" already set in map`}},
		"too much to refer":         {free, app + "  envFrom:\n" + references(60) + "  envs:\n" + variables(60), "shop", []string{"0:0 the pods refer to 120 ConfigMaps"}},
		"pod security":              {free, app + "  podTemplate: {spec: {hostNetwork: true}}\n", "shop", []string{"0:0 the pods of Deployment \"web\" violate"}},
		"the policy":                {held, app + "  ports: [{port: 80}]\n  service: {type: NodePort}\n", "shop", []string{"0:0 violates the platform's policy: Service \"web\": spec.type NodePort"}},
		"another namespace":         {held, app + "  ports: [{port: 80}]\n  service: {type: NodePort}\n", "test", nil},
		"a namespace by its labels": {selected, app + "  ports: [{port: 80}]\n  service: {type: NodePort}\n", "test", []string{"0:0 violates the platform's policy"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := said(test.cluster.Check(t.Context(), renderer, d, []byte(test.text), test.namespace))
			if !slices.EqualFunc(got, test.want, strings.HasPrefix) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// Values that people often write wrongly are reported in their words, with the line to write, once for each value.
func TestCheckSaysWhatToWrite(t *testing.T) {
	const app = "apiVersion: app.example.com/v1\nkind: AppService\nmetadata:\n  name: web\nspec:\n  image: nginx\n"
	const noQuantity = ` is no quantity: 100m is a tenth of a CPU, 128Mi is memory`
	d, renderer, free := shipped(t)
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"a number for a quantity":                {app + "  resources:\n    requests:\n      cpu: 0.5\n", []string{`9:7 spec.resources.requests.cpu: put it in quotes: "0.5"`}},
		"a number of another kind is a quantity": {app + "  resources: {requests: {cpu: 1}}\n", nil},
		"values of the environment": {app + "  config:\n    environment: {DEBUG: true, VERSION: 1.10, N1: 0x1F, OK: yes, TEXT: \"1\"}\n", []string{
			`8:19 spec.config.environment.DEBUG: put it in quotes: "true"`, `8:32 spec.config.environment.VERSION: put it in quotes: "1.10"`,
			`8:47 spec.config.environment.N1: put it in quotes: "0x1F"`, `8:57 spec.config.environment.OK: put it in quotes: "yes"`}},
		"keys of the environment": {app + "  config:\n    environment: {N: a, on: b, \"y\": d}\n    files: {1.10: c}\n", []string{
			`8:19 spec.config.environment.N: YAML reads this key as false, put it in quotes: "N"`,
			`8:25 spec.config.environment.on: YAML reads this key as true, put it in quotes: "on"`,
			`9:13 spec.config.files.1.10: YAML reads this key as 1.1, put it in quotes: "1.10"`}},
		"an item of a list":        {app + "  args: [--level, 3]\n", []string{`7:19 spec.args[1]: put it in quotes: "3"`}},
		"a label":                  {strings.Replace(app, "name: web", "name: web\n  labels: {app.kubernetes.io/version: 1.10}", 1), []string{`5:12 metadata.labels.app.kubernetes.io/version: put it in quotes: "1.10"`}},
		"a label of all":           {app + "  commonLabels: {app.example.org/on: on}\n", []string{`7:18 spec.commonLabels.app.example.org/on: put it in quotes: "on"`}},
		"a value by an anchor":     {app + "  config: {environment: {A: &a 1, B: *a}}\n", []string{`7:26 spec.config.environment.A: put it in quotes: "1"`, `7:35 spec.config.environment.B: put it in quotes: "1"`}},
		"quotes around a number":   {app + "  size: \"3\"\n", []string{"7:3 spec.size: write it without quotes: 3"}},
		"quotes around a boolean":  {app + "  paused: \"no\"\n", []string{"7:3 spec.paused: write it without quotes: false"}},
		"a path without a slash":   {app + "  ports: [{port: 80}]\n  ingress:\n    hosts:\n    - {host: a.example.com, paths: [{path: api}]}\n", []string{"10:38 spec.ingress.hosts[0].paths[0].path: begin it with /: /api"}},
		"no number at all":         {app + "  size: many\n", []string{"7:3 spec.size: Invalid value: "}},
		"no quantity":              {app + "  resources: {requests: {cpu: 100mm}, limits: {memory: 1GB}}\n", []string{`7:26 spec.resources.requests.cpu: "100mm"` + noQuantity, `7:48 spec.resources.limits.memory: "1GB"` + noQuantity}},
		"a host in upper case":     {app + "  ports: [{port: 80}]\n  ingress:\n    hosts:\n    - host: Shop.Example.com\n", []string{"10:7 spec.ingress.hosts[0].host: write it in lower case: host: shop.example.com"}},
		"a host of a wildcard":     {app + "  ports: [{port: 80}]\n  ingress:\n    hosts:\n    - host: \"*.Foo.com\"\n", []string{`10:7 spec.ingress.hosts[0].host: write it in lower case: host: '*.foo.com'`}},
		"a hostname with a port":   {app + "  ports: [{port: 80}]\n  route:\n    parentRefs: [{name: web}]\n    hostnames:\n    - B.com:80\n", nil},
		"a boolean for a quantity": {app + "  resources: {limits: {cpu: yes}}\n", []string{"7:24 spec.resources.limits.cpu: Invalid value", "7:24 spec.resources.limits.cpu: Invalid value", "0:0 Invalid value"}},
		"a hostname in upper case": {app + "  ports: [{port: 80}]\n  route:\n    parentRefs: [{name: web}]\n    hostnames:\n    - Shop.Example.com\n", []string{"11:7 spec.route.hostnames[0]: write it in lower case: - shop.example.com"}},
		"a name in upper case":     {strings.Replace(app, "name: web", "name: Web", 1), []string{"4:3 metadata.name: write it in lower case: name: web"}},
		"what remains":             {app + "  siez: 1\n  config: {environment: {A: 1}}\n  ports: [{port: 0}]\n", []string{`7:3 unknown field "spec.siez"`, `8:26 spec.config.environment.A: put it in quotes: "1"`, "9:12 spec.ports[0].port: Invalid value: 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := said(free.Check(t.Context(), renderer, d, []byte(test.text), "shop"))
			if !slices.EqualFunc(got, test.want, strings.HasPrefix) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func references(count int) string {
	var out strings.Builder
	for i := range count {
		fmt.Fprintf(&out, "  - configMapRef: {name: c%d}\n", i)
	}
	return out.String()
}

func variables(count int) string {
	var out strings.Builder
	for i := range count {
		fmt.Fprintf(&out, "  - name: E%d\n    valueFrom: {configMapKeyRef: {name: d%d, key: e}}\n", i, i)
	}
	return out.String()
}

// The golden cases are what operators serve: nothing of them is refused.
func TestGoldenCasesAreValid(t *testing.T) {
	files, err := filepath.Glob(root + "/test/testdata/cases/*/cr.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d cases, error %v", len(files), err)
	}
	d, renderer, free := shipped(t)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if problems := free.Check(t.Context(), renderer, d, text, "shop"); len(problems) > 0 {
			t.Errorf("%s: %v", file, said(problems))
		}
	}
}

// A mistake of the chart is shown with its template: the file, the line, and a caret below it.
func TestMistakesOfAChartShowTheTemplate(t *testing.T) {
	kind := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Web"}
	for name, test := range map[string]struct{ template, want string }{
		"of a template": {
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: {{ index (list) 1 }}\n",
			"templates/a.yaml:5:9: <index (list) 1>: error calling index: index out of range: 1\n    4 | data:\n    5 |   a: {{ index (list) 1 }}\n      |         ^",
		},
		"of what it renders": {
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: 1\n b: 2\n",
			"templates/a.yaml:6: the rendered text is not YAML: did not find expected key\n  rendered:\n    5 |   a: 1\n    6 |  b: 2\n      |  ^",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := chart.Watch{Watch: watches.Watch{GroupVersionKind: kind}}.Load(fstest.MapFS{
				"web/Chart.yaml":       {Data: []byte("apiVersion: v2\nname: web\nversion: 1.0.0\n")},
				"web/templates/a.yaml": {Data: []byte(test.template)},
			}, "web")
			require.NoError(t, err)
			renderer, assumed := render.For(chart.Watch{Watch: watches.Watch{GroupVersionKind: kind}}, c), Cluster{Capabilities: render.Serving(c)}
			const web = "apiVersion: example.com/v1\nkind: Web\nmetadata: {name: web}\nspec: {}\n"
			got := assumed.Check(t.Context(), renderer, nil, []byte(web), "shop")
			if len(got) != 1 || !strings.HasPrefix(got[0].Message, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(said(got), "\n"), test.want)
			}
		})
	}
}
