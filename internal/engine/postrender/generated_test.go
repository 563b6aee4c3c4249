package postrender

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
)

const (
	passwords = `{apiVersion: v1, kind: Secret, metadata: {name: db, annotations: {app.example.com/generate: "password=24"}}}`
	authority = `{apiVersion: v1, kind: Secret, metadata: {name: tls, annotations: {app.example.com/generate: "ca,tls"}}}`
	aService  = `{apiVersion: v1, kind: Service, metadata: {name: web}}`
	others    = `{apiVersion: v1, kind: Secret, metadata: {name: others}}`
	fromEnv   = `{containers: [{name: app, env: [{name: A, valueFrom: {secretKeyRef: {name: db, key: password}}}]}]}`
)

// generated runs the hook on objects, in a namespace.
func generated(t *testing.T, facts map[string]string, objects ...*unstructured.Unstructured) error {
	t.Helper()
	in := owner(t)
	in.SetNamespace("demo")
	certificates := map[string][]string{"tls": {"ca.crt", "ca.key", "tls.crt", "tls.key"}}
	return Generated(t.Context(), &Input{Owner: in, Facts: Facts{Generated: facts, Certificates: certificates}}, objects)
}

func TestPodsShowTheVersionOfTheValuesThatTheyTake(t *testing.T) {
	cases := map[string]struct {
		pods  string
		facts map[string]string
		want  string
	}{
		"by a variable, of an unknown cluster": {fromEnv, nil, "db=1"},
		"by a variable":                        {fromEnv, map[string]string{"db": "3.1", "tls": "2"}, "db=3.1"},
		"all of it":                            {`{containers: [{name: app, envFrom: [{secretRef: {name: db}}]}]}`, map[string]string{"db": "2"}, "db=2"},
		"before the others":                    {`{containers: [], initContainers: [{name: i, envFrom: [{secretRef: {name: db}}]}]}`, map[string]string{"db": "2"}, "db=2"},
		"in volumes of two": {`{containers: [], volumes: [{name: a, secret: {secretName: tls, items: [{key: tls.crt, path: tls.crt}]}},
			{name: b, projected: {sources: [{secret: {name: db}}]}}]}`, map[string]string{"db": "1", "tls": "1.4"}, "db=1,tls=1.4"},
		"of another Secret": {`{containers: [{name: app, envFrom: [{secretRef: {name: others}}]}], imagePullSecrets: [{name: db}]}`, nil, ""},
		"none":              {`{containers: []}`, nil, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			web := pods(t, tc.pods)
			objects := []*unstructured.Unstructured{parse(t, passwords), parse(t, authority), parse(t, others), parse(t, aService), web}
			require.NoError(t, generated(t, tc.facts, objects...))
			assert.Equal(t, tc.want, templateAnnotations(web)[v1.AnnotationGeneratedVersion])
			assert.Equal(t, []string{"db", "tls"}, GeneratedSecrets(objects))
			if tc.want == "db=1,tls=1.4" {
				assert.Equal(t, map[string]string{"db": "1", "tls": "1.4"}, GeneratedVersions(objects))
			}
		})
	}
}

func TestTheTemplateOfAJobNeverChanges(t *testing.T) {
	job := parse(t, `{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: {template: {spec: `+fromEnv+`}}}`)
	require.NoError(t, generated(t, nil, parse(t, passwords), job))
	assert.Empty(t, templateAnnotations(job))
}

func TestObjectsWithoutGeneratedValuesStayAsTheyAre(t *testing.T) {
	web := pods(t, fromEnv)
	before := asJSON(t, web.Object)
	require.NoError(t, generated(t, map[string]string{"db": "7"}, web, parse(t, others), parse(t, aService)))
	assert.Equal(t, before, asJSON(t, web.Object))
}

// As before certificates were no longer made: else the release would be another one.
func TestACertificateIsNamedAfterAllServices(t *testing.T) {
	secret := parse(t, authority)
	require.NoError(t, generated(t, nil, secret, parse(t, aService), parse(t, `{apiVersion: v1, kind: Service, metadata: {name: api}}`)))
	assert.Equal(t, "api,api.demo,api.demo.svc,web,web.demo,web.demo.svc", secret.GetAnnotations()[v1.AnnotationGenerateFor])
}

func TestCertificatesOfASecretThatDoesNotHaveThemAreRefused(t *testing.T) {
	tls := func(asks string) *unstructured.Unstructured {
		return parse(t, `{apiVersion: v1, kind: Secret, metadata: {name: tls, annotations: {app.example.com/generate: "`+asks+`"}}}`)
	}
	cases := map[string]struct {
		asks    string
		filled  map[string][]string
		refused string
	}{
		"it has them":                     {"password=24,ca,tls", map[string][]string{"tls": {"ca.crt", "ca.key", "tls.crt", "tls.key"}}, ""},
		"it asks for fewer":               {"ca:90d", map[string][]string{"tls": {"ca.crt", "ca.key", "tls.crt", "tls.key"}}, ""},
		"it asks for none":                {"password=24", nil, ""},
		"it does not exist":               {"ca,tls", nil, "ca.crt"},
		"it has an authority alone":       {"ca,tls", map[string][]string{"tls": {"ca.crt", "ca.key"}}, "tls.crt"},
		"it has passwords alone":          {"password=24,ca", map[string][]string{"tls": nil}, "ca.crt"},
		"another Secret has certificates": {"ca", map[string][]string{"other": {"ca.crt", "ca.key"}}, "ca.crt"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			secret := tls(tc.asks)
			err := Generated(t.Context(), &Input{Owner: owner(t), Facts: Facts{Certificates: tc.filled}}, []*unstructured.Unstructured{secret})
			if tc.refused == "" {
				require.NoError(t, err)
				return
			}
			var of *ObjectError
			require.ErrorAs(t, err, &of)
			assert.Same(t, secret, of.Object)
			assert.ErrorContains(t, err, `Secret "tls" has a wrong annotation app.example.com/generate: `+tc.refused+
				` is a certificate, and none are made: use cert-manager or an existing Secret`)
		})
	}
}

func TestCertificatesThatARecordedReleaseAsksFor(t *testing.T) {
	objects := []*unstructured.Unstructured{parse(t, passwords), parse(t, authority), parse(t, others)}
	assert.Equal(t, map[string][]string{"tls": {"ca.crt", "ca.key", "tls.crt", "tls.key"}}, CertificatesOf(objects))
}

func TestWrongAnnotationsOfSecretsAreRefused(t *testing.T) {
	cases := map[string]struct{ object, want string }{
		"what cannot be read":    {`{apiVersion: v1, kind: Secret, metadata: {name: db, annotations: {app.example.com/generate: "x"}}}`, `Secret "db" has a wrong annotation app.example.com/generate: "x" is no entry`},
		"another kind":           {`{apiVersion: v1, kind: ConfigMap, metadata: {name: db, annotations: {app.example.com/generate: "x=24"}}}`, "only Secrets are filled"},
		"a key that is rendered": {`{apiVersion: v1, kind: Secret, metadata: {name: db, annotations: {app.example.com/generate: "x=24"}}, data: {x: eA==}}`, "x is in data, too: leave one out"},
		"a key as text":          {`{apiVersion: v1, kind: Secret, metadata: {name: db, annotations: {app.example.com/generate: "x=24"}}, stringData: {x: y}}`, "x is in stringData, too"},
		"one that never changes": {`{apiVersion: v1, kind: Secret, metadata: {name: db, annotations: {app.example.com/generate: "x=24"}}, immutable: true}`, "leave immutable out"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { assert.ErrorContains(t, generated(t, nil, parse(t, tc.object)), tc.want) })
	}
}

func TestRestartsSetTheVersionOfARecordedRelease(t *testing.T) {
	web := pods(t, fromEnv)
	objects := []*unstructured.Unstructured{parse(t, passwords), web}
	require.NoError(t, generated(t, nil, objects...))
	require.NoError(t, Restarts(t.Context(), &Input{Owner: owner(t), Facts: Facts{Generated: map[string]string{"db": "1.1"}}}, objects))
	assert.Equal(t, "db=1.1", templateAnnotations(web)[v1.AnnotationGeneratedVersion])
}
