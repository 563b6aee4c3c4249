package references

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// A chart's own fields need no Go: names say what they refer to, a line in references.yaml does, or what is missing is said.
func TestFieldsOfCharts(t *testing.T) {
	cases := map[string]struct {
		spec, declared string
		want           map[string]string // what fields refer to
		err            string
	}{
		"names as in Kubernetes": {
			spec: `{a: {properties: {secretName: {type: string}}}, b: {type: array, items: {properties: {configMapRef: {properties: {name: {type: string}}}}}},
			  c: {additionalProperties: {properties: {claimName: {type: string}}}}, d: {type: array, items: {properties: {resourceClaimName: {type: string}}}}, tlsSecret: {type: string}, serviceAccount: {type: string}, secret: {type: boolean}}`,
			want: map[string]string{
				"spec.a.secretName": "Secret", "spec.b[].configMapRef.name": "ConfigMap", "spec.c[].claimName": claim, "spec.d[].resourceClaimName": "ResourceClaim", "spec.tlsSecret": "Secret",
				"spec.serviceAccount": "ServiceAccount",
			},
		},
		"a name that does not say it": {
			spec: `{credentials: {type: string}}`, declared: `{Cache: {refers: {spec.credentials: Secret}}}`, want: map[string]string{"spec.credentials": "Secret"},
		},
		"a name that says it wrongly": {spec: `{noSecret: {type: string}}`, declared: `{Cache: {refers: {spec.noSecret: ""}}}`, want: map[string]string{}},
		"a field without a schema": {
			spec: `{extra: {type: object, x-kubernetes-preserve-unknown-fields: true}}`, err: "spec.extra has no schema, so its references are not known",
		},
		"a field without a schema that refers to nothing": {
			spec: `{extra: {type: object, x-kubernetes-preserve-unknown-fields: true}}`, declared: `{Cache: {types: {spec.extra: Opaque}}}`, want: map[string]string{},
		},
		"a field that there is none of": {spec: `{}`, declared: `{Cache: {refers: {spec.b: Secret}}}`, err: "there is no field spec.b"},
		"a kind that nothing is known of": {
			spec: `{b: {type: string}}`, declared: `{Cache: {refers: {spec.b: Lease}}}`, err: "spec.b refers to Lease, which nothing is known of",
		},
		"a misspelled key": {spec: `{}`, declared: `{Cache: {refer: {}}}`, err: `unknown field "refer"`},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			root, crd := t.TempDir(), &apiextensionsv1.CustomResourceDefinition{}
			text := "{spec: {group: app.example.com, names: {kind: Cache, plural: caches}, versions: [{name: v1, storage: true, schema: {openAPIV3Schema: {properties: {spec: {properties: " +
				strings.ReplaceAll(test.spec, "\t", " ") + "}}}}}]}}"
			require.NoError(t, yaml.Unmarshal([]byte(text), crd))
			if test.declared != "" {
				file := filepath.Join(root, File)
				require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
				require.NoError(t, os.WriteFile(file, []byte(test.declared), 0o644))
			}
			fields, err := Of(root, crd)
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Fatalf("got error %v, want %q", err, test.err)
			}
			if err != nil {
				return
			}
			got := map[string]string{}
			for _, field := range fields {
				if got[field.Path] = field.To; test.want[field.Path] != field.To {
					t.Errorf("%s refers to %s", field.Path, field.To)
				}
			}
			if len(got) != len(test.want) {
				t.Errorf("found %v, want %v", got, test.want)
			}
		})
	}
}
