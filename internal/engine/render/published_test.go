package render

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/operator-framework/helm-operator-plugins/pkg/watches"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
)

// publishedOf returns the renderer of a published chart with some files, which may render any usual kind.
func publishedOf(t *testing.T, files map[string]string, with ...func(*appchart.Watch)) *Renderer {
	t.Helper()
	folder := fstest.MapFS{"web/Chart.yaml": {Data: []byte("apiVersion: v2\nname: web\nversion: 1.0.0\n")}}
	for name, text := range files {
		folder["web/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	entry := appchart.Watch{Watch: watches.Watch{GroupVersionKind: widget}}
	entry.Published = appchart.Published{From: appchart.FromPublished, Renders: []string{"ConfigMap", "Secret", "Job.batch",
		"Service", "Role.rbac.authorization.k8s.io", "ClusterRole.rbac.authorization.k8s.io",
		"RoleBinding.rbac.authorization.k8s.io", "ClusterRoleBinding.rbac.authorization.k8s.io",
		"IngressClass.networking.k8s.io", "ValidatingWebhookConfiguration.admissionregistration.k8s.io"}}
	for _, change := range with {
		change(&entry)
	}
	c, err := entry.Load(folder, "web")
	require.NoError(t, err)
	r := For(entry, c)
	r.ClusterScoped = func(kind schema.GroupVersionKind) bool {
		return strings.HasPrefix(kind.Kind, "Cluster") || kind.Kind == "IngressClass" || strings.HasSuffix(kind.Kind, "WebhookConfiguration")
	}
	return r
}

// configMap is a template that prints a text under one key.
func configMap(text string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\ndata:\n  a: |-\n    " + text + "\n"
}

func renderPublished(t *testing.T, r *Renderer, spec string) (*Result, error) {
	t.Helper()
	return r.Render(t.Context(), resource(t, widget, spec), everyKind)
}

func TestTplExecutesOnlyWhatThePublishedChartSays(t *testing.T) {
	const values = "text: '{{ .Release.Name }}'\nnested:\n  list: ['{{- if .Values.flag }}yes{{ end -}}']\n'{{ .Chart.Name }}': x\nother: ''\nflag: true\n" +
		"defined: '{{ define \"greet\" }}hello{{ end }}{{ include \"greet\" . }}'\n"
	templates := map[string]string{
		"values.yaml":               values,
		"config/settings.conf":      "name = {{ .Values.flag }}",
		"config/README.md":          "{{ .Values.text }}",
		"ci/a.txt":                  "{{ .Values.text }}",
		"templates/_with.tpl":       `{{ define "with" }}{{ tpl (cat "{{- with $.In -}}" .text "{{- end }}") (dict "In" "scope" "Release" .root.Release "Values" .root.Values) }}{{ end }}`,
		"templates/a.yaml":          configMap(`{{ tpl .Values.other . }}`),
		"templates/b.yaml":          strings.Replace(configMap(`{{ include "with" (dict "text" (.Values.scoped | default "x") "root" .) }}`), "{{ .Release.Name }}", "b", 1),
		"templates/configured.yaml": strings.Replace(configMap(`{{ tpl (.Files.Get "config/settings.conf") . }}`), "{{ .Release.Name }}", "c", 1),
	}
	for name, test := range map[string]struct{ spec, want, refused string }{
		"plain text":                {`{other: "a }} b"}`, "a }} b", ""},
		"two braces":                {`{other: "{{ \"{{\" }} x"}`, "{{ x", ""},
		"as the chart has it":       {`{other: "{{ .Release.Name }}"}`, "web", ""},
		"white space and marks":     {`{other: "a {{-   .Release.Name   -}} b"}`, "awebb", ""},
		"of a list":                 {`{other: "{{ if .Values.flag }}no{{ else }}x{{ end }}"}`, "no", ""},
		"of a key":                  {`{other: "{{ .Chart.Name }}"}`, "web", ""},
		"of a file":                 {`{other: "{{ .Values.flag }}"}`, "true", ""},
		"another one":               {`{other: "{{ .Values.text }}"}`, "", "spec.other: the chart would execute {{ .Values.text }}"},
		"below a map":               {`{scoped: "{{ .Capabilities }}"}`, "", "spec.scoped: the chart would execute {{ .Capabilities }}"},
		"a fragment of the chart":   {`{scoped: "{{ . }}"}`, "", "spec.scoped: the chart would execute {{ . }}"},
		"with its text":             {`{other: "{{ with $.In }}x{{ end }}"}`, "", ""},
		"a part of an action":       {`{other: "{{ if .Values.flag }}{{ .Values }}{{ end }}"}`, "", "{{ .Values }}"},
		"in the branch not taken":   {`{other: "{{ if .Values.flag }}{{ else }}{{ .Values }}{{ end }}"}`, "", "{{ .Values }}"},
		"a template of the chart":   {`{other: "{{ template \"with\" . }}"}`, "", `{{ template "with" . }}`},
		"a definition of its own":   {`{other: "{{ define \"with\" }}{{ .Values }}{{ end }}"}`, "", `{{ define "with" }}`},
		"a definition of the chart": {`{other: "{{ define \"greet\" }}hello{{ end }}{{ include \"greet\" . }}"}`, "hello", ""},
		"changed":                   {`{other: "{{ define \"greet\" }}bye{{ end }}{{ include \"greet\" . }}"}`, "", `{{ define "greet" }}`},
		"named as the text itself":  {`{other: "{{ define \"gotpl\" }}{{ .Values }}{{ end }}"}`, "", `{{ define "gotpl" }}`},
		"in a constant":             {`{other: "{{ tpl \"{{ .Values }}\" . }}"}`, "", "{{ tpl "},
		"a variable":                {`{other: "{{ $x := .Values }}"}`, "", "{{ $x := .Values }}"},
		"a comment":                 {`{other: "{{/* .Values */}}x"}`, "x", ""},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := renderPublished(t, publishedOf(t, templates), test.spec)
			if test.refused != "" {
				var invalid *InvalidSpecError
				require.ErrorAs(t, err, &invalid)
				require.ErrorContains(t, err, test.refused)
				for _, way := range []string{"write out", `{{ "{{" }}`, "templatesInSpec: true"} {
					require.ErrorContains(t, err, way)
				}
				return
			}
			require.NoError(t, err)
			assert.Contains(t, result.Manifest(), fmt.Sprintf("%q", test.want))
		})
	}
	all := publishedOf(t, templates, func(w *appchart.Watch) { w.TemplatesInSpec = true })
	result, err := renderPublished(t, all, `{other: "{{ .Values.text | upper }}"}`)
	require.NoError(t, err)
	assert.Contains(t, result.Manifest(), "{{ .RELEASE.NAME }}")
}

// Neither its README nor its tests count.
func TestTextsOutsideOfThePublishedChart(t *testing.T) {
	r := publishedOf(t, map[string]string{
		"values.yaml": "other: ''\n", "README.md": "{{ .Values.secret }}", "ci/a-values.yaml": "{{ .Values.secret }}",
		"tests/a.yaml": "{{ .Values.secret }}", "templates/a.yaml": configMap(`{{ tpl .Values.other . }}`),
	})
	_, err := renderPublished(t, r, `{other: "{{ .Values.secret }}"}`)
	require.ErrorContains(t, err, "spec.other: the chart would execute {{ .Values.secret }}")
}

func TestWhatIsRandomIsRefusedWhereItLands(t *testing.T) {
	secret := func(value string) map[string]string {
		return map[string]string{
			"values.yaml":            "auth: {password: '', existingSecret: ''}\n",
			"templates/_helpers.tpl": "{{ define \"made\" }}\n" + value + "{{ end }}",
			"templates/secret.yaml": "{{ if not .Values.auth.existingSecret }}\napiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData:\n" +
				"  password: {{ include \"made\" . | trim | quote }}\n{{ end }}",
			"templates/tests/a.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: '{{ randAlpha 5 }}', annotations: {helm.sh/hook: test}}\n",
			"templates/NOTES.txt":    "{{ now }}",
		}
	}
	for function, test := range map[string]struct{ value, advice string }{
		"randAlphaNum":         {"{{ .Values.auth.password | default (randAlphaNum 10) }}", "set spec.auth.existingSecret: NAME"},
		"digits among letters": {`{{ randAlphaNum 10 | regexFind "[0-9]+" }}`, "existingSecret"},
		"a remainder":          {`{{ mod (randNumeric 1) 5 }}`, "existingSecret"},
		"one of two":           {`{{ $other := randInt 0 2 }}{{ randInt 0 2 }}`, "existingSecret"},
		"a difference":         {`{{ sub (randInt 0 9) (randInt 0 9) }}`, "existingSecret"},
		"randAlpha":            {"{{ randAlpha 1 | lower }}", "set spec.auth.existingSecret: NAME"},
		"randNumeric":          {"{{ randNumeric 1 }}", "existingSecret"},
		"randAscii":            {"{{ randAscii 3 }}", "existingSecret"},
		"randBytes":            {"{{ randBytes 3 }}", "existingSecret"},
		"randInt":              {"{{ randInt 0 9 }}", "existingSecret"},
		"uuidv4":               {"{{ uuidv4 }}", "existingSecret"},
		"now":                  {`{{ now | date "2006" }}`, "existingSecret"},
		"now as a day":         {`{{ now | date "Mon" }}`, "existingSecret"},
		"now as a digit":       {`{{ now | date "2006" | trunc 1 }}`, "existingSecret"},
		"date":                 {`{{ date "15" "x" }}`, "existingSecret"},
		"htmlDate":             {`{{ htmlDate .Values.auth }}`, "existingSecret"},
		"ago":                  {`{{ ago .Values.auth }}`, "existingSecret"},
		"shuffle":              {`{{ shuffle "abc" }}`, "existingSecret"},
		"bcrypt":               {`{{ bcrypt "abc" }}`, "existingSecret"},
		"htpasswd":             {`{{ htpasswd "a" "b" }}`, "existingSecret"},
		"encryptAES":           {`{{ encryptAES "a" "b" }}`, "existingSecret"},
		"genPrivateKey":        {`{{ genPrivateKey "rsa" }}`, "existingSecret"},
		"genCA":                {`{{ (genCA "a" 1).Cert }}`, "existingSecret"},
		"genSignedCert":        {`{{ (genSignedCert "a" nil nil 1 (genCA "a" 1)).Key }}`, "existingSecret"},
		"genSelfSignedCert":    {`{{ $c := genSelfSignedCert "a" (list) (list "b") 1 }}{{ $c.Key | b64enc }}`, "existingSecret"},
	} {
		t.Run(function, func(t *testing.T) {
			r := publishedOf(t, secret(test.value))
			_, err := renderPublished(t, r, `{}`)
			var unstable *UnstableError
			require.ErrorAs(t, err, &unstable)
			assert.Equal(t, "stringData.password of Secret a differs in each render", fmt.Sprintf("%s of %s differs in each render", unstable.Field, unstable.Key))
			assert.Equal(t, "templates/_helpers.tpl:2", unstable.Site)
			assert.Contains(t, unstable.Advice, test.advice)
			_, err = renderPublished(t, r, `{auth: {existingSecret: other}}`)
			require.NoError(t, err)
		})
	}
	_, err := renderPublished(t, publishedOf(t, secret("{{ randAlphaNum 10 | len }}")), `{}`)
	require.NoError(t, err, "what does not land is no reason")
}

func TestWhatAPublishedChartRendersAsHelmDoes(t *testing.T) {
	for name, test := range map[string]struct {
		values, template, spec, want, warning, refused string
	}{
		"keys and values in order": {"m: {b: 2, a: 1, c: 3}", configMap(`{{ join "," (keys .Values.m) }} {{ join "," (values .Values.m) }}`), `{}`,
			`"a,b,c 1,2,3"`, "", ""},
		"the release": {"", configMap(`{{ .Release.IsInstall }} {{ .Release.IsUpgrade }} {{ .Release.Revision }}`), `{}`, `"true false 1"`, "", ""},
		"lookup": {"", configMap(`{{ len (lookup "v1" "Secret" "a" "b") }}`), `{}`, `"0"`,
			"LookupEmpty templates/a.yaml:6: lookup of Secret finds nothing", ""},
		"a key twice": {"", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: one\n  a: two\n", `{}`, `"two"`,
			"FieldDropped web/templates/a.yaml: ", ""},
		"a field that the kind does not have": {"", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndatum: {}\ndata: {a: b}\n", `{}`, `"b"`,
			`FieldDropped ConfigMap a: left out: unknown field "datum"`, ""},
		"a list": {"", "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n",
			`{}`, `"name": "b"`, "", ""},
		"null removes":     {"m: {a: 1, b: 2}", configMap(`{{ .Values.m | toJson }}`), `{m: {a: null}}`, `{\"b\":2}`, "", ""},
		"a release record": {"", "apiVersion: v1\nkind: Secret\nmetadata: {name: sh.helm.release.v1.web.v9}\n", `{}`, "", "", "would be a release record"},
		"the type of one":  {"", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ntype: helm.sh/release.v1\n", `{}`, "", "", "would be a release record"},
		"an annotation of the operator, in a document of the spec": {"name: a", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Values.name }}\n",
			`{name: "a\n  annotations: {app.example.com/generate: x}"}`, "", "", "has app.example.com/generate, which is reserved"},
		"the defaults of a namespace": {"", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: appservice-defaults}\n", `{}`, "", "", "is for those who set the defaults of a namespace"},
		"a reserved annotation, in a document of the spec": {"name: a", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Values.name }}\n",
			`{name: "a\n  annotations: {helm.sh/resource-policy: keep}"}`, "", "", "has helm.sh/resource-policy, which is reserved"},
		"a hook, in a document of the spec": {"name: a", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Values.name }}\n",
			`{name: "a\n  annotations: {helm.sh/hook: test}"}`, "", "", "has helm.sh/hook, which is reserved"},
		"what the chart itself keeps": {"", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {helm.sh/chart: a}, annotations: {helm.sh/resource-policy: keep}}\n", `{}`, "helm.sh/chart", "", ""},
		"a Job runs again when it changes": {"", "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}\n",
			`{}`, `"app.example.com/rerun-on-change": "true"`, "", ""},
		"a test is dropped":        {"", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {helm.sh/hook: 'test, test-success'}}\n---\n" + configMap("x"), `{}`, `"x"`, "", ""},
		"of an unknown event, too": {"", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {helm.sh/hook: crd-install}}\n---\n" + configMap("x"), `{}`, `"x"`, "", ""},
		"a test that is a hook, too": {"", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {helm.sh/hook: 'test,post-install'}}\n", `{}`, "", "",
			`templates/a.yaml renders ConfigMap "a" as a Helm hook (test,post-install)`},
		"a hook": {"migrate: {enabled: true}\nother: true", "{{ if .Values.migrate.enabled }}apiVersion: v1\nkind: ConfigMap\nmetadata: {name: migrate, annotations: {helm.sh/hook: pre-install}}\n{{ end }}",
			`{}`, "", "", "set spec.migrate.enabled: false"},
		"a hook that the spec names": {"annotations: {}", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {{ .Values.annotations | toJson }}}\n",
			`{annotations: {helm.sh/hook: test}}`, "", "", "spec.annotations must not have helm.sh/hook"},
		"another namespace": {"at: kube-system", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: {{ .Values.at }}}\n", `{}`, "", "",
			`ConfigMap a is rendered into namespace "kube-system"`},
		"the value for that": {"at: kube-system", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: {{ .Values.at }}}\n", `{}`, "", "", "set spec.at: NAMESPACE"},
	} {
		t.Run(name, func(t *testing.T) {
			r := publishedOf(t, map[string]string{"values.yaml": test.values, "templates/a.yaml": test.template})
			result, err := renderPublished(t, r, test.spec)
			if test.refused != "" {
				var invalid *InvalidSpecError
				require.ErrorAs(t, err, &invalid)
				require.ErrorContains(t, err, test.refused)
				return
			}
			require.NoError(t, err)
			assert.Contains(t, result.Manifest(), test.want)
			var warnings []string
			for _, warning := range result.Warnings {
				warnings = append(warnings, fmt.Sprintf("%s %s: %s", warning.Reason, warning.Source, warning.Message))
			}
			if test.warning == "" {
				assert.Empty(t, warnings)
			} else {
				require.Len(t, warnings, 1)
				assert.Contains(t, warnings[0], test.warning)
			}
		})
	}
}

func TestDefinitionsAreLeftOut(t *testing.T) {
	const definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: %s.example.com}\n" +
		"spec: {group: example.com, names: {kind: %s}, versions: [{name: v1}]}\n---\n"
	r := publishedOf(t, map[string]string{"templates/a.yaml": fmt.Sprintf(definition, "buckets", "Bucket") +
		fmt.Sprintf(definition, "queues", "Queue") + configMap("x")})
	capabilities := everyKind.Copy()
	capabilities.APIVersions = append(capabilities.APIVersions, "example.com/v1/Queue")
	result, err := r.Render(t.Context(), resource(t, widget, `{}`), capabilities)
	require.NoError(t, err)
	assert.Len(t, result.Objects, 1)
	assert.Equal(t, []string{"buckets.example.com"}, result.Definitions)
}

func TestAPublishedChartRendersOnlyWhatItsEntryAllows(t *testing.T) {
	const rules = "apiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata: {name: a, labels: {{ .Values.labels | toJson }}}\nrules: {{ .Values.rules | toJson }}\n%s"
	const bound = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: a}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {{ .Values.role }}}\n" +
		"subjects: {{ .Values.subjects | toJson }}\n"
	const hook = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: {{ .Values.name | default \"a\" }}, labels: {{ .Values.labels | toJson }}}\n" +
		"webhooks:\n- name: a.example.com\n  failurePolicy: {{ .Values.failure | default \"Ignore\" }}\n  clientConfig: {service: {name: {{ .Values.service | default .Release.Name }}, namespace: {{ .Values.at | default .Release.Namespace }}}}\n" +
		"---\napiVersion: v1\nkind: Service\nmetadata: {name: {{ .Release.Name }}}\n"
	const values = "labels: {}\nrules: [{apiGroups: [''], resources: [pods], verbs: [get]}]\nrole: a\nsubjects: [{kind: ServiceAccount, name: a, namespace: shop}]\nextra: ''\n"
	for name, test := range map[string]struct{ template, spec, refused string }{
		"a kind among renders":      {configMap("x"), `{}`, ""},
		"a document in a name":      {"{{ .Values.extra }}\n", `{extra: "apiVersion: v1\nkind: Pod\nmetadata: {name: a}"}`, "is of a kind that is not among renders"},
		"in a list":                 {"{{ .Values.extra }}\n", `{extra: "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Pod, metadata: {name: a}}]"}`, "not among renders"},
		"of another group":          {"{{ .Values.extra }}\n", `{extra: "apiVersion: example.com/v1\nkind: Part\nmetadata: {name: a}"}`, "not among renders"},
		"the rules of the chart":    {fmt.Sprintf(rules, "ClusterRole", ""), `{}`, ""},
		"fewer":                     {fmt.Sprintf(rules, "Role", ""), `{rules: []}`, ""},
		"another verb":              {fmt.Sprintf(rules, "Role", ""), `{rules: [{apiGroups: [''], resources: [pods], verbs: [get, delete]}]}`, "grants rights that are not among grants"},
		"everything":                {fmt.Sprintf(rules, "ClusterRole", ""), `{rules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]}`, "not among grants"},
		"more than can be counted":  {fmt.Sprintf(rules, "ClusterRole", "{{ .Values.extra }}\n"), `{rules: [{apiGroups: [` + strings.Repeat("a, ", 100) + `b], resources: [` + strings.Repeat("a, ", 200) + `b], verbs: [get]}]}`, "has more than 10000 rights"},
		"more URLs than that":       {fmt.Sprintf(rules, "ClusterRole", ""), `{rules: [{nonResourceURLs: [` + strings.Repeat("a, ", 200) + `b], verbs: [` + strings.Repeat("a, ", 100) + `b]}]}`, "has more than 10000 rights"},
		"more than an integer":      {fmt.Sprintf(rules, "ClusterRole", "{{ .Values.extra }}\n"), `{extra: "rules: [{apiGroups: &a [` + strings.Repeat("a,", 55201) + `b], resources: *a, verbs: *a, resourceNames: *a}]"}`, "has more than 10000 rights"},
		"a URL":                     {fmt.Sprintf(rules, "ClusterRole", ""), `{rules: [{nonResourceURLs: ['*'], verbs: [get]}]}`, "not among grants"},
		"an aggregation":            {fmt.Sprintf(rules, "ClusterRole", "{{ .Values.extra }}\n"), `{extra: "aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}"}`, "aggregationRule"},
		"the label of one":          {fmt.Sprintf(rules, "ClusterRole", ""), `{labels: {rbac.authorization.k8s.io/aggregate-to-view: "true"}}`, "spec.labels must not have rbac.authorization.k8s.io/aggregate-to-view"},
		"a binding":                 {fmt.Sprintf(rules, "ClusterRole", "") + "---\n" + bound, `{}`, ""},
		"to another role":           {fmt.Sprintf(rules, "ClusterRole", "") + "---\n" + bound, `{role: cluster-admin}`, `binds ClusterRole "cluster-admin"`},
		"to a role that is granted": {bound, `{role: system:auth-delegator}`, ""},
		"for an account elsewhere":  {fmt.Sprintf(rules, "ClusterRole", "") + "---\n" + bound, `{subjects: [{kind: ServiceAccount, name: a, namespace: kube-system}]}`, "no account of the namespace"},
		"for a group":               {fmt.Sprintf(rules, "ClusterRole", "") + "---\n" + bound, `{subjects: [{kind: Group, name: "system:authenticated"}]}`, "no account of the namespace"},
		"a webhook":                 {hook, `{}`, ""},
		"with a name and labels":    {hook, `{labels: {a: b}, name: c}`, ""},
		"with another field":        {hook, `{failure: Fail}`, "webhooks is not what the chart renders without a spec"},
		"served by another":         {hook, `{service: other}`, "is served by Service shop/other"},
		"served elsewhere":          {hook, `{at: kube-system}`, "is served by Service kube-system/"},
		"of the cluster, by a spec": {"{{ if .Values.extra }}apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: a}\nspec: {controller: a}{{ end }}", `{extra: x}`,
			"does not render such an object without a spec"},
	} {
		t.Run(name, func(t *testing.T) {
			r := publishedOf(t, map[string]string{"values.yaml": values, "templates/a.yaml": test.template}, func(w *appchart.Watch) {
				w.Grants = []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list"}},
					{APIGroups: []string{"rbac.authorization.k8s.io"}, Resources: []string{"clusterroles"}, Verbs: []string{"bind"}, ResourceNames: []string{"system:auth-delegator"}}}
			})
			_, err := renderPublished(t, r, test.spec)
			if test.refused == "" {
				require.NoError(t, err)
				return
			}
			var refused *InvalidSpecError
			require.ErrorAs(t, err, &refused)
			require.ErrorContains(t, err, test.refused)
			if !strings.Contains(test.refused, "must not have") {
				require.ErrorContains(t, err, "of Widget in watches.yaml")
			}
		})
	}
}

func TestTheFieldToBlameForAPublishedChart(t *testing.T) {
	for name, test := range map[string]struct{ values, template, spec, field, chart string }{
		"a text in place of a map":   {"image: {repository: a}", configMap(`{{ .Values.image.repository }}`), `{image: hunter2}`, "spec.image does not fit the chart: <.Values.image.repository>", ""},
		"where no field is named":    {"text: 'a: {b: {c: 1}}'", configMap(`{{ $x := fromYaml .Values.text }}{{ $x.a.b.c }}`), `{text: "a: hunter2", z: 1}`, "spec.text does not fit the chart", ""},
		"a number that is none":      {"port: '2006'", configMap(`{{ mustToDate "2006" .Values.port }}`), `{port: "hunter2"}`, "spec.port does not fit the chart", ""},
		"below":                      {"a: {b: {c: {d: {e: 1}}}}", configMap(`{{ .Values.a.b.c.d.e }}`), `{a: {b: {c: hunter2, x: 1}}}`, "spec.a.b.c does not fit", ""},
		"YAML that is none":          {"p: x", configMap(`{{ .Values.p }}`) + "b: {{ .Values.p }}\n", `{p: "*hunter2"}`, "spec.p does not fit the chart", ""},
		"a number of YAML":           {"p: x", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nb: {{ .Values.p }}\n", `{p: "!!int hunter2"}`, "spec.p does not fit the chart", ""},
		"a value with backticks":     {"p: x", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nb: {{ .Values.p }}\n", "{p: '!!int x`hunter2`', a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1}", "the spec does not fit the chart", ""},
		"an object of another type":  {"p: x", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: {{ .Values.p }}}\n", `{p: [hunter2]}`, "spec.p does not fit the chart", ""},
		"a template put together":    {"name: a", configMap("{{ tpl (printf `{{ .Values.%s | %s }}` `name` .Values.name) . }}"), `{name: quote, z: "{{ hunter2 }}"}`, "", "templatesInSpec: true of Widget"},
		"the chart's":                {"a: 1", configMap(`{{ .Values.a.b.c }}`), `{z: hunter2}`, "", "bug in chart web 1.0.0, templates/a.yaml line 6"},
		"what the chart itself says": {"", configMap(`{{ required "give a name" .Values.name }}`), `{z: hunter2}`, "give a name", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := publishedOf(t, map[string]string{"values.yaml": test.values, "templates/a.yaml": test.template})
			_, err := renderPublished(t, r, test.spec)
			require.Error(t, err)
			assert.NotContains(t, err.Error(), "hunter2")
			if test.chart != "" {
				var fault *ChartError
				require.ErrorAs(t, err, &fault)
				require.ErrorContains(t, err, test.chart)
				return
			}
			var fault *SpecError
			require.ErrorAs(t, err, &fault)
			require.ErrorContains(t, err, test.field)
			require.ErrorContains(t, err, "templates/a.yaml")
		})
	}
}

func TestARequiredValueThatAPublishedChartDoesNotHaveIsTheUsers(t *testing.T) {
	r := publishedOf(t, map[string]string{"values.yaml": "policy: null\n", "values.schema.json": `{"properties": {"policy": {"type": "string"}}}`,
		"templates/a.yaml": configMap("x")})
	_, err := renderPublished(t, r, `{}`)
	var fault *SpecError
	require.ErrorAs(t, err, &fault)
	require.ErrorContains(t, err, "spec.policy: got null, want string")
}

func TestWhichOverridesASpecCanPrint(t *testing.T) {
	entry := appchart.Watch{Watch: watches.Watch{GroupVersionKind: widget, OverrideValues: map[string]string{"auth.password": "x", "auth.user": "x", "other": "x", "authority": "x"}}}
	entry.Published = appchart.Published{From: appchart.FromPublished, Renders: []string{"ConfigMap"}}
	var values map[string]any
	require.NoError(t, yaml.Unmarshal([]byte("a: '{{ .Values.auth.password | quote }}'"), &values))
	r := publishedOf(t, map[string]string{"values.yaml": "a: '{{ .Values.auth.password | quote }}'\n"})
	assert.Equal(t, []string{"auth.password"}, printable(entry, r.Chart))
	r = publishedOf(t, map[string]string{"values.yaml": "a: '{{ toYaml .Values.auth }}'\n"})
	assert.Equal(t, []string{"auth.password", "auth.user"}, printable(entry, r.Chart))
	r = publishedOf(t, map[string]string{"values.yaml": "a: '{{ include \"name\" . }}'\n"})
	assert.Empty(t, printable(entry, r.Chart))
	helpers := "{{ define \"name\" }}{{ include \"user\" . }}{{ end }}{{ define \"user\" }}{{ .Values.auth.user }}{{ end }}{{ define \"not\" }}{{ .Values.other }}{{ end }}"
	r = publishedOf(t, map[string]string{"values.yaml": "a: '{{ include \"name\" . }}'\n", "templates/_h.tpl": helpers})
	assert.Equal(t, []string{"auth.user"}, printable(entry, r.Chart))
	r = publishedOf(t, map[string]string{"values.yaml": "a: '{{ toYaml . }}'\n"})
	assert.Len(t, printable(entry, r.Chart), 4)
	r = publishedOf(t, map[string]string{"values.yaml": "a: '{{ toYaml .Values }}'\n"})
	assert.Len(t, printable(entry, r.Chart), 4)
}

// A function that compares the items of a list with each other takes long for few steps.
func TestComparisonsCount(t *testing.T) {
	for name, test := range map[string]struct {
		template string
		fails    bool
	}{
		"each with each":             {"{{ $x := untilStep 0 20000 1 }}{{ uniq $x | len }}", true},
		"each of a few":              {"{{ $x := untilStep 0 2000 1 }}{{ uniq $x | len }}", false},
		"one with each, many times":  {"{{ $x := untilStep 0 20000 1 }}{{ range $x }}{{ if has . $x }}{{ end }}{{ end }}", true},
		"one with each":              {"{{ $x := untilStep 0 20000 1 }}{{ has 5 $x }}{{ without $x 1 2 3 | len }}", false},
		"all but many":               {"{{ $x := untilStep 0 20000 1 }}{{ range $x }}{{ $x = without $x . }}{{ end }}", true},
		"of nothing, and of no list": {"{{ has 1 .Values.nothing }}", false},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := renderPublished(t, publishedOf(t, map[string]string{"templates/a.yaml": configMap(test.template)}), "{}")
			if test.fails {
				require.ErrorContains(t, err, errSteps.Error())
			} else {
				require.NoError(t, err)
			}
		})
	}
}
